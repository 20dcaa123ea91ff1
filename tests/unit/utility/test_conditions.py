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
