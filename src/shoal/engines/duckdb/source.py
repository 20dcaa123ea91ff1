"""Sources: Parquet files, tables of databases, CSV and Arrow files, and frames, opened without being read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from shoal.core.read_request import AS_IT_IS, Opening
from shoal.core.values import FORMULA, NUMBER
from shoal.engines.common import csv, opening
from shoal.engines.common.source import MemorySource, QueriedSource
from shoal.engines.duckdb import expressions
from shoal.engines.duckdb.databases import Connection, Spot, chosen, reading, spot
from shoal.engines.duckdb.encoding import loadable
from shoal.engines.duckdb.expressions import lives_in_duckdb
from shoal.engines.duckdb.session import DatabaseSession, Stored, literal, quoted
from shoal.errors import InputError
from shoal.parsing.header import names as checked_names

MOST_DIGITS = 38
"""Digits of a decimal that DuckDB holds."""


@dataclass(frozen=True, eq=False)
class DuckDBSource(QueriedSource):
    """A table that DuckDB can query.

    Parquet files and tables of DuckDB are queried at their `place`. What else there is (`opened`, or the `stream` of
    another database) is streamed into the session the first time that rows are needed.
    """

    session: DatabaseSession
    place: str | None = None
    stream: Callable[[], Iterator[pa.Table]] | None = None

    @cached_property
    def _copy(self) -> Stored:
        """The table, copied into the session batch by batch."""
        if self.stream is not None:
            batches = self.stream()
        else:
            assert self.opened is not None
            batches = _batches(self.opened)
        stored = self.session.load(next(batches))
        for batch in batches:
            self.session.append(stored, batch)
        return stored

    @property
    def relation(self) -> str:
        """What stands after FROM; files that changed since they were opened are refused."""
        self.check_unchanged()
        columns = ", ".join(quoted(name) for name in self.names)
        raw = f"(SELECT * FROM {self.place or self._copy}) AS s({columns})"
        if not self.neutralize:
            return raw
        kinds = self.session.types_of(raw, what=self.label)
        shown = ", ".join(_neutral(name) if kinds[name] == "VARCHAR" else quoted(name) for name in self.names)
        return f"(SELECT {shown} FROM {raw}) AS s({columns})"

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The DuckDB type of each column."""
        return self.session.types_of(self.relation, what=self.label)


def _neutral(name: str) -> str:
    """A text column in which what a spreadsheet would take for a formula has an apostrophe in front."""
    text = quoted(name)
    runs = f"regexp_matches({text}, {literal(FORMULA)}) AND NOT regexp_matches({text}, {literal(NUMBER)})"
    return f"CASE WHEN {runs} THEN chr(39) || {text} ELSE {text} END"


def _batches(opened: MemorySource) -> Iterator[pa.Table]:
    """A source piece by piece, the first of which may be empty; dictionaries are resolved, for those of two pieces need
    not be the same."""
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


def open_source(session: DatabaseSession, source: Any, how: Opening = AS_IT_IS, *, views: bool = True) -> DuckDBSource:
    """A table of a database, an expression of Ibis, or whatever the embedded engine opens; Parquet files are queried
    where they are.

    Without `views`, only what a database holds itself is taken: a view can read any file of whoever asks it.
    """
    table = spot(str(source)) if isinstance(source, (str, PathLike)) else None
    if table is not None:
        missing = tuple(how.missing)
        attached = table.kind == "duckdb"
        return _open_attached(session, table, missing, views) if attached else open_stored(session, table, missing)
    if lives_in_duckdb(source):
        return _open_expression(session, source, how)
    label, opened = opening.open_source(source, how)
    types = None if opened.frame is None else opened.frame.schema
    if types is None and opened.format != "csv":
        schema = _file_schema(opened)
        types = pa.schema([schema.field(name) for name in opened.header])
    source = DuckDBSource(session, label, opened.names, opened, opened.missing, types, opened.files)
    if opened.frame is None and opened.format == "parquet":
        files = ", ".join(literal(str(path)) for path in opened.files)
        columns = ", ".join(quoted(name) for name in opened.header)
        place = f"(SELECT {columns} FROM read_parquet([{files}], hive_partitioning = false))"
        source = replace(source, opened=None, place=place)
    return _check_columns(source)


