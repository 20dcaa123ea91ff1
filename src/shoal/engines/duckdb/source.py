"""Sources: Parquet files, tables of databases, CSV and Arrow files, and frames, opened without being read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from shoal.core.read_request import AS_IT_IS, Opening
from shoal.core.values import FORMULA, NUMBER
from shoal.engines.common import csv
from shoal.engines.common import source as shared
from shoal.engines.duckdb.databases import Connection, Spot, chosen, connected, spot
from shoal.engines.duckdb.encoding import loadable
from shoal.engines.duckdb.session import Session, Stored, literal, quoted
from shoal.errors import InputError

MOST_DIGITS = 38
"""Digits of a decimal that DuckDB holds."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table that DuckDB can query.

    Parquet files and tables of DuckDB are queried where they are. What else there is (`opened`, or the `stream` of
    another database) is streamed into the session the first time that rows are needed.
    """

    session: Session
    label: str
    names: tuple[str, ...]
    place: str | None = None
    opened: shared.Source | None = None
    missing: tuple[str, ...] = ()
    types: pa.Schema | None = None
    files: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    neutralize: bool = False
    stream: Callable[[], Iterator[pa.Table]] | None = None

    @property
    def dialect(self) -> csv.Dialect | None:
        return None if self.opened is None else self.opened.dialect

    def came(self, name: str) -> pa.DataType | None:
        """The Arrow type of a column at its source, where that is known."""
        return None if self.types is None else self.types.field(self.names.index(name)).type

    @cached_property
    def _streamed(self) -> Stored:
        if self.stream is not None:
            return streamed(self.session, self.stream())
        assert self.opened is not None
        return streamed(self.session, _batches(self.opened))

    @property
    def relation(self) -> str:
        """What stands after FROM; files that changed since they were opened are refused."""
        for path, stamp in self.files.items():
            if shared.file_stamp(path) != stamp:
                raise changed(path.name)
        columns = ", ".join(quoted(name) for name in self.names)
        raw = f"(SELECT * FROM {self.place or self._streamed}) AS s({columns})"
        if not self.neutralize:
            return raw
        kinds = self.session.described(raw, what=self.label)
        shown = ", ".join(_neutral(name) if kinds[name] == "VARCHAR" else quoted(name) for name in self.names)
        return f"(SELECT {shown} FROM {raw}) AS s({columns})"

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The DuckDB type of each column."""
        return self.session.described(self.relation, what=self.label)


def changed(label: str) -> InputError:
    """Says that a table is not what it was a moment ago."""
    return InputError(f"{label}: the table changed while it was being read; read it again")


def _neutral(name: str) -> str:
    """A text column in which what a spreadsheet would take for a formula has an apostrophe in front."""
    text = quoted(name)
    runs = f"regexp_matches({text}, {literal(FORMULA)}) AND NOT regexp_matches({text}, {literal(NUMBER)})"
    return f"CASE WHEN {runs} THEN chr(39) || {text} ELSE {text} END"


def streamed(session: Session, batches: Iterator[pa.Table]) -> Stored:
    """A table copied into the session batch by batch."""
    stored: Stored | None = None
    for batch in batches:
        if stored is None:
            stored = session.load(batch)
        else:
            session.append(stored, batch)
    assert stored is not None
    return stored


def _batches(opened: shared.Source) -> Iterator[pa.Table]:
    """A source piece by piece; dictionaries are resolved, for those of two pieces need not be the same."""
    if opened.dialect is not None:
        assert opened.path is not None
        yield from csv.batches(opened.path, opened.dialect, opened.missing)
    elif opened.frame is not None:
        yield _plain(opened.frame)
    else:
        assert opened.path is not None
        try:
            with pa.memory_map(str(opened.path)) as file:
                reader = pa.ipc.open_file(file)
                yield _plain(reader.schema.empty_table().select(opened.header))
                for place in range(reader.num_record_batches):
                    yield _plain(pa.table(reader.get_batch(place)).select(opened.header))
        except (pa.ArrowException, OSError):
            raise InputError(f"{opened.path.name}: some of its columns cannot be read") from None


