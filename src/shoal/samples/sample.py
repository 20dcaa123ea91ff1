"""A sample table: a function of its parameters that gives a frame of polars or a table of Arrow, or writes it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import update_wrapper
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Generic, ParamSpec

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from shoal.core.forks import import_polars

if TYPE_CHECKING:
    import polars as pl

Parameters = ParamSpec("Parameters")
TEXTS = {name: pa.string() for name in ("zip", "roll")}
"""Columns of digits that are texts."""


class SampleTable(Generic[Parameters]):
    """A table that ships with Shoal. Called, it gives a frame of polars; `arrow` and `write_csv` do without polars."""

    def __init__(self, make: Callable[Parameters, pa.Table]) -> None:
        self._make = make
        update_wrapper(self, make)

    def __call__(self, *arguments: Parameters.args, **options: Parameters.kwargs) -> pl.DataFrame:
        polars = import_polars("a sample table as a frame")
        frame: pl.DataFrame = polars.from_arrow(self._make(*arguments, **options))
        return frame

    def arrow(self, *arguments: Parameters.args, **options: Parameters.kwargs) -> pa.Table:
        """The same as a table of Arrow."""
        return self._make(*arguments, **options)

    def write_csv(self, path: Path, *arguments: Parameters.args, **options: Parameters.kwargs) -> int:
        """Writes the table as CSV; how many records it has."""
        table = self._make(*arguments, **options)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table.column_names)
            writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return int(table.num_rows)


def stored(name: str) -> pa.Table:
    """A table that is kept as a file."""
    content = (resources.files(__package__) / "tables" / name).read_bytes()
    if name.endswith(".parquet"):
        return parquet.read_table(io.BytesIO(content))
    options = arrow_csv.ConvertOptions(column_types=TEXTS, strings_can_be_null=True, null_values=[""])
    return arrow_csv.read_csv(io.BytesIO(content), convert_options=options)
