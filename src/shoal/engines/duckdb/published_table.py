"""What the DuckDB engine publishes: a relation in the database or a file, and the files made from it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.classes import Classes
from shoal.core.contracts.table import Trees
from shoal.core.run import Run
from shoal.core.schema import Notation
from shoal.engines.common.column_types import plain_values
from shoal.engines.common.published_table import QueriedPublished, grouped_names, leaves_of
from shoal.engines.common.source import changed
from shoal.engines.common.writing import format_of, write
from shoal.engines.duckdb.databases import Connection
from shoal.engines.duckdb.encoding import Distinct, DuckDBTally, distinct, translation
from shoal.engines.duckdb.hashing import cell_hash, row_hash
from shoal.engines.duckdb.session import DatabaseSession, Stored, literal, quoted
from shoal.engines.duckdb.source import open_source, open_stored
from shoal.errors import InputError, OutputError
from shoal.storage.files import in_folder, piece

BLOCK = 1024
"""Equal rows that are made at a time."""

LISTED = 1 << 14
"""Different texts of a column up to which they are listed while it is written."""


@dataclass(frozen=True)
class ExpressedColumn:
    """A column: the stored one that it follows from, the type that it came with, and its published value."""

    name: str
    stored: str
    source_type: pa.DataType | None
    value: str


@dataclass(frozen=True, eq=False, repr=False)
class DuckDBPublished(QueriedPublished):
    """A published table: the `rows`, called `r` in expressions, and the dictionaries that are joined to them.

    `joins` has, by the stored column that is looked up, its dictionary, which goes by that column's name, and the key
    there. The sum of the `hashes` of a row settles its place. With `repeated`, a row stands for as many equal ones as
    its column `n` says. What the rows are read from is dropped with what is `needed`.
    """

    session: DatabaseSession
    rows: str
    columns: tuple[ExpressedColumn, ...]
    hashes: tuple[str, ...] = ()
    joins: Mapping[str, tuple[Stored, str]] = field(default_factory=dict)
    needed: Any = None
    repeated: bool = False

    @cached_property
    def records(self) -> int:
        return int(self.session.value(f"SELECT coalesce({self._weight}, 0) FROM {self.rows} AS r", what=self.label))

    @property
    def _weight(self) -> str:
        """How many rows stand there, as a sum."""
        return "sum(n)" if self.repeated else "count(*)"

    def _joined(self, rows: str, stored: Sequence[str]) -> str:
        joins = [
            f"JOIN {table} AS {here} ON {here}.{key} = r.{here}"
            for here, (table, key) in self.joins.items()
            if here in stored
        ]
        return " ".join((f"{rows} AS r", *joins))

    def _counted(self, names: Sequence[str], count: str | None = None) -> str:
        """A relation in which some columns have their published values, and a row stands for `n` records.

        What is stored as numbers is counted as such first, and looked up after that.
        """
        times = None if count is None else f"CAST({self._column(count).stored} AS BIGINT)"
        if not self.joins:
            return f"(SELECT *, {'n' if self.repeated else times or '1'} AS n FROM {self.rows}) AS r"
        stored = list(dict.fromkeys(self._column(name).stored for name in names))
        weight = self._weight if times is None else f"sum({times})"
        rows = f"(SELECT {', '.join((*stored, f'CAST({weight} AS BIGINT) AS n'))} FROM {self.rows} GROUP BY ALL)"
        return self._joined(rows, stored)

    def _distinct(self, name: str) -> Distinct:
        column, origin = self._column(name), self._counted([name])
        return distinct(
            self.session, column.value, origin, weight="sum(r.n)", source_type=column.source_type, what=self.label
        )

    def _distinct_values(self, name: str) -> pa.ChunkedArray:
        return self._distinct(name).values

    def _in_order(self, names: Sequence[str]) -> pa.Table:
        ordered = self._ordered_values({name: self._column(name).value for name in names})
        return self.session.fetch(ordered, what=self.label)

    def group(
        self, attributes: Sequence[str], sensitive: Trees, *, count: str | None = None, person: str | None = None
    ) -> Classes:
        if count is not None:
            self._check_counts(count)
        names = grouped_names(attributes, sensitive, person)
        columns, trees = {}, dict(sensitive)
        for name in names:
            listed = self._distinct(name)
            (codes, labels), tree = self._texts(name, listed.values), trees.get(name)
            size = len(labels)
            if tree is not None:
                codes, size = leaves_of(name, labels, tree)[codes], tree.size
            columns[name] = self._column(name).value, translation(self.session, listed, codes), size
        origin = self._counted(names, count)
        tally = DuckDBTally.of(self.session, origin, columns, weight="sum(r.n)", what=self.label)
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

    def count_rows(self, name: str) -> DuckDBPublished:
        """The distinct rows of the table, with how often each occurs in a column of that name."""
        named = ", ".join(f"{column.value} AS v{at}" for at, column in enumerate(self.columns))
        tallied = self.session.create(
            f"SELECT {named}, CAST(sum(r.n) AS BIGINT) AS n FROM {self._counted(self.names)} GROUP BY ALL",
            what=self.label,
        )
        kinds = list(self.session.types_of(str(tallied)).values())
        columns = [
            ExpressedColumn(column.name, f"v{at}", column.source_type, f"r.v{at}")
            for at, column in enumerate(self.columns)
        ]
        columns.append(ExpressedColumn(name, "n", None, "r.n"))
        hashes = [
            cell_hash(column.name, column.value, kind, column.source_type)
            for column, kind in zip(columns, kinds, strict=True)
        ]
        bare = replace(self, books={}, joins={}, repeated=False, _labels={})
        return replace(bare, rows=str(tallied), columns=tuple(columns), hashes=tuple(hashes), needed=tallied)

    @property
    def _ordered_rows(self) -> str:
        """The published rows in their order."""
        return self._ordered_values({column.name: column.value for column in self.columns})

    def _ordered_values(self, values: Mapping[str, str]) -> str:
        """The published rows in their order, of such values by the names of the columns."""
        selected = [f"{value} AS {quoted(name)}" for name, value in values.items()]
        order = f" ORDER BY {row_hash(self.hashes)}" if self.hashes else ""
        times = ["n AS times"] if self.repeated else []
        ordered = f"SELECT {', '.join((*selected, *times))} FROM {self._joined(self.rows, list(self.joins))}{order}"
        return _repeat(list(values), ordered) if self.repeated else ordered

    def _listed_values(self) -> dict[str, str]:
        """The values of the columns, texts of dictionaries as members of a list: then rows are sorted, repeated and
        written as numbers, many times faster. The list has what is published and nothing else."""
        values = {}
        for column in self.columns:
            values[column.name] = column.value
            if column.stored not in self.joins:
                continue
            texts = self.session.fetch(
                f"SELECT DISTINCT {column.value} AS value FROM {self._counted([column.name])} "
                f"WHERE value IS NOT NULL ORDER BY value LIMIT {LISTED + 1}",
                what=self.label,
            )["value"]
            if pa.types.is_string(texts.type) and 0 < len(texts) <= LISTED:
                listed = ", ".join(map(literal, texts.to_pylist()))
                values[column.name] = f"CAST({column.value} AS ENUM({listed}))"
        return values

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        if str(path) in self.session.writers:
            self._store(self.session.writers[str(path)], run)
            return
        if not in_folder(path):
            with self.session.stopped_by(run, "writing"):
                typed = format_of(path) == "parquet"
                self._write(path, self._ordered_values(self._listed_values()) if typed else self._ordered_rows)
            return
        path.mkdir()
        first = 0
        with self.session.stopped_by(run):
            for number, rows in enumerate(self._cut(rows_per_file)):
                run.report(first / max(self.records, 1), "writing")
                self._write(piece(path, number), rows)
                first += rows_per_file

    def _store(self, connection: Connection, run: Run) -> None:
        """Writes the table to a database, in the transaction of a connection."""
        with self.session.stopped_by(run):
            empty = self._cast_back(self.session.fetch(f"SELECT * FROM ({self._ordered_rows}) LIMIT 0")).schema
            pieces = (self._cast_back(pa.table(batch)) for batch in self.session.batches(self._ordered_rows))
            connection.store(empty, (batch for piece in pieces for batch in piece.to_batches()))

    def digest(self) -> str:
        """A hash of all rows in whatever order: that of the sorted hashes of the distinct ones with how often each
        occurs, in 256 parts, so that none has to be in memory as a whole."""
        cells = ", ".join(f"coalesce('=' || CAST({column.value} AS VARCHAR), '~')" for column in self.columns)
        hashed = f"sha256(CAST([{cells}] AS VARCHAR)) AS row"
        rows = f"SELECT {hashed}, CAST(sum(r.n) AS BIGINT) AS n FROM {self._counted(self.names)} GROUP BY 1"
        parts = self.session.fetch(
            "SELECT sha256(string_agg(row || ' ' || n, chr(10) ORDER BY row)) AS part, row[1:2] AS start "
            f"FROM ({rows}) GROUP BY start ORDER BY start",
            what=self.label,
        )["part"]
        return hashlib.sha256("\n".join([*self.names, *parts.to_pylist()]).encode()).hexdigest()

    def _cut(self, rows: int) -> Iterator[str]:
        """The published rows in their order, so many at a time: they are ordered once, then taken from there."""
        if self.records <= rows:
            yield self._ordered_values(self._listed_values())
            return
        if not self.repeated:
            ordered = self.session.create(self._ordered_values(self._listed_values()), what=self.label)
            for first in range(0, self.records, rows):
                yield f"SELECT * FROM {ordered} WHERE rowid >= {first} AND rowid < {first + rows} ORDER BY rowid"
            return
        values = [f"{value} AS {quoted(name)}" for name, value in self._listed_values().items()]
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
            yield _repeat(self.names, cut)

    def _write(self, path: Path, rows: str) -> None:
        """Parquet is written by DuckDB, unless a column came with a type that DuckDB does not write. All else is
        written as the embedded engine does it, batch by batch, so that both engines spell values alike."""
        try:
            empty = self.session.fetch(f"SELECT * FROM ({self._ordered_rows}) LIMIT 0")
            form = format_of(path)
            schema = self._cast_back(empty, form).schema
            as_stored = self.opened is None or not self.opened.coded
            if form == "parquet" and as_stored and all(map(_alike, empty.schema.types, schema.types)):
                self.session.execute(f"COPY ({rows}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)")
                return
            pieces = (self._cast_back(_plain(batch), form) for batch in self.session.batches(rows))
            write(path, schema, pieces, self.opened)
        except InputError:
            raise OutputError(f"{path.name}: could not be written; is the disk full?") from None


def _repeat(names: Sequence[str], rows: str) -> str:
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


def _alike(here: pa.DataType, there: pa.DataType) -> bool:
    """Whether two types are the same in a file."""
    return here == there or bool(here == pa.string() and there == pa.large_string())


def open_published(
    session: DatabaseSession, path: Path, notations: Mapping[str, Notation] | None = None
) -> DuckDBPublished:
    """A release, as it was published; `notations` say how the values of its columns are spelled."""
    writer = session.writers.get(str(path))
    if writer is None:
        source = open_source(session, path, views=False)
    else:
        source = open_stored(session, writer.spot, writer=writer)
    selected = ", ".join(f"s.{quoted(name)} AS x{at}" for at, name in enumerate(source.names))
    columns = tuple(
        ExpressedColumn(name, f"x{at}", source.type_of(name), f"r.x{at}") for at, name in enumerate(source.names)
    )
    rows = f"(SELECT {selected} FROM {source.relation})"
    return DuckDBPublished(
        session, rows, columns, source.opened, label=path.name, notations=notations or {}, needed=source
    )
