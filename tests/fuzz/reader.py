"""Reads what was published as a recipient does: with the standard library and Arrow, and nothing of Shoal."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import hashlib
import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

LONGEST = 1 << 30
"""Characters of a cell that are read."""


@dataclass(frozen=True)
class Sheet:
    """A published table: its columns, its rows, and the types where the format has any."""

    names: list[str]
    rows: list[tuple[Any, ...]]
    types: dict[str, pa.DataType]

    def column(self, name: str) -> list[Any]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]


def read(path: Path, delimiter: str) -> Sheet:
    if path.suffix in (".parquet", ".arrow"):
        table = arrow_table(path)
        columns = [_cells(table[name]) for name in table.column_names]
        types = {field.name: _plain(field.type) for field in table.schema}
        return Sheet(table.column_names, list(zip(*columns, strict=True)), types)
    text = content(path).decode()
    delimiter = "\t" if ".tsv" in path.suffixes else delimiter
    usual = csv.field_size_limit(LONGEST)
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    finally:
        csv.field_size_limit(usual)
    lengths = {len(row) for row in rows}
    assert lengths <= {len(header)}, "rows of a CSV file have other lengths than its header"
    return Sheet(header, [tuple(cell if cell else None for cell in row) for row in rows], {})


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """The cells of a column, moments by the clock of UTC. To Python, two moments of one zone are equal when its clocks
    show the same, also where they were put back in between."""
    kind = column.type
    moments = pa.types.is_timestamp(kind) and kind.tz is not None
    cells: list[Any] = (column.cast(pa.timestamp(kind.unit, "UTC")) if moments else column).to_pylist()
    return cells


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def arrow_table(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path)
    return pa.feather.read_table(path, memory_map=False)


def content(path: Path) -> bytes:
    """The bytes of a file, decompressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def everything(path: Path) -> bytes:
    """All that a file holds, also beside its cells: metadata, statistics, dictionaries and what buffers still have."""
    data = content(path)
    if path.suffix == ".parquet":
        file = pa.parquet.ParquetFile(path)
        data += repr(file.schema_arrow.metadata).encode() + repr(file.metadata.metadata).encode()
        for group in range(file.metadata.num_row_groups):
            for place in range(file.metadata.num_columns):
                found = file.metadata.row_group(group).column(place).statistics
                if found is not None and found.has_min_max:
                    data += str(found.min).encode() + b"\n" + str(found.max).encode() + b"\n"
        data += b"".join(_buffers(pa.parquet.read_table(path, read_dictionary=file.schema_arrow.names)))
    elif path.suffix == ".arrow":
        table = arrow_table(path)
        data += repr(table.schema.metadata).encode() + b"".join(_buffers(table))
    return data


def _buffers(table: pa.Table) -> Iterator[bytes]:
    for column in table.columns:
        for chunk in column.chunks:
            yield from buffers(chunk)


def buffers(array: pa.Array) -> Iterator[bytes]:
    """What the buffers of an array hold, those of its dictionaries too."""
    yield from (buffer.to_pybytes() for buffer in array.buffers() if buffer is not None)
    for inner in _inner(array):
        yield from buffers(inner)


def _inner(array: pa.Array) -> Iterator[pa.Array]:
    if pa.types.is_dictionary(array.type):
        yield array.dictionary
    elif pa.types.is_struct(array.type):
        yield from array.flatten()
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        yield array.values


def idle_entries(array: pa.Array) -> bool:
    """Whether a dictionary lists what no cell has."""
    if pa.types.is_dictionary(array.type):
        used = {index for index in array.indices.to_pylist() if index is not None}
        return used != set(range(len(array.dictionary)))
    return any(idle_entries(inner) for inner in _inner(array))


def multiset(cell: str) -> list[tuple[str | None, int]]:
    """The values that a cell such as `{20:1,"a,b":2}` counts."""
    found = re.findall(r'(?:^|,)(?:("(?:[^"]|"")*")|([^",:]*)):(\d+)', cell[1:-1])
    return [
        (quoted[1:-1].replace('""', '"') if quoted else plain or None, int(count)) for quoted, plain, count in found
    ]


def in_order(sheet: Sheet, numbers: set[str]) -> bool:
    """Whether the rows stand in the documented order of their content. Where the format has no types, the columns in
    `numbers` may have been texts or floats when the order was made."""
    options = [(name, (False, True) if name in numbers and not sheet.types else (False,)) for name in sheet.names]
    for floats in itertools.product(*(choices for _, choices in options)):
        hashes = [0] * len(sheet.rows)
        for name, as_float in zip(sheet.names, floats, strict=True):
            kind = sheet.types.get(name)
            try:
                values = [float(cell) if as_float and cell is not None else cell for cell in sheet.column(name)]
            except ValueError:
                break
            hashes = [total + _hash(name, value, kind) for total, value in zip(hashes, values, strict=True)]
        else:
            hashes = [total % 2**64 for total in hashes]
            if hashes == sorted(hashes):
                return True
    return False


def _hash(name: str, value: Any, kind: pa.DataType | None) -> int:
    text = b"~" if value is None else b"=" + _text(value, kind).encode()
    return int.from_bytes(hashlib.md5(name.encode() + b"\x1f" + text).digest()[8:], "little")


def _text(value: Any, kind: pa.DataType | None) -> str:
    if isinstance(value, float):
        return f"{value:.17g}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if kind is not None and isinstance(value, (dt.date, dt.time, dt.timedelta)):
        return str(_count(value, kind))
    return str(value)


def _count(value: Any, kind: pa.DataType) -> int:
    """A date, a time or a span as the number that Arrow keeps; moments in microseconds."""
    if pa.types.is_timestamp(kind):
        epoch = dt.datetime(1970, 1, 1, tzinfo=value.tzinfo and dt.UTC)
        return (value - epoch) // dt.timedelta(microseconds=1)
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    found: int = pa.array([value], kind).cast(width)[0].as_py()
    return found
