"""Opening files and frames: what they are is found out, and nothing but their header is read where that is possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.read_request import AS_IT_IS, Opening
from shoal.engines.common import arff, formats
from shoal.engines.common.column_types import is_text, value_type
from shoal.engines.common.dialect import check_text, detect
from shoal.engines.common.formats import format_of
from shoal.engines.common.program_files import VariableLabels
from shoal.engines.common.source import MemorySource, changed, file_stamp, without_views
from shoal.engines.common.unpacking import Unpacked
from shoal.errors import InputError, ParameterError, quoted
from shoal.notices import tell
from shoal.parsing.header import LOOKED_AT, held_back, numbers_rows
from shoal.parsing.header import names as checked_names
from shoal.storage.files import files_at


def open_source(source: Any, opening: Opening = AS_IT_IS) -> tuple[str, MemorySource]:
    """A path or a frame, and what messages call it."""
    if not isinstance(source, (str, PathLike)):
        return "the frame", open_frame(source, opening)
    return Path(source).name, open_path(Path(source), opening)


def open_path(path: Path, opening: Opening = AS_IT_IS) -> MemorySource:
    """A file of any format that is known, or Parquet files that belong together; a column of row numbers is left out.

    Row numbers tell people apart, and lead back to the table: whatever is published, they never are.
    """
    paths = files_at(path)
    if not paths:
        raise InputError(f"{path.name}: there are no Parquet files in this folder, or by this pattern")
    return _without_row_numbers(_one_table([open_file(each, opening) for each in paths]), path.name)


def _one_table(opened: Sequence[MemorySource]) -> MemorySource:
    """Files that are one table: all Parquet, with the same columns."""
    first = opened[0]
    if len(opened) == 1:
        return first
    assert first.path is not None
    odd = [each.path.name for each in opened if each.path and (each.format != "parquet" or each.frame is not None)]
    if odd:
        raise InputError(f"{odd[0]}: several files are read together when all are Parquet, and this one is not")
    from pyarrow import parquet

    schema = parquet.read_schema(first.path)
    for each in opened[1:]:
        assert each.path is not None
        other = parquet.read_schema(each.path)
        if other.names != schema.names or other.types != schema.types:
            differing = sorted({name for name, _ in set(_fields(other)) ^ set(_fields(schema))})
            what = f"differ in {differing[0]!r}" if differing else "stand in another order"
            raise InputError(f"{each.path.name}: its columns are not those of {first.path.name}: they {what}")
    return replace(first, files={path: stamp for each in opened for path, stamp in each.files.items()})


def _fields(schema: pa.Schema) -> list[tuple[str, str]]:
    return [(entry.name, str(entry.type)) for entry in schema]


def open_file(path: Path, opening: Opening) -> MemorySource:
    """One file with all of its columns: CSV (also gz or zst), Parquet, Arrow IPC, JSON lines, ARFF, a spreadsheet, or a
    file of a statistics program."""
    stamp = file_stamp(path)
    if path.is_dir():
        raise InputError(f"{path.name}: this is a folder, not a table")
    if not path.is_file():
        raise InputError(f"{path.name}: this is not a file that can be read twice; save the table first")
    form, rename = "csv", opening.rename_duplicates
    files, spellings, nominal = {path: stamp}, spellings_of(opening.missing), frozenset[str]()
    labels: dict[str, VariableLabels] = {}
    try:
        form = format_of(path, opening.format)
        if form == "csv":
            dialect = detect(path, delimiter=opening.delimiter, encoding=opening.encoding, rename=rename)
            return MemorySource(dialect.names, path, dialect, spellings, files=files)
        if form in ("parquet", "arrow"):
            header, table = _header_and_reader(path, form)
            names = held_back(checked_names(header, path.name, rename=rename))
            if len(set(header)) == len(header):
                return MemorySource(names, path, missing=spellings, format=form, files=files, header=header)
            columns = [without_views(name, column) for name, column in zip(names, table().columns, strict=True)]
        elif form == "arff":
            check_text(path)
            read, named = arff.read(path)
            names = held_back(checked_names(read.column_names, path.name, rename=rename))
            columns = read.columns
            nominal = frozenset(names[place] for place, name in enumerate(read.column_names) if name in named)
        else:
            header, columns, labels = _read_whole(path, form, opening.sheet)
            nameless = len(header) > 1 and not header[0].strip()
            below = _first_records(columns[nameless:])
            names = held_back(checked_names(header[nameless:], path.name, below, rename=rename), below)
            names = ("", *names) if nameless else names
            labels = {name: labels[title] for name, title in zip(names, header, strict=True) if title in labels}
    except (pa.ArrowException, OSError):
        raise InputError(f"{path.name}: this is not a readable {form} file") from None
    if file_stamp(path) != stamp:
        raise changed(path.name, "file")
    frame = pa.table(dict(zip(names, columns, strict=True)))
    return MemorySource(names, path, missing=spellings, format=form, frame=frame, nominal=nominal, labels=labels)


def _header_and_reader(path: Path, form: str) -> tuple[tuple[str, ...], Callable[[], pa.Table]]:
    """The header of a Parquet or Arrow file, and a way to read all of it."""
    if form == "parquet":
        from pyarrow import parquet

        file = parquet.ParquetFile(path)
        return tuple(file.schema_arrow.names), file.read
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    return tuple(reader.schema.names), reader.read_all


def _read_whole(
    path: Path, form: str, sheet: str | None
) -> tuple[tuple[str, ...], list[pa.ChunkedArray], dict[str, VariableLabels]]:
    if form == "xlsx":
        return (*formats.spreadsheet(path, sheet), {})
    if form == "jsonl":
        check_text(path)
        with Unpacked(path) as file:
            return (*formats.lines(path, file), {})
    return formats.statistics(path, form)


def _without_row_numbers(source: MemorySource, where: str) -> MemorySource:
    """The table without the column that R and pandas write before the others: nameless, a number for each row."""
    if len(source.names) < 2 or not numbers_rows(source.names[0]):
        return source
    name = source.names[0]
    if not _are_row_numbers(source.load([name])[name]):
        if not name:
            raise InputError(
                f"{where}: 1 of {len(source.names)} columns has no name; rename it, and check that the header is one"
            )
        return source
    tell(f"{where}: the first column has no name of its own and numbers the rows; it is left out")
    return source.without(name)


def _are_row_numbers(column: pa.ChunkedArray) -> bool:
    """Whether all are whole numbers from 0 up and no two are the same, in any order: rows may have been sampled."""
    kind = value_type(column.type)
    if not (pa.types.is_integer(kind) or is_text(kind)):
        return False
    texts = column.cast(kind).unique().cast(pa.string())
    digits = pc.all(pc.match_substring_regex(texts, r"^[0-9]+$"), skip_nulls=False).as_py()
    return bool(digits) and len(texts) == len(column)


def open_frame(frame: Any, opening: Opening = AS_IT_IS) -> MemorySource:
    """A frame that narwhals knows, eager or lazy, or whatever streams Arrow; a column of row numbers is left out."""
    import narwhals as nw

    frame = _uniquely_named(nw.to_native(frame, pass_through=True), opening.rename_duplicates)
    try:
        wrapped = nw.from_native(frame, pass_through=True)
        if wrapped is frame:
            frame = _uniquely_named(_streamed(frame), opening.rename_duplicates)
            wrapped = nw.from_native(frame)
    except InputError:
        raise
    except Exception as error:  # narwhals raises each backend's own error for duplicate names
        raise InputError(f"the frame cannot be used ({type(error).__name__}); are its column names unique?") from None
    if isinstance(wrapped, nw.LazyFrame):
        try:
            wrapped = wrapped.collect()
        except Exception as error:  # which may quote cells
            raise InputError(f"the lazy frame cannot be computed ({type(error).__name__})") from None
    numbered = not all(isinstance(name, str) for name in wrapped.columns)
    if numbered:  # pandas numbers the columns that nobody named
        wrapped = nw.from_native(frame.rename(columns=str))
    names = checked_names(wrapped.columns, "the frame", rename=opening.rename_duplicates)
    columns = _arrow_columns(wrapped, names)
    dtypes = dict(zip(columns, frame.dtypes, strict=True)) if wrapped.implementation.is_pandas() else {}
    opened = MemorySource(
        names if numbered else held_back(names, _first_records(columns.values())),
        missing=spellings_of(opening.missing),
        frame=pa.table(columns),
        native=wrapped.implementation.value,
        dtypes=dtypes,
    )
    return _without_row_numbers(opened, "the frame")


def _arrow_columns(wrapped: Any, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """The columns of an eager frame: all at once, or else one by one, to say which cannot be had."""
    import narwhals as nw

    objects = wrapped.implementation.is_polars() and nw.Object in wrapped.schema.values()
    try:
        whole = None if objects else wrapped.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        whole = None
    columns = {}
    for at, (name, spelled) in enumerate(zip(names, wrapped.columns, strict=True)):
        try:
            if objects and wrapped.schema[spelled] == nw.Object:
                raise TypeError("objects have no Arrow type")
            found = wrapped.select(spelled).to_arrow().column(0) if whole is None else whole.column(at)
            columns[name] = without_views(name, found)
        except UnicodeError:
            raise InputError(f"column {quoted(name)} holds text that is not Unicode; mend or drop it") from None
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(
                f"column {quoted(name)} mixes types that no table can hold; make it all text or all numbers"
            ) from None
    return columns


def _streamed(frame: Any) -> pa.Table:
    """What some object hands over through Arrow's PyCapsule interface."""
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            "a table is needed: a path, a frame (pandas, polars, pyarrow, Spark, DuckDB, Ibis or another that narwhals "
            f"knows), or an object that streams Arrow (__arrow_c_stream__); this is {type(frame).__name__}"
        )
    try:
        return pa.RecordBatchReader.from_stream(frame).read_all()
    except Exception as error:  # whatever goes wrong in a package that is not ours, and may quote cells
        raise InputError(
            "a table is needed: what this streams as Arrow is not one, maybe a single column "
            f"({type(error).__name__}); this is {type(frame).__name__}"
        ) from None