def _file_schema(opened: MemorySource) -> pa.Schema:
    if opened.format == "parquet":
        return pa.parquet.read_schema(opened.path)
    with pa.memory_map(str(opened.path)) as file:
        return pa.ipc.open_file(file).schema


def open_stored(
    session: DatabaseSession, place: Spot, missing: tuple[str, ...] = (), writer: Connection | None = None
) -> DuckDBSource:
    """A table that is only read, and copied into the session the first time that rows are needed: through the
    connection of its `writer`, where it is being written."""
    with reading(place, writer) as connection:
        names = connection.names()
        if writer is None:
            session.read_tables.add((place.target, *connection.place))

    def rows() -> Iterator[pa.Table]:
        with reading(place, writer) as connection:
            yield from map(_plain, connection.batches())

    return _check_columns(DuckDBSource(session, place.table, names, missing=missing, stream=rows))


def _open_attached(session: DatabaseSession, place: Spot, missing: tuple[str, ...], views: bool) -> DuckDBSource:
    """A table or view of DuckDB, which is queried where it is, and only read."""
    target, label, table = place.target, place.label, place.table
    catalog = session.attach(target)
    with session.cursor(label) as cursor:
        known = cursor.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = ? "
            "AND table_schema NOT IN ('information_schema', 'pg_catalog') AND (table_type = 'BASE TABLE' OR ?) "
            "ORDER BY ALL",
            [catalog, views],
        ).fetchall()
    schema, name = chosen(place, known)
    session.read_tables.add((target, schema, name))
    return _queried(session, table, ".".join(map(quoted, (catalog, schema, name))), missing)


def _open_expression(session: DatabaseSession, expression: Any, how: Opening) -> DuckDBSource:
    """An expression of Ibis, which is queried in its database; where that cannot be, its rows are copied."""
    names = tuple(checked_names(expression.columns, expressions.LABEL, rename=how.rename_duplicates))
    missing = opening.spellings_of(how.missing)
    queried = expressions.in_place(expression)
    if queried is not None:
        source = replace(_queried(queried[0], expressions.LABEL, queried[1], missing), names=names)
    else:
        source = DuckDBSource(
            session, expressions.LABEL, names, missing=missing,
            stream=lambda: map(_plain, expressions.rows(expression)),
        )  # fmt: skip
    return replace(_check_columns(source), opened=MemorySource(names, native="pyarrow"))


def _queried(session: DatabaseSession, label: str, relation: str, missing: tuple[str, ...]) -> DuckDBSource:
    """A relation of a database that the session works in."""
    kinds = session.types_of(relation, what=label)
    # Arrow has no plain type for these, and their texts say all that they hold.
    selected = (
        f"CAST({quoted(name)} AS VARCHAR)" if kind.startswith("ENUM") or kind == "UUID" else quoted(name)
        for name, kind in kinds.items()
    )
    place = f"(SELECT {', '.join(selected)} FROM {relation})"
    return _check_columns(DuckDBSource(session, label, tuple(kinds), place=place, missing=missing))


def _check_columns(source: DuckDBSource) -> DuckDBSource:
    """Refuses types that DuckDB would change, and names that it takes for the same."""
    for name in source.names:
        kind = source.type_of(name)
        if kind is not None and _changes(kind, copied=source.place is None):
            raise InputError(
                f"{source.label}: column {name!r} holds {kind}, which DuckDB cannot keep as it is; "
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
    inner = (kind.field(at).type for at in range(kind.num_fields))
    return any(_changes(each, copied=copied, inside=True) for each in inner)
