"""Household linkage against by-hand figures."""

from __future__ import annotations

import polars
import pytest

import shoal
from shoal.errors import NotDefined

ROWS = {"age": [20, 20, 30, 30, 20, 30], "home": [1, 1, 2, 2, 3, 3]}


def test_without_households_in_the_release_each_member_is_a_chance():
    data = shoal.read(polars.DataFrame(ROWS), quasi=["age"], household="home")
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal")
    (attempt,) = shoal.attack(data, release, "household-linkage")
    assert attempt.success == pytest.approx(1 - (2 / 3) ** 2) and attempt.worst == pytest.approx(1 - (2 / 3) ** 2)
    assert attempt.baseline == pytest.approx(1 - (5 / 6) ** 2)
    assert attempt.detail["households"] == 3 and attempt.detail["unique"] == 3
    assert attempt.detail["expected_reidentifications"] == pytest.approx(2)
    assert attempt.detail["household_reidentifications"] == pytest.approx(6 * (1 - (2 / 3) ** 2))


def test_of_a_file_the_table_tells_who_is_where(tmp_path):
    data = shoal.read(polars.DataFrame(ROWS), quasi=["age"], household="home")
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal")
    release.write(tmp_path / "out.csv")
    assert shoal.attack(data, tmp_path / "out.csv", "household-linkage") == shoal.attack(
        data, release, "household-linkage"
    )


def test_pseudonyms_of_households_single_them_out():
    data = shoal.read(polars.DataFrame(ROWS), quasi=["age"], household="home")
    pseudonyms = shoal.Pseudonyms(key=b"k" * 32)
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", pseudonyms=pseudonyms)
    (attempt,) = shoal.attack(data, release, "household-linkage")
    assert attempt.worst == 1.0 and attempt.success == 1.0 and "one household" in attempt.knew


def test_without_a_household_column_it_says_why_not():
    data = shoal.read(polars.DataFrame(ROWS), quasi=["age"])
    release = shoal.anonymize(data, "k-anonymity:k=3", algorithm="optimal", allow_plain=["home"])
    with pytest.raises(NotDefined, match="--household"):
        shoal.attack(data, release, "household-linkage")
