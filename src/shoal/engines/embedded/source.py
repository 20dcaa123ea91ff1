"""Sources: files and frames, opened without being read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet

from shoal.core.header import LOOKED_AT, held_back
from shoal.core.header import names as checked_names
from shoal.core.values import FORMULA, NUMBER
from shoal.engines.embedded import csv
from shoal.errors import InputError, ParameterError, quoted

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A table that can be loaded column by column.

    `native` says which frame type it came as, if any, and `dtypes` what pandas called the types of its columns.
    `header` has the names as a Parquet or Arrow file spells them, with the blanks around them.
    """

    names: tuple[str, ...]
    path: Path | None = None
    dialect: csv.Dialect | None = None
    missing: tuple[str, ...] = ()
    frame: pa.Table | None = None
    native: str | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    format: str = "csv"
    stamp: tuple[int, int] | None = field(default=None)
    header: tuple[str, ...] = ()
    neutralize: bool = False

    def load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Some of the columns, as Arrow holds them; a file that changed since it was opened is refused."""
        loaded = self._load(names)
        return {name: neutralized(column) for name, column in loaded.items()} if self.neutralize else loaded

    def _load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        if not names:
            return {}
        if self.path is None:
            assert self.frame is not None
            return {name: self.frame[name] for name in names}
        if _stamp(self.path) != self.stamp:
            raise InputError(f"{self.path.name}: the file changed while it was being read; read it again")
        if self.dialect is not None:
            return csv.load(self.path, self.dialect, names, self.missing)
        spelled = dict(zip(self.names, self.header, strict=True))
        chosen = [spelled[name] for name in names]
        try:
            if self.format == "arrow":
                table = pa.feather.read_table(self.path, columns=chosen, memory_map=True)
            else:
                table = pa.parquet.read_table(self.path, columns=chosen, read_dictionary=chosen, partitioning=None)
        except (pa.ArrowException, OSError):
            raise InputError(f"{self.path.name}: some of its columns cannot be read") from None
        return {name: _plainer(name, table[spelled[name]]) for name in names}


def neutralized(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts that a spreadsheet would take for a formula, with an apostrophe in front; other values as they are.

    Example:
        >>> neutralized(pa.chunked_array([["=1+1", "-5", "@x", "a=b"]])).to_pylist()
        ["'=1+1", '-5', "'@x", 'a=b']
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        parts = [
            pa.DictionaryArray.from_arrays(part.indices, neutralized(pa.chunked_array([part.dictionary])).chunk(0))
            for part in column.chunks
        ]
        return pa.chunked_array(parts, kind)
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
        return column
    runs = pc.and_(pc.match_substring_regex(column, FORMULA), pc.invert(pc.match_substring_regex(column, NUMBER)))
    marked = pc.binary_join_element_wise(pa.scalar("'", kind), column, pa.scalar("", kind))
    return pc.if_else(runs, marked, column)


def _plainer(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without views, which Arrow can hold and cannot yet compute with; torn texts are refused."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise InputError(f"column {quoted(name)} holds text that is not utf-8; write the table anew") from None
    if column.type == pa.string_view():
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if column.type == pa.binary_view() else column


def _spellings(missing: Sequence[str]) -> tuple[str, ...]:
    """The spellings of a missing value, when they are such."""
    listed = (missing,) if isinstance(missing, str) else tuple(missing)
    if not all(isinstance(text, str) and not re.search(r"[\ud800-\udfff\0]", text) for text in listed):
        raise ParameterError("the spellings of a missing value are texts, such as NA or ?")
    return listed


def _format(path: Path) -> str:
    """What a file is, by how it begins, and by its ending where that says nothing."""
    with path.open("rb") as file:
        start = file.read(6)
    ending = path.suffix.lower()
    if start.startswith(b"PAR1") or (ending in PARQUET and start != b"ARROW1"):
        return "parquet"
    return "arrow" if start == b"ARROW1" or ending in ARROW else "csv"


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        raise InputError(f"{path.name}: there is no such file") from None
    return status.st_size, status.st_mtime_ns


def open_file(
    path: Path, *, delimiter: str | None = None, encoding: str | None = None, missing: Sequence[str] = ()
) -> Source:
    """A CSV (also gz or zst), Parquet or Arrow IPC file."""
    stamp = _stamp(path)
    if path.is_dir():
        raise InputError(f"{path.name}: this is a folder, not a table")
    if not path.is_file():
        raise InputError(f"{path.name}: this is not a file that can be read twice; save the table first")
    form = "csv"
    try:
        form = _format(path)
        if form == "parquet":
            header = tuple(pa.parquet.read_schema(path).names)
        elif form == "arrow":
            header = tuple(pa.ipc.open_file(pa.memory_map(str(path))).schema.names)
        else:
            dialect = csv.detect(path, delimiter=delimiter, encoding=encoding)
            return Source(dialect.names, path, dialect, _spellings(missing), stamp=stamp)
    except (pa.ArrowException, OSError):
        raise InputError(f"{path.name}: this is not a readable {form} file") from None
    names = held_back(checked_names(header, path.name))
    return Source(names, path, missing=_spellings(missing), format=form, stamp=stamp, header=header)


def open_frame(frame: Any, *, missing: Sequence[str] = ()) -> Source:
    """A frame of pandas, polars or pyarrow, or of whatever narwhals knows."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"a table is needed: a path, or a frame of pandas, polars or pyarrow; this is {type(frame).__name__}"
        ) from None
    except Exception as error:  # narwhals raises each backend's own error for duplicate names
        raise InputError(f"the frame cannot be used ({type(error).__name__}); are its column names unique?") from None
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect()
    numbered = not all(isinstance(name, str) for name in wrapped.columns)
    if numbered:  # pandas numbers the columns that nobody named
        wrapped = nw.from_native(frame.rename(columns=str))
    names = checked_names(wrapped.columns, "the frame")
    columns = {}
    for name, spelled in zip(names, wrapped.columns, strict=True):
        try:
            if wrapped.implementation.is_polars() and wrapped.schema[spelled] == nw.Object:
                raise TypeError("objects have no Arrow type")
            columns[name] = _plainer(name, wrapped.select(spelled).to_arrow().column(0))
        except UnicodeError:
            raise InputError(f"column {quoted(name)} holds text that is not Unicode; mend or drop it") from None
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(
                f"column {quoted(name)} mixes types that no table can hold; make it all text or all numbers"
            ) from None
    dtypes = dict(zip(columns, frame.dtypes, strict=True)) if wrapped.implementation.is_pandas() else {}
    return Source(
        names if numbered else held_back(names, _looked_at(columns.values())), missing=_spellings(missing),
        frame=pa.table(columns), native=wrapped.implementation.value, dtypes=dtypes,
    )  # fmt: skip


def _looked_at(columns: Iterable[pa.ChunkedArray]) -> list[tuple[str, ...]]:
    """The first records as texts; whatever is no text is a number to whoever judges the header."""
    texts = []
    for column in columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        start = column.slice(0, LOOKED_AT)
        written = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        texts.append([value or "" for value in start.to_pylist()] if written else ["0"] * len(start))
    return list(zip(*texts, strict=True))
