"""Sources: files and frames, opened without being read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from shoal.engines.embedded import csv
from shoal.errors import InputError

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")


@dataclass(frozen=True, eq=False)
class Source:
    """A table that can be loaded column by column. `native` says which frame type it came as, if any."""

    names: tuple[str, ...]
    path: Path | None = None
    dialect: csv.Dialect | None = None
    missing: tuple[str, ...] = ()
    frame: pa.Table | None = None
    native: str | None = None
    stamp: tuple[int, int] | None = field(default=None)

    def load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Some of the columns, as Arrow holds them; a file that changed since it was opened is refused."""
        if not names:
            return {}
        if self.path is None:
            assert self.frame is not None
            return {name: self.frame[name] for name in names}
        if _stamp(self.path) != self.stamp:
            raise InputError(f"{self.path.name}: the file changed while it was being read; read it again")
        if self.dialect is not None:
            return csv.load(self.path, self.dialect, names, self.missing)
        try:
            if self.path.suffix in ARROW:
                table = pa.feather.read_table(self.path, columns=list(names), memory_map=True)
            else:
                table = pa.parquet.read_table(self.path, columns=list(names), read_dictionary=list(names))
        except (pa.ArrowException, OSError):
            raise InputError(f"{self.path.name}: some of its columns cannot be read") from None
        return {name: table[name] for name in names}


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
    try:
        if path.suffix in PARQUET:
            names = tuple(pa.parquet.read_schema(path).names)
        elif path.suffix in ARROW:
            names = tuple(pa.ipc.open_file(pa.memory_map(str(path))).schema.names)
        else:
            dialect = csv.detect(path, delimiter=delimiter, encoding=encoding)
            return Source(dialect.names, path, dialect, tuple(missing), stamp=stamp)
    except (pa.ArrowException, OSError):
        raise InputError(f"{path.name}: this is not a readable {path.suffix[1:]} file") from None
    return Source(_unique(names, path.name), path, missing=tuple(missing), stamp=stamp)


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
    _unique(tuple(str(name) for name in wrapped.columns), "the frame")
    columns = {}
    for name in wrapped.columns:
        try:
            columns[str(name)] = wrapped.select(name).to_arrow()[name]
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(
                f"column {name!r} mixes types that no table can hold; make it all text or all numbers"
            ) from None
    return Source(tuple(columns), missing=tuple(missing), frame=pa.table(columns), native=wrapped.implementation.value)


def _unique(names: tuple[str, ...], where: str) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise InputError(f"{where}: {len(names) - len(set(names))} column names occur more than once; rename them")
    return names
