"""What the Spark engine publishes: rows on the cluster, and the files made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.classes import Classes, summarize
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.engines.common.encoding import as_came
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.published_table import MemoryPublished, as_texts, leaves_of, places_among, write
from shoal.engines.spark.encoding import looked_up
from shoal.engines.spark.hashing import RowHash, ascending, hashed, row_hash, signed
from shoal.engines.spark.session import Session, mapped
from shoal.engines.spark.source import Source, loadable
from shoal.engines.spark.writing import FileWriter, in_files, repeated, repeated_there
from shoal.errors import InputError, OutputError, unknown_columns
from shoal.storage.files import in_folder, piece

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """A column: the stored one that it follows from, and, where that is a number, what each number is published as.

    `kind` is the Spark type of the published values, `came` the Arrow type that they had at the source, where these are
    others than follow from the values.
    """

    name: str
    stored: str
    values: pa.Array | None = None
    kind: DataType | None = None
    came: pa.DataType | None = None


@dataclass(frozen=True, eq=False, repr=False)
class SparkPublished:
    """A published table: the distinct `rows` as they are stored, as numbers where they can be, with how often each
    occurs as `times`, and what the numbers mean.

    The hash of a row, as it is published, settles its place; rows that were `read` from a file are in its order, and
    each is there once. `kinds` say what the values of columns are.
    """

    session: Session
    rows: DataFrame
    columns: tuple[PublishedColumn, ...]
    source: Source
    books: Mapping[str, pa.Array] = field(default_factory=dict)
    read: bool = False
    label: str = "the release"
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    _known: dict[str, list[str | None]] = field(default_factory=dict)

    @cached_property
    def records(self) -> int:
        from pyspark.sql import functions as sql

        if self.read:
            return self.session.count(self.rows, what=self.label)
        counted = self.rows.agg(sql.sum("times").alias("n"))
        return int(self.session.fetch(counted, what=self.label)["n"][0].as_py() or 0)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def _column(self, name: str) -> PublishedColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_columns([name], self.names)

    def _tallied(self, names: Sequence[str], count: str | None = None) -> tuple[list[pa.ChunkedArray], Counts]:
        """The distinct rows of some columns as they are stored, counted on the cluster, and published here."""
        from pyspark.sql import functions as sql

        chosen = [self._column(name) for name in (*names, *([] if count is None else [count]))]
        stored = list(dict.fromkeys(column.stored for column in chosen))
        times = sql.lit(1) if self.read else sql.col("times")
        grouped = self.rows.groupBy(*stored).agg(sql.sum(times).alias("n"))
        found = self.session.fetch(grouped, what=self.label)
        shown = [self._published(column, found[column.stored]) for column in chosen]
        counts: Counts = found["n"].to_numpy()
        return (shown, counts) if count is None else (shown[:-1], counts * _counts(count, shown[-1]))

    def _published(self, column: PublishedColumn, stored: pa.ChunkedArray) -> pa.ChunkedArray:
        if column.values is None:
            return as_came(stored, column.came)
        codes = stored.combine_chunks()
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, column.values)])

    def labels(self, name: str) -> Sequence[str | None]:
        if name not in self._known:
            [column], _ = self._tallied([name])
            self._known[name] = as_texts(name, column, self.kinds.get(name))[1]
        return self._known[name]

    def codes(self, name: str) -> Codes:
        found = repeated(self.session.fetch(self._ordered([name]), what=self.label))
        return as_texts(name, as_came(found[0], self._column(name).came), self.kinds.get(name))[0]

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
        names = [*attributes, *(name for name, _ in sensitive), *([] if person is None else [person])]
        shown, weights = self._tallied(names, count)
        codes = {}
        for name, column in zip(names, shown, strict=True):
            codes[name], self._known[name] = as_texts(name, column, self.kinds.get(name))
        sizes = {name: len(self._known[name]) for name in names}
        columns: list[tuple[str, Codes, int, Hierarchy | None]] = []
        for name, tree in sensitive:
            if tree is None:
                columns.append((name, codes[name], sizes[name], None))
            else:
                columns.append((name, leaves_of(name, self._known[name], tree)[codes[name]], tree.size, tree))
        return summarize(
            attributes, [codes[name] for name in attributes], [sizes[name] for name in attributes], columns,
            weights=weights, person=None if person is None else (person, codes[person], sizes[person]),
        )  # fmt: skip

    def counted(self, name: str) -> SparkPublished:
        """The distinct rows of the table, with how often each occurs in a column of that name."""
        from pyspark.sql import functions as sql

        shown, here = self._shown(self.names)
        grouped = shown.groupBy(*here).agg(sql.sum("times").alias("count"))
        columns = [
            replace(column, stored=stored, values=None) for column, stored in zip(self.columns, here, strict=True)
        ]
        rows = self.session.held(grouped.withColumn("times", sql.lit(1)))
        return replace(self, rows=rows, columns=(*columns, PublishedColumn(name, "count")), books={}, _known={})

    def _shown(self, names: Sequence[str], *, hashes: list[Column] | None = None) -> tuple[DataFrame, list[str]]:
        """The rows with published values, and what these columns are called; the parts of the hashes of the rows, of
        all columns, are added to `hashes`."""
        from pyspark.sql import functions as sql

        rows, here = self.rows, {name: self._column(name).stored for name in names}
        chosen = self.columns if hashes is not None else [self._column(name) for name in names]
        for stored in dict.fromkeys(column.stored for column in chosen if column.values is not None):
            those = [column for column in chosen if column.stored == stored]
            places = {column.name: f"{stored}_{at}" for at, column in enumerate(those)}
            here.update({name: place for name, place in places.items() if name in here})
            values = {places[column.name]: self._loadable(column) for column in those}
            kinds = {places[column.name]: column.kind for column in those if column.kind is not None}
            if hashes is not None:
                values[f"{stored}_hash"] = signed(row_hashes([(column.name, column.values) for column in those]))
                hashes.append(sql.col(f"{stored}_hash"))
            numbers = np.arange(len(next(iter(values.values()))), dtype=np.int32)
            rows = looked_up(self.session, rows, {stored: pa.array(numbers)}, values, kinds)
        plain = [column for column in chosen if column.values is None]
        if hashes is not None and plain:
            function = RowHash(tuple(column.name for column in plain), tuple(column.came for column in plain))
            hashes.append(hashed([column.stored for column in plain], function))
        return rows, [here[name] for name in names]

    def _loadable(self, column: PublishedColumn) -> pa.Array:
        assert column.values is not None
        return loadable(column.values) if self.source.opened is not None or column.kind is None else column.values

    def _hashed(self, names: Sequence[str]) -> DataFrame:
        """Published columns, called `x0`, `x1` and so on, with `times`, and as `place` what the rows are ordered by."""
        from pyspark.sql import functions as sql

        if self.read:
            placed = self.source.placed(names).withColumn("times", sql.lit(1))
            here = [self.source.column(name) for name in names]
            place = sql.col("place")
        else:
            parts: list[Column] = []
            placed, here = self._shown(names, hashes=parts)
            place = ascending(row_hash(parts))
        wanted = (sql.col(column).alias(f"x{at}") for at, column in enumerate(here))
        return placed.select(*wanted, "times", place.alias("place"))

    def _ordered(self, names: Sequence[str]) -> DataFrame:
        """Published columns, called `x0`, `x1` and so on, with `times`, in their order."""
        return self._hashed(names).orderBy("place").drop("place")

    def _as_came(self, table: pa.Table) -> pa.Table:
        """Published rows of a query, each as often as it occurs, with the types that their columns came with."""
        rows = repeated(table)
        columns = [as_came(rows[at], column.came) for at, column in enumerate(self.columns)]
        return pa.table(columns, names=self.names)

    def frame(self) -> Any:
        """Spark, pandas, polars or Arrow, as it came in; polars for what came from a file."""
        opened = self.source.opened
        if self.source.unordered:
            return repeated_there(self._ordered(self.names)).toDF(*self.names)
        table = self._as_came(self.session.fetch(self._ordered(self.names), what=self.label))
        if opened is None or opened.frame is None:
            return MemoryPublished(table).frame()
        return MemoryPublished(table, opened.native, None, opened.frame.schema, opened.dtypes).frame()

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        """The files of a folder are written by the workers, each by one. The pieces of a single file come to the driver
        one after the other. Both write as the embedded engine does, so that values are spelled alike."""
        schema = self._as_came(self.session.fetch(self._ordered(self.names).limit(0), what=self.label)).schema
        try:
            if in_folder(path):
                self._write_folder(path, schema, rows_per_file, run)
                return
            opened = self.source.opened
            dialect, nominal = (None, frozenset[str]()) if opened is None else (opened.dialect, opened.nominal)
            with self.session.stopped_by(run, "writing"):
                pieces = map(self._as_came, self.session.batches(self._ordered(self.names), what=self.label))
                write(path, schema, pieces, dialect, nominal)
        except InputError:
            raise OutputError(f"{path.name}: could not be written; is the disk full?") from None

    def _write_folder(self, path: Path, schema: pa.Schema, rows_per_file: int, run: Run) -> None:
        path.mkdir()
        files = -(-self.records // rows_per_file)
        if not files:
            write(piece(path, 0), schema, [schema.empty_table()], None)
            return
        with self.session.stopped_by(run, "writing", lambda: len(list(path.glob("part-*"))) / files):
            rows = in_files(self.session, self._hashed(self.names), files, rows_per_file)
            writer = FileWriter(str(path), schema)
            self.session.fetch(mapped(rows, writer, "file int"), what=path.name)
        for beside in path.glob(".*"):  # what a worker left that was lost
            beside.unlink()
        if sorted(path.iterdir()) != [piece(path, number) for number in range(files)]:
            raise OutputError(f"{path.name}: the workers did not write it here; is this a folder that all of them see?")


def _counts(name: str, column: pa.ChunkedArray) -> Counts:
    """A column that counts equal rows."""
    return MemoryPublished(pa.table({name: column}))._counts(name)
