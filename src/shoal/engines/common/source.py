"""Sources: tables that were opened, and are not read yet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.read_request import Description
from shoal.core.schema import Kind
from shoal.core.values import FORMULA, NUMBER
from shoal.engines.common import csv
from shoal.engines.common.column_types import is_text
from shoal.engines.common.dialect import Dialect
from shoal.engines.common.missing_codes import MissingCodes
from shoal.engines.common.program_files import VariableLabels
from shoal.errors import InputError, quoted
from shoal.storage.files import address


class CommonSource(ABC):
    """What every engine's source has: names, the files that it is read from, and what those say of its columns."""

    names: tuple[str, ...]
    missing: tuple[str, ...]
    files: Mapping[Path, tuple[int, int]]

    @property
    @abstractmethod
    def stated_kinds(self) -> Mapping[str, Kind]:
        """The kinds of columns as the file says them."""

    @abstractmethod
    def with_missing_codes(self, names: Collection[str]) -> Self:
        """The same table, some columns of numbers with the codes for missing answers that a statistics program has."""

    def complete(self, description: Description) -> Description:
        """What is said of the columns, with their kinds as the file says them where nothing else is given."""
        kinds = {name: kind for name, kind in self.stated_kinds.items() if name not in description.formats}
        return replace(description, kinds={**kinds, **description.kinds})

    def check_unchanged(self) -> None:
        """Refuses files that are not what they were when they were opened."""
        for path, stamp in self.files.items():
            if file_stamp(path) != stamp:
                raise changed(path.name, "file")


def changed(label: str, what: str = "table") -> InputError:
    """Says that a table is not what it was a moment ago."""
    return InputError(f"{label}: the {what} changed while it was being read; read it again")


