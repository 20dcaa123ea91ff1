"""The loss measures by hand, on releases of every kind: full-domain, local, and a file that nobody knows more about."""

from __future__ import annotations

from math import log2
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.utility.objective import even, loss_terms

TREE = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]
SEX = [("f", "*"), ("m", "*")]


@pytest.fixture
def data() -> shoal.Dataset:
    """Eight records; `letter` has four values, `sex` two."""
    table = pl.DataFrame({"letter": list("aaabbccd"), "sex": list("ffmffmmf")})
    hierarchies = {
        "letter": shoal.Hierarchy.from_paths("letter", TREE),
        "sex": shoal.Hierarchy.from_paths("sex", SEX),
    }
    return shoal.read(table, quasi=["letter", "sex"], hierarchies=hierarchies)


def fixed(data: shoal.Dataset, letter: int, sex: int, k: int, suppression: float = 1.0) -> shoal.Release:
    """A full-domain release at given levels."""
    levels = {"letter": letter, "sex": sex}
    search = shoal.algorithms.Optimal(least_levels=levels, greatest_levels=levels)
    return shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm=search, suppression=suppression)


@pytest.mark.smoke
def test_by_hand(data: shoal.Dataset) -> None:
    """letter at level 1, k = 2: classes (ab, f) 4, (ab, m) 1, (cd, m) 2, (cd, f) 1; two records are left out."""
    release = fixed(data, 1, 0, 2)
    assert release.suppressed == 2 and sorted(release.classes.sizes) == [2, 4]
    letter, sex = (6 * 0.5 + 2 - 2) / (8 - 2), (6 * 0.5 + 2 - 4) / (8 - 4)
    expected = {
        "loss": ((1 + letter) * (1 + sex)) ** 0.5 - 1,
        "loss-arithmetic": (letter + sex) / 2,
        "precision": (6 * 0.5 + 2 + 2) / 16,
        "height": 1,
        "gcp": (6 * 0.5 + 2 + 2) / 16,
        "dm": 16 + 4 + 8 * 2,
        "dm-all": 16 + 1 + 4 + 1,
        "aecs": 8 / 3,
        # ab: 3 × log2(5/3) + 2 × log2(5/2), cd: 2 × log2(3/2) + log2(3); left out: ab and cd, f and m, a bit each.
        "entropy": 3 * log2(5 / 3) + 2 * log2(5 / 2) + 2 * log2(3 / 2) + log2(3) + 2 + 2,
    }
    for name, value in expected.items():
        assert shoal.registry.make("metrics", name, {}).score(data, release).value == pytest.approx(value), name


def test_the_raw_table_loses_nothing(data: shoal.Dataset) -> None:
    release = shoal.anonymize(data, shoal.KAnonymity(k=1), algorithm="optimal")
    for name in ("loss", "loss-arithmetic", "precision", "height", "gcp", "entropy"):
        assert shoal.registry.make("metrics", name, {}).score(data, release).value == 0, name


def test_everything_at_the_top_loses_everything(data: shoal.Dataset) -> None:
    release = fixed(data, 2, 1, 8, suppression=0.0)
    for name in ("loss", "loss-arithmetic", "precision", "gcp"):
        assert shoal.registry.make("metrics", name, {}).score(data, release).value == pytest.approx(1), name
    whole = sum(count * log2(8 / count) for count in (3, 2, 2, 1, 5, 3))
    assert shoal.metrics.Entropy().score(data, release).value == pytest.approx(whole)


@pytest.mark.parametrize("name", ["loss", "loss-arithmetic", "precision", "height", "gcp", "dm", "aecs"])
@pytest.mark.smoke
def test_a_file_scores_as_the_release_it_was(name: str, data: shoal.Dataset, tmp_path: Path) -> None:
    """Nothing of these needs to know how a release came about."""
    release = fixed(data, 1, 0, 2)
    release.write(tmp_path / "release.csv")
    (tmp_path / "release.csv.manifest.json").unlink()
    known, unknown = (shoal.evaluate(data, given, name)[name].value for given in (release, tmp_path / "release.csv"))
    assert unknown == pytest.approx(known)


def test_entropy_of_a_local_recoding(data: shoal.Dataset, tmp_path: Path) -> None:
    """A published range costs the entropy of the table's values in it; without suppression a full-domain release
    costs the same whether its levels are known or not."""
    release = fixed(data, 1, 0, 1)
    release.write(tmp_path / "release.csv")
    assert release.suppressed == 0
    known, unknown = (
        shoal.evaluate(data, given, "entropy")["entropy"].value for given in (release, tmp_path / "release.csv")
    )
    assert known == pytest.approx(3 * log2(5 / 3) + 2 * log2(5 / 2) + 2 * log2(3 / 2) + log2(3))
    assert unknown == pytest.approx(known)


def test_measures_of_a_mondrian_release_are_in_range() -> None:
    data = shoal.read(
        shoal.samples.adult().head(500), quasi=["age", "sex", "race", "education"], identifiers=["education-num"],
        hierarchies=shoal.samples.hierarchies("adult"),
    )  # fmt: skip
    local = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian")
    full = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="optimal")
    for name in ("loss", "loss-arithmetic", "precision", "gcp", "entropy", "height"):
        metric = shoal.registry.make("metrics", name, {})
        assert 0 < metric.score(data, local).value < metric.score(data, full).value, name


def test_an_attribute_with_one_value_cannot_lose() -> None:
    data = shoal.read(pl.DataFrame({"same": ["x"] * 4, "age": [1, 1, 2, 3]}), quasi=["same", "age"])
    terms = loss_terms(data.summary, even(2))
    assert terms.spans[0] == 0
    assert terms.each(np.array([4.0, 4.0])).tolist() == [0, 1]
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="optimal")
    assert shoal.metrics.LossArithmetic().score(data, release).value == pytest.approx(0.5)
