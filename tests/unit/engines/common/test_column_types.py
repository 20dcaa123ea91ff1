"""Columns without dictionaries, and times that every library can hold."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pyarrow as pa
import pytest

from shoal.engines.common.column_types import in_known_zone, plain_values

CODED = pa.array(["a", "secret", "b", None, "a", "b"]).dictionary_encode()
KEYS = pa.array(["k", "l", "m", "n", "o", "p"]).dictionary_encode()
PAIRS = pa.StructArray.from_arrays([CODED, pa.array(range(6))], ["x", "n"])
LISTS = pa.ListArray.from_arrays([0, 2, 4, 6], CODED)
NESTED = {
    "dictionary": CODED,
    "list": LISTS,
    "large list": pa.LargeListArray.from_arrays([0, 2, 4, 6], CODED),
    "fixed-size list": pa.FixedSizeListArray.from_arrays(CODED, 2),
    "list view": pa.ListViewArray.from_arrays([0, 2, 4], [2, 2, 2], CODED),
    "large list view": pa.LargeListViewArray.from_arrays([0, 2, 4], [2, 2, 2], CODED),
    "struct": PAIRS,
    "map": pa.MapArray.from_arrays([0, 2, 4, 6], KEYS, CODED),
    "list of structs": pa.ListArray.from_arrays([0, 2, 4, 6], PAIRS),
    "struct of lists": pa.StructArray.from_arrays([LISTS], ["y"]),
    "map of lists": pa.MapArray.from_arrays([0, 1, 2, 3], KEYS[:3], LISTS),
    "list of lists": pa.ListArray.from_arrays([0, 1, 3], LISTS),
    "no dictionary": pa.array([[1], [2, 3], None]),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.smoke
def test_no_dictionary_is_left_at_any_depth(name: str) -> None:
    array = NESTED[name]
    column = pa.chunked_array([array, array.slice(1)])
    plain = plain_values(column)
    assert plain.to_pylist() == column.to_pylist()
    assert "dictionary" not in str(plain.type)


@pytest.mark.parametrize("name", [name for name in NESTED if name != "no dictionary"])
def test_what_was_left_out_is_gone(name: str) -> None:
    array = NESTED[name]
    kept = [place for place, cell in enumerate(array.to_pylist()) if "secret" not in str(cell)]
    written = pa.BufferOutputStream()
    plain = plain_values(pa.chunked_array([array.take(pa.array(kept))]))
    with pa.ipc.new_file(written, pa.schema([("x", plain.type)])) as file:
        file.write_table(pa.table({"x": plain}))
    assert b"secret" not in written.getvalue().to_pybytes()


def test_extra_properties_of_fields_stay() -> None:
    kind = pa.struct([pa.field("x", CODED.type, nullable=False, metadata={"unit": "m"})])
    field = plain_values(pa.chunked_array([], kind)).type.field(0)
    assert field == pa.field("x", pa.string(), nullable=False) and field.metadata == {b"unit": b"m"}


@pytest.mark.parametrize(
    ("zone", "after"),
    [("+05:30", "UTC"), ("-03:30", "UTC"), ("-08:00", "-08:00"), ("Asia/Kolkata", "Asia/Kolkata"), (None, None)],
)
def test_times_in_zones_that_polars_does_not_know(zone: str | None, after: str | None) -> None:
    moments = [dt.datetime(2020, 1, 1), None, dt.datetime(2021, 2, 2)]
    column = pa.chunked_array([pa.array(moments, pa.timestamp("us", tz=zone))])
    known = in_known_zone(column)
    assert known.type == pa.timestamp("us", tz=after)
    assert known.cast(pa.int64()) == column.cast(pa.int64())
    assert pl.from_arrow(known).len() == 3


def test_other_columns_have_no_zone() -> None:
    column = pa.chunked_array([["+05:30"]])
    assert in_known_zone(column) is column
