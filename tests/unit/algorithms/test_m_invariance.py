"""Counterfeits of every type: values of an earlier release that the table does not have any more."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from counts import LONG

import shoal
from shoal.errors import SchemaError

BERLIN = pa.timestamp("s", "Europe/Berlin")
VALUES: dict[str, tuple[list[Any], pa.DataType]] = {
    "texts": (["flu", "hiv"], pa.string()),
    "numbers as text": (["1", "2.50"], pa.string()),
    "dates as text": (["2020-01-01", "2021-05-05"], pa.string()),
    "moments as text": (["2021-10-31T02:30:00+02:00", "2021-10-30T02:30:00+02:00"], pa.string()),
    "days first": (["31/12/1999", "13/05/1984"], pa.string()),
    "dates": ([dt.date(2020, 1, 1), dt.date(2021, 5, 5)], pa.date32()),
    "moments": ([dt.datetime(2020, 1, 1, 1), dt.datetime(2021, 5, 5)], pa.timestamp("us")),
    "moments of a zone": ([dt.datetime(2021, 10, 31, 0, 30), dt.datetime(2021, 10, 31, 1, 30)], BERLIN),
    "midnights of a zone": ([dt.datetime(2021, 5, 4, 22), dt.datetime(2021, 12, 4, 23)], BERLIN),
    "times": ([dt.time(1, 2), dt.time(3, 4, 5, 6)], pa.time64("us")),
    "spans": ([dt.timedelta(days=1), dt.timedelta(seconds=5)], pa.duration("us")),
    "floats": ([1.5, 2.25], pa.float64()),
    "decimals": ([Decimal("1.50"), Decimal("2.25")], pa.decimal128(10, 2)),
    "truths": ([True, False], pa.bool_()),
}


ENGINES = ("embedded", "duckdb")


def of_every_type(first: int) -> pytest.MarkDecorator:
    """Each type of values on one engine: every day a third of them on DuckDB, in another test another third."""
    pairs = [(kind, each) for kind in VALUES for each in ENGINES]
    in_turns = [(kind, ENGINES[(place + first) % 3 == 0]) for place, kind in enumerate(VALUES)]
    return pytest.mark.parametrize(("kind", "engine"), pairs if LONG else in_turns)


def read(kind: str, rows: list[int], **more: Any) -> shoal.Dataset:
    values, given = VALUES[kind]
    table = pa.table(
        {
            "name": [f"person {row}" for row in rows],
            "age": ["30"] * len(rows),
            "value": pa.array([values[row] for row in rows], given),
        }
    )
    return shoal.read(table, quasi=["age"], sensitive=["value"], identifiers=["name"], **more)


def publish(data: shoal.Dataset, ledger: Path) -> shoal.Release:
    model = shoal.FrequencyLDiversity(l=2)
    return shoal.anonymize(data, model, algorithm="m-invariance", suppression=0.5, seed=1, ledger=ledger)


@of_every_type(0)
def test_the_counterfeit_of_somebody_who_left_is_the_value_that_was_published(
    kind: str, engine: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "people.ledger"
    first, second = (publish(read(kind, rows, engine=engine), ledger) for rows in ([0, 1], [0]))
    shown = [set(map(str, release.frames["sensitive"]["value"].to_pylist())) for release in (first, second)]
    assert shown[0] == shown[1] and len(shown[1]) == 2 and second.provenance["counterfeits"] == 1
    second.write(tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv").holds
    assert json.loads((tmp_path / "release.csv.manifest.json").read_text())["counterfeits"] == 1


@of_every_type(1)
def test_somebody_who_left_may_have_had_no_value(kind: str, engine: str, tmp_path: Path) -> None:
    """One with a missing value and one with a value leave: a counterfeit for each."""
    values, given = VALUES[kind]
    releases = []
    for names in (["ann", "bob", "cem"], ["ann"]):
        held = pa.array([*values, None][: len(names)], given)
        table = pa.table({"name": names, "age": ["30"] * len(names), "value": held})
        data = shoal.read(table, quasi=["age"], sensitive=["value"], identifiers=["name"], engine=engine)
        releases.append(publish(data, tmp_path / "people.ledger"))
    first, second = (release.frames["sensitive"]["value"].to_pylist() for release in releases)
    assert set(map(str, first)) == set(map(str, second)) and len(second) == 3 and None in second
    assert releases[1].provenance["counterfeits"] == 2


def test_values_of_another_kind_are_refused_without_showing_them(tmp_path: Path) -> None:
    ledger = tmp_path / "people.ledger"
    for values in (["quetzal", "7"], ["7"]):
        table = pa.table({"name": [*"ab"[-len(values) :]], "age": ["30"] * len(values), "value": values})
        data = shoal.read(table, quasi=["age"], sensitive=["value"], identifiers=["name"])
        if len(values) == 2:
            publish(data, ledger)
    with pytest.raises(SchemaError, match="'value' has numbers, and 1 value of earlier releases is none") as refused:
        publish(data, ledger)
    assert "quetzal" not in str(refused.value) and refused.value.__cause__ is None
