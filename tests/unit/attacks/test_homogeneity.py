"""Homogeneity by hand."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined


def eight() -> shoal.Dataset:
    """The eight patients whose two classes of four have the diseases 2, 2 and 2, 1, 1."""
    table = shoal.samples.patients_eight()
    return shoal.read(table, quasi=["age", "gender", "zip"], sensitive=["disease"], kinds={"zip": "categorical"})


def test_two_classes_of_four_give_nothing_more_than_the_mode() -> None:
    data = eight()
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, "homogeneity")
    assert (found.success, found.baseline, found.worst, found.above) == (0.5, 0.5, 0.5, 0.0)


def test_a_class_of_one_value_is_certain() -> None:
    table = pl.DataFrame({"age": [1, 1, 1, 2, 2], "disease": ["flu", "flu", "flu", "hiv", "flu"]})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, "homogeneity")
    assert (found.success, found.baseline, found.worst, found.above) == (4 / 5, 4 / 5, 1.0, 3 / 5)
    (strict,) = shoal.attack(data, release, "homogeneity:threshold=1")
    assert strict.above == 0.0, "above means above"
    (low,) = shoal.attack(data, release, "homogeneity:threshold=0.4")
    assert low.above == 1.0


def test_the_attribute_that_gives_most_away_counts() -> None:
    table = pl.DataFrame({"age": [1, 1, 2, 2], "a": list("xyxy"), "b": list("ppqq")})
    data = shoal.read(table, quasi=["age"], sensitive=["a", "b"])
    (found,) = shoal.attack(
        data, shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1), "homogeneity"
    )
    assert (found.success, found.baseline) == (1.0, 0.5)


def test_records_that_are_left_out_count_in_the_baseline_only() -> None:
    """The attacker without a release guesses by the whole table."""
    table = pl.DataFrame({"age": [1, 1, 9], "disease": ["flu", "hiv", "hiv"]})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="optimal", suppression=0.4, seed=1)
    assert release.suppressed == 1
    (found,) = shoal.attack(data, release, "homogeneity")
    assert (found.success, found.baseline) == (0.5, 2 / 3)


def test_nothing_sensitive_is_said_to_be_the_reason() -> None:
    data = shoal.read(pl.DataFrame({"age": [1, 1]}), quasi=["age"])
    with pytest.raises(NotDefined, match="no sensitive attribute"):
        shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian"), "homogeneity")
