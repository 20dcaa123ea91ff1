"""Sources: files and frames, opened without being read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.core.schema import Kind
from shoal.core.values import FORMULA, NUMBER
from shoal.engines.common import arff, csv, formats
from shoal.engines.common.formats import format_of
from shoal.engines.common.unpacking import Unpacked
from shoal.errors import InputError, ParameterError, quoted
from shoal.notices import tell
from shoal.parsing.header import LOOKED_AT, held_back, numbers_rows
from shoal.parsing.header import names as checked_names
from shoal.storage.files import files_at


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A table that can be loaded column by column.

    `native` says which frame type it came as, if any, and `dtypes` what pandas called the types of its columns.
    `header` has the names as a Parquet or Arrow file spells them, with the blanks around them. `files` are what it is
    read from, with their sizes and times; a file that was read as a whole is a `frame`. Columns that are `nominal` hold
    names by what the file says, whatever those look like.
    """

    names: tuple[str, ...]
    path: Path | None = None
    dialect: csv.Dialect | None = None
    missing: tuple[str, ...] = ()
    frame: pa.Table | None = None
    native: str | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    format: str = "csv"
    files: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    nominal: frozenset[str] = frozenset()
    neutralize: bool = False

    def load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Some of the columns, as Arrow holds them; a file that changed since it was opened is refused."""
        loaded = self._load(names)
        return {name: neutralized(column) for name, column in loaded.items()} if self.neutralize else loaded

    def _load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        if not names:
            return {}
        if self.frame is not None:
            return {name: self.frame[name] for name in names}
        assert self.path is not None
        for path, stamp in self.files.items():
            if file_stamp(path) != stamp:
                raise InputError(f"{path.name}: the file changed while it was being read; read it again")
        if self.dialect is not None:
            return csv.load(self.path, self.dialect, names, self.missing)
        spelled = dict(zip(self.names, self.header, strict=True))
        chosen = [spelled[name] for name in names]
        try:
            if self.format == "arrow":
                from pyarrow import feather

                table = feather.read_table(self.path, columns=chosen, memory_map=True)
            else:
                from pyarrow import parquet

                table = pa.concat_tables(
                    parquet.read_table(path, columns=chosen, read_dictionary=chosen, partitioning=None)
                    for path in self.files
                )
        except (pa.ArrowException, OSError):
            raise InputError(f"{self.path.name}: some of its columns cannot be read") from None
        return {name: _plainer(name, table[spelled[name]]) for name in names}

    def described(self, given: Description) -> Description:
        """What is said of the columns, with their kinds as the file says them where nothing else is given."""
        said = {name: kind for name, kind in self.said.items() if name not in given.formats}
        return replace(given, kinds={**said, **given.kinds})

    @property
    def said(self) -> dict[str, Kind]:
        """The kinds of columns as the file says them."""
        return dict.fromkeys(self.nominal, Kind.CATEGORICAL)

    def without(self, name: str) -> Source:
        """The same table, one of its columns left out."""
        kept = [place for place, other in enumerate(self.names) if other != name]
        return replace(
            self,
            names=tuple(self.names[place] for place in kept),
            header=tuple(self.header[place] for place in kept) if self.header else (),
            dialect=None if self.dialect is None else self.dialect.without(name),
            frame=None if self.frame is None else self.frame.drop_columns([name]),
            dtypes={other: dtype for other, dtype in self.dtypes.items() if other != name},
        )


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


def spellings_of(missing: Sequence[str]) -> tuple[str, ...]:
    """The spellings of a missing value, when they are such."""
    listed = (missing,) if isinstance(missing, str) else tuple(missing)
    if not all(isinstance(text, str) and not re.search(r"[\ud800-\udfff\0]", text) for text in listed):
        raise ParameterError("the spellings of a missing value are texts, such as NA or ?")
    return listed


def file_stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        raise InputError(f"{path.name}: there is no such file") from None
    return status.st_size, status.st_mtime_ns


def open_path(path: Path, opening: Opening = AS_IT_IS) -> Source:
    """A file of any format that is known, or Parquet files that belong together; a column of row numbers is left out.

    Row numbers tell people apart, and lead back to the table: whatever is published, they never are.
    """
    paths = files_at(path)
    if not paths:
        raise InputError(f"{path.name}: there are no Parquet files in this folder, or by this pattern")
    return _without_row_numbers(_together([open_file(each, opening) for each in paths]), path.name)


def _together(opened: Sequence[Source]) -> Source:
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


def open_file(path: Path, opening: Opening) -> Source:
    """One file with all of its columns: CSV (also gz or zst), Parquet, Arrow IPC, JSON lines, ARFF, a spreadsheet, or a
    file of a statistics program."""
    stamp = file_stamp(path)
    if path.is_dir():
        raise InputError(f"{path.name}: this is a folder, not a table")
    if not path.is_file():
        raise InputError(f"{path.name}: this is not a file that can be read twice; save the table first")
    form, rename = "csv", opening.rename_duplicates
    files, spellings, nominal = {path: stamp}, spellings_of(opening.missing), frozenset[str]()
    try:
        form = format_of(path, opening.format)
        if form == "csv":
            dialect = csv.detect(path, delimiter=opening.delimiter, encoding=opening.encoding, rename=rename)
            return Source(dialect.names, path, dialect, spellings, files=files)
        if form in ("parquet", "arrow"):
            header, table = _typed(path, form)
            names = held_back(checked_names(header, path.name, rename=rename))
            if len(set(header)) == len(header):
                return Source(names, path, missing=spellings, format=form, files=files, header=header)
            columns = [_plainer(name, column) for name, column in zip(names, table().columns, strict=True)]
        elif form == "arff":
            read, said = arff.read(path)
            names = held_back(checked_names(read.column_names, path.name, rename=rename))
            columns = read.columns
            nominal = frozenset(names[place] for place, name in enumerate(read.column_names) if name in said)
        else:
            header, columns = _whole(path, form, opening.sheet)
            nameless = len(header) > 1 and not header[0].strip()
            below = _looked_at(columns[nameless:])
            found = held_back(checked_names(header[nameless:], path.name, below, rename=rename), below)
            names = ("", *found) if nameless else found
    except (pa.ArrowException, OSError):
        raise InputError(f"{path.name}: this is not a readable {form} file") from None
    frame = pa.table(dict(zip(names, columns, strict=True)))
    return Source(names, path, missing=spellings, format=form, frame=frame, nominal=nominal)


def _typed(path: Path, form: str) -> tuple[tuple[str, ...], Callable[[], pa.Table]]:
    """The header of a Parquet or Arrow file, and a way to read all of it."""
    if form == "parquet":
        from pyarrow import parquet

        file = parquet.ParquetFile(path)
        return tuple(file.schema_arrow.names), file.read
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    return tuple(reader.schema.names), reader.read_all


def _whole(path: Path, form: str, sheet: str | None) -> formats.Columns:
    if form == "xlsx":
        return formats.spreadsheet(path, sheet)
    if form == "jsonl":
        with Unpacked(path) as file:
            return formats.lines(path, file)
    return formats.statistics(path, form)


def _without_row_numbers(source: Source, where: str) -> Source:
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
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return False
    texts = column.cast(kind).unique().cast(pa.string())
    digits = pc.all(pc.match_substring_regex(texts, r"^[0-9]+$"), skip_nulls=False).as_py()
    return bool(digits) and len(texts) == len(column)


def open_frame(frame: Any, opening: Opening = AS_IT_IS) -> Source:
    """A frame of pandas, polars or pyarrow, or of whatever narwhals knows; a column of row numbers is left out."""
    import narwhals as nw

    frame = _uniquely_named(frame, opening.rename_duplicates)
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
    names = checked_names(wrapped.columns, "the frame", rename=opening.rename_duplicates)
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
    opened = Source(
        names if numbered else held_back(names, _looked_at(columns.values())), missing=spellings_of(opening.missing),
        frame=pa.table(columns), native=wrapped.implementation.value, dtypes=dtypes,
    )  # fmt: skip
    return _without_row_numbers(opened, "the frame")


def _uniquely_named(frame: Any, rename: bool) -> Any:
    """A frame of pandas or pyarrow, which let names occur twice: renamed where that is asked for, else refused."""
    table = isinstance(frame, pa.Table)
    if not table and not hasattr(frame, "set_axis"):
        return frame
    header = list(map(str, frame.column_names if table else frame.columns))
    if len({name.strip() for name in header}) == len(header):
        return frame
    names = list(checked_names(header, "the frame", rename=rename))
    return frame.rename_columns(names) if table else frame.set_axis(names, axis=1)


def _looked_at(columns: Iterable[pa.ChunkedArray]) -> list[tuple[str, ...]]:
    """The first records as texts; whatever is no text is a number to whoever judges the header."""
    texts = []
    for column in columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        start = column.slice(0, LOOKED_AT)
        written = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        texts.append([value or "" for value in start.to_pylist()] if written else ["0"] * len(start))
    return list(zip(*texts, strict=True))
