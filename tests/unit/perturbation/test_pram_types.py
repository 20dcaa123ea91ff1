"""What PRAM puts in the place of a value is a value of the column, of the type that it came with, on every engine."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from counts import long_on_spark

import shoal

KINDS = {
    "whole numbers": (pa.int16(), [1, 2, 3]),
    "numbers": (pa.float64(), [1.7e308, 1e-300, 0.5]),
    "truth": (pa.bool_(), [True, False, None]),
    "days": (pa.date32(), [date(2020, 1, 1), date(2021, 5, 7), date(1999, 12, 31)]),
    "texts": (pa.large_string(), ["a", "b", None]),
    "categories": (pa.dictionary(pa.int32(), pa.string()), ["x", "y", "z"]),
}


def changed(kind: str, engine: str) -> Any:
    of, values = KINDS[kind]
    table = pa.table({"code": pa.array(values * 10, of), "row": [f"r{place}" for place in range(30)]})
    data = shoal.read(table, quasi=["code"], kinds={"code": "categorical"}, engine=engine)
    return shoal.anonymize(data, algorithm="pram:keep=0.5", seed=2**41, repeatable=True, allow_plain=["row"]).frame


@pytest.mark.parametrize("kind", KINDS)
def test_values_keep_their_type(kind: str) -> None:
    of, values = KINDS[kind]
    here, there = changed(kind, "embedded"), changed(kind, "duckdb")
    assert here.to_pydict() == there.to_pydict()
    assert {here.schema.field("code").type, there.schema.field("code").type} == {of}
    assert set(here["code"].to_pylist()) == set(values)


def test_on_spark(spark: Any) -> None:
    long_on_spark("spark")
    assert changed("whole numbers", "spark").to_pydict() == changed("whole numbers", "embedded").to_pydict()
