"""What the embedded engine publishes: an Arrow table, and the files made from it."""

from __future__ import annotations

import csv as standard_csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from shoal.core.classes import Classes, summarize
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.engines.embedded import source
from shoal.engines.embedded.csv import Dialect
from shoal.engines.embedded.encoding import MISSING, encode
from shoal.errors import InputError, OutputError, unknown_columns


@dataclass(frozen=True, eq=False)
class EmbeddedPublished:
    """A published table. `native` is the frame type to give back, `dialect` how a CSV was written."""

    table: pa.Table
    native: str | None = None
    dialect: Dialect | None = None

    @property
    def records(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def _encoded(self) -> dict[str, tuple[Codes, list[str | None]]]:
        return {}

    def _column(self, name: str) -> tuple[Codes, list[str | None]]:
        """A column as positions in the list of its distinct published texts."""
        if name not in self._encoded:
            if name not in self.table.column_names:
                raise unknown_columns([name], self.table.column_names)
            encoded = encode(name, self.table[name], None)
            labels: list[str | None] = encoded.values.texts.tolist()
            codes = encoded.codes
            if encoded.has_missing:
                codes = np.where(codes == MISSING, np.int32(len(labels)), codes)
                labels = [*labels, None]
            self._encoded[name] = (codes, labels)
        return self._encoded[name]

    def labels(self, name: str) -> Sequence[str | None]:
        return self._column(name)[1]

    def group(self, attributes: Sequence[str], sensitive: Sequence[tuple[str, Hierarchy | None]]) -> Classes:
        keys = [self._column(name) for name in attributes]
        columns = []
        for name, hierarchy in sensitive:
            codes, labels = self._column(name)
            size = len(labels)
            if hierarchy is not None:
                leaves = [hierarchy.leaf_of.get(label, MISSING) for label in labels]
                if MISSING in leaves:
                    raise InputError(f"sensitive column {name!r} of the release has values that the table lacks")
                codes, size = np.array(leaves, dtype=np.int32)[codes], hierarchy.size
            columns.append((name, codes, size, hierarchy))
        return summarize(attributes, [codes for codes, _ in keys], [len(labels) for _, labels in keys], columns)

    def frame(self) -> Any:
        """pandas, polars or Arrow, as it came in; polars for what came from a file."""
        decoded = self.decoded()
        if self.native == "pyarrow":
            return decoded
        import narwhals as nw

        return nw.from_arrow(decoded, backend=self.native or "polars").to_native()

    def decoded(self) -> pa.Table:
        """The table with every dictionary resolved into plain values."""
        columns = {}
        for name in self.table.column_names:
            column = self.table[name]
            columns[name] = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        return pa.table(columns)

    def write(self, path: Path) -> None:
        name = path.name
        suffixes = Path(name.removesuffix(".gz").removesuffix(".zst")).suffix
        try:
            if suffixes in source.PARQUET:
                pa.parquet.write_table(self.decoded(), path, compression="zstd")
            elif suffixes in source.ARROW:
                pa.feather.write_feather(self.decoded(), path, compression="zstd")
            elif suffixes in (".csv", ".tsv", ".txt"):
                self._write_csv(path)
            else:
                raise OutputError(f"{name}: the format is not known by this ending; use .csv, .parquet or .arrow")
        except (OSError, pa.ArrowException) as error:
            raise OutputError(f"{name}: could not be written ({type(error).__name__})") from None

    def _write_csv(self, path: Path) -> None:
        delimiter = "\t" if ".tsv" in path.suffixes else self.dialect.delimiter if self.dialect else ","
        compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
        with pa.output_stream(str(path), compression=compression) as stream:
            header = _quoted(self.table.column_names, delimiter)
            stream.write((header + "\n").encode())
            pa.csv.write_csv(
                self.decoded(), stream,
                pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed"),
            )  # fmt: skip


def _quoted(names: Sequence[str], delimiter: str) -> str:
    import io

    line = io.StringIO()
    standard_csv.writer(line, delimiter=delimiter, lineterminator="").writerow(names)
    return line.getvalue()


def open_published(path: Path, *, delimiter: str | None = None) -> EmbeddedPublished:
    """A release file, as it was published."""
    opened = source.open_file(path, delimiter=delimiter)
    return EmbeddedPublished(pa.table(opened.load(opened.names)), None, opened.dialect)