@dataclass(frozen=True, eq=False, repr=False)
class MemorySource(CommonSource):
    """A table that can be loaded column by column.

    `native` says which frame type it came as, if any, and `dtypes` what pandas called the types of its columns.
    `header` has the names as a Parquet or Arrow file spells them, with the blanks around them. `files` are what it is
    read from, with their sizes and times; a file that was read as a whole is a `frame`. Columns that are `nominal` hold
    names by what the file says, whatever those look like. `labels` are those of a file of a statistics program; the
    columns of numbers that are `coded` have its codes for missing answers in them.
    """

    names: tuple[str, ...]
    path: Path | None = None
    dialect: Dialect | None = None
    missing: tuple[str, ...] = ()
    frame: pa.Table | None = None
    native: str | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    format: str = "csv"
    files: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    nominal: frozenset[str] = frozenset()
    neutralize: bool = False
    labels: Mapping[str, VariableLabels] = field(default_factory=dict)
    coded: frozenset[str] = frozenset()

    def load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Some of the columns, as Arrow holds them; a file that changed since it was opened is refused, also when it
        did so while they were read."""
        self.check_unchanged()
        loaded = self._load(names)
        self.check_unchanged()
        return {name: neutral_texts(column) for name, column in loaded.items()} if self.neutralize else loaded

    def _load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        if not names:
            return {}
        if self.frame is not None:
            return {name: self.frame[name] for name in names}
        assert self.path is not None
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
        return {name: without_views(name, table[spelled[name]]) for name in names}

    @property
    def stated_kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.nominal, Kind.CATEGORICAL)

    def with_missing_codes(self, names: Collection[str]) -> MemorySource:
        frame, coded = self.frame, set()
        for name in names:
            numbers = self._missing_codes(name)
            if numbers is not None and frame is not None:
                frame = frame.set_column(frame.column_names.index(name), name, numbers.column)
                coded.add(name)
        return replace(self, frame=frame, coded=frozenset(coded)) if coded else self

    def _missing_codes(self, name: str) -> MissingCodes | None:
        return self.labels[name].numbers if name in self.labels else None

    def hidden_codes(self, form: str | None = None) -> dict[str, MissingCodes]:
        """The codes for missing answers among numbers that a format cannot show: only a file of the program that they
        came from can."""
        known = {} if form == self.format else {name: self._missing_codes(name) for name in self.coded}
        return {name: numbers.without_rows() for name, numbers in known.items() if numbers is not None}

    def presented(self, table: pa.Table, form: str | None = None) -> pa.Table:
        """A published table as a format shows it."""
        for name, numbers in self.hidden_codes(form).items():
            if name in table.column_names:
                table = table.set_column(table.column_names.index(name), name, numbers.hide(table[name]))
        return table

    def labels_for(self, form: str) -> Mapping[str, VariableLabels]:
        """What a file of a format says of the columns: only the program that they came from knows missing codes."""
        if form == self.format:
            shown = {name: known.numbers if name in self.coded else None for name, known in self.labels.items()}
            return {name: replace(known, numbers=shown[name]) for name, known in self.labels.items()}
        return {name: known.without_missing() for name, known in self.labels.items()}

    def without(self, name: str) -> MemorySource:
        """The same table, one of its columns left out."""
        rest = [place for place, other in enumerate(self.names) if other != name]
        return replace(
            self,
            names=tuple(self.names[place] for place in rest),
            header=tuple(self.header[place] for place in rest) if self.header else (),
            dialect=None if self.dialect is None else self.dialect.without(name),
            frame=None if self.frame is None else self.frame.drop_columns([name]),
            dtypes={other: dtype for other, dtype in self.dtypes.items() if other != name},
        )


@dataclass(frozen=True, eq=False)
class QueriedSource(CommonSource):
    """A table that an engine queries in its `session`, where it lies. What the engine cannot read there was `opened`
    in this process, and is handed over the first time that rows are needed. `types` are those at the source, where
    they are known."""

    session: Any
    label: str
    names: tuple[str, ...]
    opened: MemorySource | None = None
    missing: tuple[str, ...] = ()
    types: pa.Schema | None = None
    files: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    neutralize: bool = False

    @property
    def stated_kinds(self) -> Mapping[str, Kind]:
        return {} if self.opened is None else self.opened.stated_kinds

    def with_missing_codes(self, names: Collection[str]) -> Self:
        opened = None if self.opened is None else self.opened.with_missing_codes(names)
        if opened is None or opened.frame is None or not opened.coded:
            return self
        return replace(self, opened=opened, types=opened.frame.schema)

    def type_of(self, name: str) -> pa.DataType | None:
        """The Arrow type of a column at its source, where the engine may have another one for it."""
        return None if self.types is None else self.types.field(self.names.index(name)).type


def neutral_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts that a spreadsheet would take for a formula, with an apostrophe in front; other values as they are.

    Example:
        >>> neutral_texts(pa.chunked_array([["=1+1", "-5", "@x", "a=b"]])).to_pylist()
        ["'=1+1", '-5', "'@x", 'a=b']
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        parts = [
            pa.DictionaryArray.from_arrays(part.indices, neutral_texts(pa.chunked_array([part.dictionary])).chunk(0))
            for part in column.chunks
        ]
        return pa.chunked_array(parts, kind)
    if not is_text(kind):
        return column
    runs = pc.and_(pc.match_substring_regex(column, FORMULA), pc.invert(pc.match_substring_regex(column, NUMBER)))
    marked = pc.binary_join_element_wise(pa.scalar("'", kind), column, pa.scalar("", kind))
    return pc.if_else(runs, marked, column)


def without_views(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without views, which Arrow can hold and cannot yet compute with; torn texts are refused."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise InputError(f"column {quoted(name)} holds text that is not utf-8; write the table anew") from None
    if column.type == pa.string_view():
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if column.type == pa.binary_view() else column


def file_stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        if address(path) is not None:
            raise InputError(
                "this address names no table that can be read; a table is named as base.duckdb::table, "
                "base.sqlite::table or postgres://user@server/base::table"
            ) from None
        raise InputError(f"{path.name}: there is no such file") from None
    return status.st_size, status.st_mtime_ns
