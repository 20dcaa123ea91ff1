"""Surveys need nothing but what `pip install shoal` brings; scipy comes with the extra `exact`."""

from __future__ import annotations

import sys

import polars as pl
import pytest

import shoal
from shoal.errors import MissingExtraError

SURVEY = pl.DataFrame(
    {
        "home": [row // 3 for row in range(36)],
        "age": [20 + row % 7 for row in range(36)],
        "town": ["abcdef"[row // 6] for row in range(36)],
        "weight": [10.0 + row % 4 for row in range(36)],
    }
)


@pytest.fixture(autouse=True)
def no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)


def test_weights_and_households_are_diagnosed_published_and_attacked() -> None:
    data = shoal.read(SURVEY, quasi=["age", "town"], household="home", weight="weight")
    assert 0 < shoal.diagnose(data)["highest-individual-risk"].value < 1
    release = shoal.anonymize(data, "k-households:k=2", algorithm="mondrian", seed=1, publish_weights="means")
    assert release.verify(release.policy).holds
    assert shoal.attack(data, release, "individual-risk", "household-linkage")[0].success > 0


def test_what_needs_it_says_so() -> None:
    lacking = SURVEY.drop("home").with_columns(age=pl.when(pl.col("age") == 22).then(None).otherwise("age"))
    data = shoal.read(lacking, quasi=["age", "town"], weight="weight")
    release = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
    with pytest.raises(MissingExtraError, match=r"shoal\[exact\]"):
        shoal.attack(data, release, "individual-risk:counting=wildcard,alpha=0.5")