def _plain(table: pa.Table) -> pa.Table:
    columns = [loadable(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def open_source(session: Session, source: Any, opening: Opening = AS_IT_IS, *, views: bool = True) -> Source:
    """A table of a database, or whatever the embedded engine opens; Parquet files are queried where they are.

    Without `views`, only what a database holds itself is taken: a view can read any file of whoever asks it.
    """
    if not isinstance(source, (str, PathLike)):
        return _checked(_held(session, "the frame", shared.open_frame(source, opening)))
    table = spot(str(source))
    if table is not None:
        return _open_table(session, table, tuple(opening.missing), views)
    path = Path(source)
    opened = shared.open_path(path, opening)
    if opened.frame is not None or opened.format != "parquet":
        return _checked(_held(session, path.name, opened))
    assert opened.path is not None
    listed = ", ".join(literal(str(each)) for each in opened.files)
    chosen = ", ".join(quoted(name) for name in opened.header)
    place = f"(SELECT {chosen} FROM read_parquet([{listed}], hive_partitioning = false))"
    types = _those(pa.parquet.read_schema(opened.path), opened)
    return _checked(Source(session, path.name, opened.names, place, None, opened.missing, types, opened.files))


def _held(session: Session, label: str, opened: shared.Source) -> Source:
    """What has to be copied into the session before it can be queried."""
    types = None
    if opened.frame is not None:
        types = opened.frame.schema
    elif opened.format == "arrow":
        with pa.memory_map(str(opened.path)) as file:
            types = _those(pa.ipc.open_file(file).schema, opened)
    return Source(session, label, opened.names, None, opened, opened.missing, types, opened.files)


def _those(schema: pa.Schema, opened: shared.Source) -> pa.Schema:
    """The types of the columns that are read."""
    return pa.schema([schema.field(name) for name in opened.header])


def _open_table(session: Session, place: Spot, missing: tuple[str, ...], views: bool) -> Source:
    """A table or view of a database, which is only read. Those of DuckDB are queried where they are; those of others
    are copied into the session the first time that rows are needed."""
    if place.kind == "duckdb":
        return _open_attached(session, place, missing, views)
    return open_stored(session, place, missing)


def open_stored(session: Session, place: Spot, missing: tuple[str, ...] = (), held: Connection | None = None) -> Source:
    """A table that is copied into the session, through the connection that is `held` where it is being written."""
    with closing(connected(place, held)) as connection:
        names = connection.names()

    def rows() -> Iterator[pa.Table]:
        with closing(connected(place, held)) as connection:
            yield from map(_plain, connection.batches())

    return _checked(Source(session, place.table, names, None, None, missing, stream=rows))


def _open_attached(session: Session, place: Spot, missing: tuple[str, ...], views: bool) -> Source:
    target, label, table = place.target, place.label, place.table
    catalog = session.attached(target)
    session.execute(f"ATTACH IF NOT EXISTS {literal(target)} AS {quoted(catalog)} (READ_ONLY)", what=label)
    with session.cursor(label) as cursor:
        known = cursor.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = ? "
            "AND table_schema NOT IN ('information_schema', 'pg_catalog') AND (table_type = 'BASE TABLE' OR ?) "
            "ORDER BY ALL",
            [catalog, views],
        ).fetchall()
    named = ".".join(quoted(part) for part in (catalog, *chosen(place, known)))
    kinds = session.described(named, what=table)
    # Arrow has no plain type for these, and their texts say all that they hold.
    selected = (
        f"CAST({quoted(name)} AS VARCHAR)" if kind.startswith("ENUM") or kind == "UUID" else quoted(name)
        for name, kind in kinds.items()
    )
    return _checked(Source(session, table, tuple(kinds), f"(SELECT {', '.join(selected)} FROM {named})", None, missing))


def _checked(source: Source) -> Source:
    """Refuses types that DuckDB would change, and names that it takes for the same."""
    for name in source.names:
        came = source.came(name)
        if came is not None and _changes(came, copied=source.place is None):
            raise InputError(
                f"{source.label}: column {name!r} holds {came}, which DuckDB cannot keep as it is; "
                "use the default engine"
            )
    folded = [name.casefold() for name in source.names]
    alike = [name for name in source.names if folded.count(name.casefold()) > 1]
    if alike:
        raise InputError(
            f"{source.label}: the columns {', '.join(map(repr, alike))} differ only in case, which DuckDB does "
            "not tell apart; rename them"
        )
    return source


def _changes(kind: pa.DataType, *, copied: bool, inside: bool = False) -> bool:
    """Whether DuckDB has no type for such values: decimals of more digits become floats, and durations inside lists
    and structs that are `copied` become spans of months, days and seconds."""
    if pa.types.is_decimal256(kind):
        return bool(kind.precision > MOST_DIGITS)
    if pa.types.is_duration(kind):
        return copied and inside
    held = (kind.field(at).type for at in range(kind.num_fields))
    return any(_changes(each, copied=copied, inside=True) for each in held)
