"""What the DuckDB engine publishes: a relation in the database or a file, and the files made from it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.classes import Classes
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.engines.common import source as shared
from shoal.engines.common.encoding import as_came, plain_values
from shoal.engines.common.published_table import (
    MemoryPublished,
    as_texts,
    format_of,
    leaves_of,
    places_among,
    write,
)
from shoal.engines.duckdb.databases import Connection
from shoal.engines.duckdb.encoding import Distinct, Tally, distinct, translation
from shoal.engines.duckdb.hashing import cell_hash, row_hash
from shoal.engines.duckdb.session import Session, Stored, literal, quoted
from shoal.engines.duckdb.source import changed, open_source, open_stored
from shoal.errors import InputError, OutputError, unknown_columns
from shoal.storage.files import in_folder, piece

BLOCK = 1024
"""Equal rows that are made at a time."""

LISTED = 1 << 14
"""Different texts of a column up to which they are listed while it is written."""


@dataclass(frozen=True)
class PublishedColumn:
    """A column: the stored one that it follows from, its published value, and the type that it came with."""

    name: str
    stored: str
    value: str
    came: pa.DataType | None = None


@dataclass(frozen=True, eq=False)
class DuckDBPublished:
    """A published table: the `rows`, called `r` in expressions, and the dictionaries that are joined to them.

    `joins` has, by the stored column that is looked up, its dictionary, which goes by that column's name, and the key
    there. The sum of the `hashes` of a row settles its place. With `repeated`, a row stands for as many equal ones as
    its column `n` says. `held` keeps what the rows are read from; `kinds` say what the values of columns are.
    """

    session: Session
    rows: str
    columns: tuple[PublishedColumn, ...]
    hashes: tuple[str, ...] = ()
    joins: Mapping[str, tuple[Stored, str]] = field(default_factory=dict)
    held: tuple[Any, ...] = ()
    opened: shared.Source | None = None
    books: Mapping[str, pa.Array] = field(default_factory=dict)
    label: str = "the release"
    repeated: bool = False
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    _known: dict[str, list[str | None]] = field(default_factory=dict)

    @cached_property
    def records(self) -> int:
        return int(self.session.value(f"SELECT coalesce({self._weight}, 0) FROM {self.rows} AS r", what=self.label))

    @property
    def _weight(self) -> str:
        """How many rows stand there, as a sum."""
        return "sum(n)" if self.repeated else "count(*)"

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def _column(self, name: str) -> PublishedColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_columns([name], self.names)

    def _joined(self, rows: str, stored: Sequence[str]) -> str:
        joins = [
            f"JOIN {table} AS {here} ON {here}.{key} = r.{here}"
            for here, (table, key) in self.joins.items()
            if here in stored
        ]
        return " ".join((f"{rows} AS r", *joins))

    def _values(self, names: Sequence[str], count: str | None = None) -> tuple[str, dict[str, str]]:
        """A relation with how many records a row stands for as `n`, and the expression of each column's published
        value there.

        What is stored as numbers is counted as such first, and looked up after that.
        """
        chosen = [self._column(name) for name in names]
        if not self.joins:
            each = "n" if self.repeated else "1" if count is None else f"CAST({self._column(count).stored} AS BIGINT)"
            return f"(SELECT *, {each} AS n FROM {self.rows}) AS r", {column.name: column.value for column in chosen}
        stored = list(dict.fromkeys(column.stored for column in chosen))
        weight = self._weight if count is None else f"sum(CAST({self._column(count).stored} AS BIGINT))"
        rows = f"(SELECT {', '.join((*stored, f'CAST({weight} AS BIGINT) AS n'))} FROM {self.rows} GROUP BY ALL)"
        return self._joined(rows, stored), {column.name: column.value for column in chosen}

    def _distinct(self, name: str) -> Distinct:
        origin, values = self._values([name])
        came = self._column(name).came
        return distinct(self.session, values[name], origin, weight="sum(r.n)", came=came, what=self.label)

    def _labelled(self, name: str, found: Distinct) -> Codes:
        """The position of each distinct value of a column among its labels."""
        codes, labels = as_texts(name, found.values, self.kinds.get(name))
        self._known[name] = labels
        return codes

    def labels(self, name: str) -> Sequence[str | None]:
        if name not in self._known:
            self._labelled(name, self._distinct(name))
        return self._known[name]

    def codes(self, name: str) -> Codes:
        column = self.session.fetch(f"SELECT {quoted(name)} FROM ({self._ordered})", what=self.label)[name]
        return as_texts(name, as_came(column, self._column(name).came), self.kinds.get(name))[0]

    def places(self, name: str) -> Codes:
        return places_among(self.labels(name), self.books[name], self.kinds.get(name))

    def group(
        self,
        attributes: Sequence[str],
        sensitive: Sequence[tuple[str, Hierarchy | None]],
        *,
        count: str | None = None,
        person: str | None = None,
    ) -> Classes:
        if count is not None:
            self._check_counts(count)
        names = [*attributes, *(name for name, _ in sensitive), *([] if person is None else [person])]
        origin, values = self._values(names, count)
        columns, trees = {}, dict(sensitive)
        for name in names:
            found = self._distinct(name)
            places, tree = self._labelled(name, found), trees.get(name)
            size = len(self._known[name])
            if tree is not None:
                places, size = leaves_of(name, self._known[name], tree)[places], tree.size
            columns[name] = values[name], translation(self.session, found, places), size
        tally = Tally.of(self.session, origin, columns, weight="sum(r.n)", what=self.label)
        if count is None and tally.records != self.records:
            raise changed(self.label)
        return tally.classes(attributes, sensitive, person=person)

    def _check_counts(self, name: str) -> None:
        """A column that counts equal rows holds whole numbers."""
        stored = self._column(name).stored
        odd = self.session.value(
            f"SELECT count(*) FROM {self.rows} AS r WHERE {stored} IS NULL "
            f"OR NOT regexp_full_match(trim(CAST({stored} AS VARCHAR)), '[0-9]{{1,18}}')",
            what=self.label,
        )
        if odd:
            raise InputError(f"column {name!r} of the release should hold counts, and does not")

    def counted(self, name: str) -> DuckDBPublished:
        """The distinct rows of the table, with how often each occurs in a column of that name."""
        origin, values = self._values(self.names)
        named = ", ".join(f"{value} AS v{at}" for at, value in enumerate(values.values()))
        tallied = self.session.create(
            f"SELECT {named}, CAST(sum(r.n) AS BIGINT) AS n FROM {origin} GROUP BY ALL", what=self.label
        )
        kinds = list(self.session.described(str(tallied)).values())
        columns = [
            PublishedColumn(column.name, f"v{at}", f"r.v{at}", column.came) for at, column in enumerate(self.columns)
        ]
        columns.append(PublishedColumn(name, "n", "r.n"))
        hashes = [cell_hash(each.name, each.value, kind, each.came) for each, kind in zip(columns, kinds, strict=True)]
        return DuckDBPublished(
            self.session, str(tallied), tuple(columns), tuple(hashes), held=(tallied,), opened=self.opened,
            kinds=self.kinds,
        )  # fmt: skip

    @property
    def _ordered(self) -> str:
        """The published rows in their order."""
        return self._in_order({column.name: column.value for column in self.columns})

    def _in_order(self, values: Mapping[str, str]) -> str:
        """The published rows in their order, of such values by the names of the columns."""
        selected = [f"{value} AS {quoted(name)}" for name, value in values.items()]
        order = f" ORDER BY {row_hash(self.hashes)}" if self.hashes else ""
        times = ["n AS times"] if self.repeated else []
        ordered = f"SELECT {', '.join((*selected, *times))} FROM {self._joined(self.rows, list(self.joins))}{order}"
        if not self.repeated:
            return ordered
        return _repeated(list(values), ordered)

    def _enumerated(self) -> dict[str, str]:
        """The values of the columns, texts of dictionaries as members of a list: then rows are sorted, repeated and
        written as numbers, many times faster. The list has what is published and nothing else."""
        values = {}
        for column in self.columns:
            values[column.name] = column.value
            if column.stored not in self.joins:
                continue
            origin, value = self._values([column.name])
            texts = self.session.fetch(
                f"SELECT DISTINCT {value[column.name]} AS value FROM {origin} WHERE value IS NOT NULL ORDER BY value "
                f"LIMIT {LISTED + 1}",
                what=self.label,
            )["value"]
            if pa.types.is_string(texts.type) and 0 < len(texts) <= LISTED:
                listed = ", ".join(map(literal, texts.to_pylist()))
                values[column.name] = f"CAST({column.value} AS ENUM({listed}))"
        return values

    def _as_came(self, table: pa.Table) -> pa.Table:
        columns = [as_came(table[at], column.came) for at, column in enumerate(self.columns)]
        return pa.table(columns, names=self.names)

    def frame(self) -> Any:
        """pandas, polars or Arrow, as it came in; polars for what came from a file."""
        table = self._as_came(self.session.fetch(self._ordered, what=self.label))
        opened = self.opened
        if opened is None or opened.frame is None:
            return MemoryPublished(table).frame()
        return MemoryPublished(table, opened.native, None, opened.frame.schema, opened.dtypes).frame()

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        if str(path) in self.session.stored:
            self.store(self.session.stored[str(path)], run)
            return
        if not in_folder(path):
            with self.session.stopped_by(run, "writing"):
                self._write(path, self._in_order(self._enumerated()) if format_of(path) == "parquet" else self._ordered)
            return
        path.mkdir()
        first = 0
        with self.session.stopped_by(run):
            for number, rows in enumerate(self._cut(rows_per_file)):
                run.report(first / max(self.records, 1), "writing")
                self._write(piece(path, number), rows)
                first += rows_per_file

    def store(self, connection: Connection, run: Run) -> None:
        """Writes the table to a database, in the transaction of a connection."""
        with self.session.stopped_by(run):
            empty = self._as_came(self.session.fetch(f"SELECT * FROM ({self._ordered}) LIMIT 0")).schema
            pieces = (self._as_came(pa.table(batch)) for batch in self.session.batches(self._ordered))
            connection.store(empty, (batch for piece in pieces for batch in piece.to_batches()))

    def digest(self) -> str:
        """A hash of all rows in whatever order: that of the sorted hashes of the distinct ones with how often each
        occurs, in 256 parts, so that none has to be in memory as a whole."""
        origin, values = self._values(self.names)
        cells = ", ".join(f"coalesce('=' || CAST({value} AS VARCHAR), '~')" for value in values.values())
        rows = (
            f"SELECT sha256(CAST([{cells}] AS VARCHAR)) AS row, CAST(sum(r.n) AS BIGINT) AS n FROM {origin} GROUP BY 1"
        )
        parts = self.session.fetch(
            "SELECT sha256(string_agg(row || ' ' || n, chr(10) ORDER BY row)) AS part, row[1:2] AS start "
            f"FROM ({rows}) GROUP BY start ORDER BY start",
            what=self.label,
        )["part"]
        return hashlib.sha256("\n".join([*self.names, *parts.to_pylist()]).encode()).hexdigest()

    def _cut(self, rows: int) -> Iterator[str]:
        """The published rows in their order, so many at a time: they are ordered once, then taken from there."""
        names = [column.name for column in self.columns]
        if self.records <= rows:
            yield self._in_order(self._enumerated())
            return
        if not self.repeated:
            ordered = self.session.create(self._in_order(self._enumerated()), what=self.label)
            for first in range(0, self.records, rows):
                yield f"SELECT * FROM {ordered} WHERE rowid >= {first} AND rowid < {first + rows} ORDER BY rowid"
            return
        values = [f"{value} AS {quoted(name)}" for name, value in self._enumerated().items()]
        order = f"ORDER BY {row_hash(self.hashes)}"
        ordered = self.session.create(
            f"SELECT {', '.join(values)}, r.n AS times, "
            f"CAST(sum(r.n) OVER ({order} ROWS UNBOUNDED PRECEDING) AS BIGINT) AS until "
            f"FROM {self._joined(self.rows, list(self.joins))}",
            what=self.label,
        )
        for first in range(0, self.records, rows):
            last = first + rows
            cut = (
                f"SELECT * REPLACE (least(until, {last}) - greatest(until - times, {first}) AS times) FROM {ordered} "
                f"WHERE until > {first} AND until - times < {last} ORDER BY until"
            )
            yield _repeated(names, cut)

    def _write(self, path: Path, rows: str) -> None:
        """Parquet is written by DuckDB, unless a column came with a type that DuckDB does not write. All else is
        written as the embedded engine does it, batch by batch, so that both engines spell values alike."""
        try:
            empty = self.session.fetch(f"SELECT * FROM ({self._ordered}) LIMIT 0")
            schema = self._as_came(empty).schema
            if format_of(path) == "parquet" and all(map(_alike, empty.schema.types, schema.types)):
                self.session.execute(f"COPY ({rows}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)")
                return
            pieces = (self._as_came(_plain(batch)) for batch in self.session.batches(rows))
            opened = self.opened
            if opened is None:
                write(path, schema, pieces, None)
            else:
                write(path, schema, pieces, opened.dialect, opened.nominal)
        except InputError:
            raise OutputError(f"{path.name}: could not be written; is the disk full?") from None


def _repeated(names: Sequence[str], rows: str) -> str:
    """Columns of rows, each as often as `times` says. Equal rows stand together whatever orders them. They are made in
    blocks: a list of all would fill memory."""
    chosen = ", ".join(map(quoted, names))
    blocks = f"SELECT {chosen}, times, unnest(range(0, times, {BLOCK})) AS first FROM ({rows})"
    return (
        f"SELECT {chosen} FROM (SELECT {chosen}, unnest(range(least({BLOCK}, times - first))) AS copy FROM ({blocks}))"
    )


def _plain(batch: pa.RecordBatch) -> pa.Table:
    """A batch with listed texts as texts."""
    return pa.table({name: plain_values(pa.chunked_array([batch[name]])) for name in batch.schema.names})


def _alike(here: pa.DataType, came: pa.DataType) -> bool:
    """Whether two types are the same in a file."""
    return here == came or bool(here == pa.string() and came == pa.large_string())


def open_published(session: Session, path: Path, kinds: Mapping[str, Kind] | None = None) -> DuckDBPublished:
    """A release, as it was published; `kinds` say what the values of its columns are."""
    held = session.stored.get(str(path))
    source = open_source(session, path, views=False) if held is None else open_stored(session, held.spot, held=held)
    selected = ", ".join(f"s.{quoted(name)} AS x{at}" for at, name in enumerate(source.names))
    columns = tuple(
        PublishedColumn(name, f"x{at}", f"r.x{at}", source.came(name)) for at, name in enumerate(source.names)
    )
    rows = f"(SELECT {selected} FROM {source.relation})"
    return DuckDBPublished(
        session, rows, columns, held=(source,), opened=source.opened, label=path.name, kinds=kinds or {}
    )
