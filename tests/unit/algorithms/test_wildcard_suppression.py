"""Hidden cells that may stand for any value: what is promised, what is verified, and what it is worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.wildcards import wildcard_sums
from shoal.errors import ParameterError


def fewest_matches(rows: list[tuple[Any, ...]]) -> int:
    return min(
        sum(all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True)) for other in rows) for one in rows
    )


def opened(rows: list[tuple[Any, ...]], **more: Any) -> shoal.Dataset:
    names = ["a", "b", "c"][: len(rows[0])]
    return shoal.read(pl.DataFrame(rows, schema=names, orient="row"), quasi=names, **more)


ROWS = [("1", "x", "p"), ("2", "x", "p"), ("3", "x", "q"), ("4", "y", "q"), ("5", "y", "q"), ("6", "z", "p")]


@settings(max_examples=count(12, 100), deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from("uvw")] * 3), min_size=4, max_size=12), st.integers(2, 4), st.integers(1, 3)
)
def test_enough_records_match_every_record(rows: list[tuple[str, ...]], k: int, most: int) -> None:
    """The verifier counts what comparing all pairs counts; strict suppression keeps it as well, and hides no less."""
    data, model = opened(rows), shoal.models.WildcardKAnonymity(k=k)
    release = shoal.anonymize(data, model, algorithm=f"cell-suppression:most={most}")
    fewest = fewest_matches(release.frame.rows())
    assert release.verify(release.policy)[0].value == fewest >= k
    facts = release.recoding.facts
    assert facts["cost"] == sum((release.frame[name] == "*").sum() for name in release.frame.columns) >= facts["bound"]
    strict = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="cell-suppression")
    assert strict.verify(release.policy).holds
    assert strict.recoding.facts["cost"] >= facts["bound"]


def test_is_never_taken_for_k_anonymity(tmp_path: Path) -> None:
    release = shoal.anonymize(opened(ROWS), "wildcard-k-anonymity:k=3", algorithm="cell-suppression")
    finding = release.verify(release.policy)[0]
    assert finding.claim == "3-anonymous only if a hidden cell may stand for any value"
    sizes = release.classes.sizes
    assert finding.detail == {"strict k": sizes.min(), "records in smaller classes": sizes[sizes < 3].sum()}
    assert not release.verify(shoal.Policy(models=(shoal.KAnonymity(k=3),))).holds
    release.write(tmp_path / "out.csv")
    stated = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert stated["policy"]["models"] == [{"name": "wildcard-k-anonymity", "k": 3}]
    assert stated["hidden_cells"].startswith("wildcard: a hidden cell may stand for any value; this is not k-anonymity")
    assert shoal.verify(tmp_path / "out.csv").holds


def test_a_changed_file_is_found_out(tmp_path: Path) -> None:
    """One cell shown again, and the count is short."""
    release = shoal.anonymize(opened(ROWS), "wildcard-k-anonymity:k=3", algorithm="cell-suppression")
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text()
    (tmp_path / "out.csv").write_text(text.replace('"*"', '"1"'))
    findings = shoal.verify(tmp_path / "out.csv")
    assert not findings["wildcard-k"].holds and findings["wildcard-k"].value == 1


def test_the_prosecutor_says_what_it_is_worth() -> None:
    data = opened(ROWS)
    release = shoal.anonymize(data, "wildcard-k-anonymity:k=3", algorithm="cell-suppression")
    sizes = release.classes.sizes
    (attempt,) = shoal.attack(data, release, "prosecutor")
    assert attempt.detail == {"k": 3, "share below k": pytest.approx(sizes[sizes < 3].sum() / 6)}
    strict = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm="cell-suppression")
    assert shoal.attack(data, strict, "prosecutor")[0].detail == {}


def test_a_few_blank_records_satisfy_any_table() -> None:
    """Why it is no promise to whoever compares cells: k − 1 records without a value, and everybody else is unique."""
    rows = [("*", "*")] * 3 + [(str(place), str(place)) for place in range(50)]
    assert fewest_matches(rows) == 4


def test_other_algorithms_keep_k_anonymity_for_it() -> None:
    release = shoal.anonymize(opened(ROWS), "wildcard-k-anonymity:k=3", algorithm="mondrian")
    assert release.classes.sizes.min() >= 3 and release.verify(release.policy).holds


def test_strata_and_links_hold_with_wildcards() -> None:
    release = shoal.anonymize(
        opened(ROWS[:5]), "wildcard-k-anonymity:k=2", algorithm="cell-suppression:strata=b,linked=a=c"
    )
    frame = release.frame
    assert "*" not in frame["b"].to_list()
    assert all(row["c"] == "*" for row in frame.iter_rows(named=True) if row["a"] == "*")


@pytest.mark.parametrize(
    ("rows", "spelled", "message"),
    [
        (ROWS, "cell-suppression:exact=true", "exact: .*wildcards"),
        ([("*", "x"), ("1", "x")], "cell-suppression", r"reads '\*', and column 'a' has that"),
    ],
)
def test_refuses(rows: list[tuple[str, ...]], spelled: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        shoal.anonymize(opened(rows), "wildcard-k-anonymity:k=2", algorithm=spelled)


def test_one_by_one_or_set_by_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to count say the same."""
    generator = np.random.default_rng(3)
    keys = np.unique(generator.integers(0, 3, (4, 60)).astype(np.int32), axis=1)
    amounts = [generator.integers(1, 9, keys.shape[1])]
    sums = []
    for weight in (0.0, 1e12):
        monkeypatch.setattr("shoal.core.wildcards.ONE_BY_ONE", weight)
        sums.append(wildcard_sums(keys, keys == 2, amounts, 0.5)[0])
    assert np.allclose(*sums)


def test_wildcards_count_where_households_are_named():
    table = pl.DataFrame({"age": [30, 31, 40, 41], "sex": list("ffmm"), "home": list("abcd")})
    data = shoal.read(table, quasi=["age", "sex"], household="home")
    release = shoal.anonymize(data, "wildcard-k-anonymity:k=2", algorithm="cell-suppression", seed=1)
    assert release.verify(release.policy).holds and (release.frame["age"] == "*").sum() > 0
