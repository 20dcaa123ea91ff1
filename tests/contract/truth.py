"""Checks of what a release says against the table that it was made from, read as a person would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import shoal


def untrue_cells(
    release: shoal.Release, table: pl.DataFrame, data: shoal.Dataset, *, row: str = "row"
) -> Iterator[str]:
    """The columns of the cells that do not cover the true value of the record that its plain row number names."""
    truth = {record[row]: record for record in table.iter_rows(named=True)}
    for shown in release.frame.iter_rows(named=True):
        true = truth[shown[row]]
        for column, value in shown.items():
            if column in data.schema.quasi:
                if not covers(value, true[column], data.schema[column].hierarchy):
                    yield column
            elif column in true and value != true[column]:
                yield column


def covers(shown: Any, true: Any, hierarchy: shoal.Hierarchy) -> bool:
    """Whether a published value stands for a true one."""
    if shown == true or shown == "*" or str(shown) == str(true):
        return True
    if hierarchy.ordered and re.fullmatch(r"[\d.]+", str(shown)):
        return true is not None  # a mean, which is checked apart
    interval = re.fullmatch(r"\[(\d+)-(\d+)([\])])", str(shown))
    if interval and true is not None:
        low, high = int(interval[1]), int(interval[2])
        return low <= true <= high if interval[3] == "]" else low <= true < high
    if str(shown).startswith("{") and re.search(r":\d+}$", str(shown)):
        entries = re.findall(r"(?:^{|,)([^:]*):(\d+)", str(shown))
        return ("" if true is None else str(true)) in dict(entries)
    leaf = hierarchy.leaf(None if true is None else str(true))
    levels = range(hierarchy.height + 1)
    return any(hierarchy.labels[level][hierarchy.codes[level, leaf]] == shown for level in levels)


def held_values(tables: Sequence[pa.Table]) -> set[Any]:
    """Every value that the columns of tables hold, also those that stand in a dictionary and in no row."""
    found: set[Any] = set()
    for table in tables:
        for column in table.columns:
            for chunk in column.chunks:
                values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
                found.update(value for value in values.to_pylist() if value is not None)
    return found


def tables_of(release: shoal.Release, folder: Path) -> list[pa.Table]:
    """The main table as an Arrow frame, an Arrow file and a Parquet file hold it."""
    release.write(folder / "held.arrow")
    release.write(folder / "held.parquet")
    frame = release.frame
    return [
        frame if isinstance(frame, pa.Table) else frame.to_arrow(),
        pa.feather.read_table(folder / "held.arrow"),
        pa.parquet.read_table(folder / "held.parquet"),
    ]
