"""The prosecutor by hand."""

from __future__ import annotations

import polars as pl

import shoal


def test_classes_of_two_three_and_five() -> None:
    table = pl.DataFrame({"age": [1] * 2 + [2] * 3 + [3] * 5})
    data = shoal.read(table, quasi=["age"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, "prosecutor:threshold=0.34")
    assert (found.success, found.baseline, found.worst, found.above) == (3 / 10, 1 / 10, 1 / 2, 2 / 10)
    (even,) = shoal.attack(data, release, "prosecutor:threshold=0.2")
    assert even.above == 5 / 10, "a risk of exactly the threshold is not above it"


def test_records_that_are_left_out_run_no_risk() -> None:
    data = shoal.read(pl.DataFrame({"age": [1, 1, 9]}), quasi=["age"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="optimal", suppression=0.4, seed=1)
    (found,) = shoal.attack(data, release, "prosecutor")
    assert (found.success, found.baseline, found.worst) == (1 / 2, 1 / 2, 1 / 2)


def test_two_tables_hide_nobody() -> None:
    table = pl.DataFrame({"age": [1, 2, 3, 4], "disease": list("abab")})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    release = shoal.anonymize(data, shoal.FrequencyLDiversity(l=2), algorithm="anatomy", seed=1)
    assert shoal.attack(data, release, "prosecutor")[0].success == 1.0
