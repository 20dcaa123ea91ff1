"""Conditions on a column, in every spelling in which the cells of a table or a release have a value."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.utility.conditions import Condition


@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ("2021-03-28..2021-03-30", 2),
        ("2021-03-28 00:00:00..2021-03-28 12:00:00", 0.5),
        ("in 2021-03-28 06:00 .. 2021-03-28T12:00", 0.25),
    ],
)
def test_ends_of_a_range_may_have_a_time(asked: str, days: float) -> None:
    found = Condition.parsed("day", asked)
    assert float(found.high) - float(found.low) == days  # type: ignore[arg-type]


def test_a_range_of_moments_counts_what_lies_in_it() -> None:
    moments = [f"2021-03-28 0{hour}:30:00" for hour in range(6)]
    data = shoal.read(pl.DataFrame({"at": moments}), quasi=["at"])
    assert shoal.query(data, where={"at": "2021-03-28 01:30:00..2021-03-28 03:30:00"}).value == 3


@pytest.mark.parametrize("asked", ["03:04:05", "03:04:05.000", "03:04:05.000000"])
@pytest.mark.parametrize("kind", [pa.time64("us"), pa.time32("ms"), pa.string()])
def test_a_time_of_day_is_found_however_its_second_is_written(asked: str, kind: pa.DataType) -> None:
    """A CSV file shows 03:04:05.000000 where the column has microseconds, and a recipient asks for what it shows."""
    times: list[Any] = [dt.time(3, 4, 5), dt.time(3, 4, 5), dt.time(1, 2), None]
    values = [None if time is None else str(time) for time in times] if kind == pa.string() else times
    data = shoal.read(pa.table({"at": pa.array(values, kind), "sex": list("ffff")}), quasi=["sex"], sensitive=["at"])
    release = shoal.anonymize(data, "k-anonymity:k=2", seed=1)
    for source in (data, release):
        assert [shoal.query(source, where={"at": each}).value for each in (f"= {asked}", [asked])] == [2, 2]
    assert shoal.query(release, where={"at": f"!= {asked}"}).value == 1


def _column(values: list[Any], **said: Any) -> tuple[shoal.Dataset, shoal.Release]:
    """A table with such a sensitive column, and a release of it."""
    data = shoal.read(pl.DataFrame({"x": values, "sex": ["f"] * len(values)}), quasi=["sex"], sensitive=["x"], **said)
    return data, shoal.anonymize(data, "k-anonymity:k=2", seed=1)


@pytest.mark.parametrize("asked", ["= 007", ["007"], "!= 007"])
def test_codes_with_other_leading_zeros_are_other_values(asked: Any) -> None:
    for source in _column(["7", "007", "007", "0007", "07"]):
        assert shoal.query(source, where={"x": asked}).value == (3 if asked == "!= 007" else 2)
        assert shoal.query(source, where={"x": "<= 7"}).value == 5


def test_codes_of_a_plain_column_are_other_values_too() -> None:
    data = shoal.read(pl.DataFrame({"x": ["7", "007", "7.0"], "sex": list("fff")}), quasi=["sex"])
    release = shoal.anonymize(data, "k-anonymity:k=2", seed=1)
    assert [shoal.query(release, where={"x": each}).value for each in ("= 007", "= 7", "= 07")] == [1, 2, 0]


def test_numbers_that_are_said_to_be_texts_are_texts() -> None:
    for source in _column(["250.0", "250.00", "250.00"], kinds={"x": "text"}):
        assert [shoal.query(source, where={"x": each}).value for each in ("250.0", "250.00", "250")] == [1, 2, 0]


def test_codes_of_multisets_are_other_values() -> None:
    table = pl.DataFrame({"x": ["7", "007", "007", "07"], "sex": list("fffm")})
    data = shoal.read(table, quasi=["x", "sex"])
    release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="multiset", seed=1)
    assert shoal.query(release, where={"x": "= 7"}).high == 1


def test_in_a_column_of_numbers_zeros_do_not_count() -> None:
    for source in _column(["7", "007", "8"], kinds={"x": "numeric"}):
        assert [shoal.query(source, where={"x": each}).value for each in ("= 007", "7.0", 7.0)] == [2, 2, 2]


@pytest.mark.parametrize("value", [2.0, 2.5, dt.datetime(2020, 1, 2, 3, 4), dt.date(2020, 1, 2), True])
def test_a_value_of_python_is_found_in_a_column_of_texts(value: Any) -> None:
    for source in _column([value, value], kinds={"x": "text"}):
        assert [shoal.query(source, where={"x": each}).value for each in (value, [value])] == [2, 2]


@pytest.mark.parametrize("comparison", ["<= {}", ">= {}", "= {}", "{0}..{0}"])
@pytest.mark.parametrize(
    "moments",
    [
        ["2020-01-01T00:00:00+05:30", "2019-12-31T18:30:00Z", "2019-12-31T19:30:00+01:00"],
        # Midnights of one clock, which are published as days.
        ["2020-01-01T00:00:00+05:30", "2020-01-01T00:00:00+05:30", "2020-01-01T00:00+05:30"],
    ],
)
def test_a_moment_is_found_by_the_clock_that_the_table_has(moments: list[str], comparison: str) -> None:
    for source in _column(moments):
        for asked in moments:
            assert shoal.query(source, where={"x": comparison.format(asked)}).value == 3
        assert shoal.query(source, where={"x": f"< {moments[0]}"}).value == 0


def test_nanoseconds_count() -> None:
    moments = [f"2020-01-01T10:00:00.00000000{last}" for last in range(5)]
    for source in _column(moments):
        found = [shoal.query(source, where={"x": f"{sign} {moments[2]}"}).value for sign in ("<", "<=", "=", ">")]
        assert found == [2, 3, 1, 2]