def _uniquely_named(frame: Any, rename: bool) -> Any:
    """A frame of pandas or pyarrow, which let names occur twice: renamed where that is asked for, else refused."""
    table = isinstance(frame, pa.Table)
    if not table and not (hasattr(frame, "set_axis") and hasattr(frame, "columns")):
        return frame
    if not table:
        _check_flat(frame)
    header = list(map(str, frame.column_names if table else frame.columns))
    if len({name.strip() for name in header}) == len(header):
        return frame
    names = list(checked_names(header, "the frame", rename=rename))
    return frame.rename_columns(names) if table else frame.set_axis(names, axis=1)


def _check_flat(frame: Any) -> None:
    """Refuses headings of several levels, and rows that are named by several columns, which would be left out."""
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise InputError(
            f"the headings of the frame have {frame.columns.nlevels} levels (a MultiIndex); give each column one name, "
            "such as frame.columns = ['_'.join(map(str, names)) for names in frame.columns]"
        )
    if getattr(frame.index, "nlevels", 1) > 1:
        raise InputError(
            f"the rows of the frame are named by {frame.index.nlevels} columns (a MultiIndex), which are not among its "
            "columns; use frame.reset_index(), or frame.reset_index(drop=True) to leave them out"
        )


def _first_records(columns: Iterable[pa.ChunkedArray]) -> list[tuple[str, ...]]:
    """The first records as texts; whatever is no text is a number to whoever judges the header."""
    texts = []
    for column in columns:
        start = column.slice(0, LOOKED_AT)
        written = is_text(value_type(column.type))
        texts.append([value or "" for value in start.to_pylist()] if written else ["0"] * len(start))
    return list(zip(*texts, strict=True))


def spellings_of(missing: Sequence[str]) -> tuple[str, ...]:
    """The spellings of a missing value, when they are such."""
    listed = (missing,) if isinstance(missing, str) else tuple(missing)
    if not all(isinstance(text, str) and not re.search(r"[\ud800-\udfff\0]", text) for text in listed):
        raise ParameterError("the spellings of a missing value are texts, such as NA or ?")
    return listed
