"""What the Spark engine publishes: rows on the cluster, and the files made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.classes import Classes
from shoal.core.contracts.table import Trees
from shoal.core.grouping import Counts
from shoal.core.run import Run
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.published_table import MemoryPublished, QueriedPublished, group_texts, grouped_names
from shoal.engines.common.writing import format_of, write
from shoal.engines.spark.encoding import join_dictionary
from shoal.engines.spark.hashing import RowHash, ascending, hash_of, row_hash, signed
from shoal.engines.spark.session import ClusterSession, map_batches
from shoal.engines.spark.source import SparkSource, loadable
from shoal.engines.spark.writing import FileWriter, in_files, repeat, repeat_on_cluster
from shoal.errors import InputError, OutputError
from shoal.storage.files import in_folder, piece

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True, eq=False)
class ListedColumn:
    """A column: the stored one that it follows from, and, where that is a number, what each number is published as.

    `kind` is the Spark type of the published values, `source_type` the Arrow type that they had at the source, where
    these are others than follow from the values.
    """

    name: str
    stored: str
    source_type: pa.DataType | None = None
    values: pa.Array | None = None
    kind: DataType | None = None


@dataclass(frozen=True, eq=False, repr=False)
class SparkPublished(QueriedPublished):
    """A published table: the distinct `rows` as they are stored, as numbers where they can be, with how often each
    occurs as `times`, and what the numbers mean.

    The hash of a row, as it is published, settles its place; rows that were `read` from a file are in its order, and
    each is there once.
    """

    session: ClusterSession
    rows: DataFrame
    columns: tuple[ListedColumn, ...]
    source: SparkSource | None = None
    read: bool = False

    @cached_property
    def records(self) -> int:
        from pyspark.sql import functions as sql

        if self.read:
            return self.session.count(self.rows, what=self.label)
        counted = self.rows.agg(sql.sum("times").alias("n"))
        return int(self.session.fetch(counted, what=self.label)["n"][0].as_py() or 0)

    def _distinct_rows(self, names: Sequence[str], count: str | None = None) -> tuple[list[pa.ChunkedArray], Counts]:
        """The distinct rows of some columns as they are stored, counted on the cluster, and published here."""
        from pyspark.sql import functions as sql

        chosen = [self._column(name) for name in (*names, *([] if count is None else [count]))]
        stored = list(dict.fromkeys(column.stored for column in chosen))
        times = sql.lit(1) if self.read else sql.col("times")
        distinct = self.rows.groupBy(*stored).agg(sql.sum(times).alias("n"))
        counted = self.session.fetch(distinct, what=self.label)
        shown = [self._publish(column, counted[column.stored]) for column in chosen]
        counts: Counts = counted["n"].to_numpy()
        return (shown, counts) if count is None else (shown[:-1], counts * _counts(count, shown[-1]))

    def _publish(self, column: ListedColumn, stored: pa.ChunkedArray) -> pa.ChunkedArray:
        if column.values is None:
            return cast_back(stored, column.source_type)
        codes = stored.combine_chunks()
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, column.values)])

    def _distinct_values(self, name: str) -> pa.ChunkedArray:
        [column], _ = self._distinct_rows([name])
        return column

    def _in_order(self, names: Sequence[str]) -> pa.Table:
        return repeat(self.session.fetch(self._ordered_rows(names), what=self.label))

    def group(
        self, attributes: Sequence[str], sensitive: Trees, *, count: str | None = None, person: str | None = None
    ) -> Classes:
        names = grouped_names(attributes, sensitive, person)
        shown, weights = self._distinct_rows(names, count)
        columns = {name: self._texts(name, column) for name, column in zip(names, shown, strict=True)}
        return group_texts(columns, attributes, sensitive, person, weights)

    def count_rows(self, name: str) -> SparkPublished:
        """The distinct rows of the table, with how often each occurs in a column of that name."""
        from pyspark.sql import functions as sql

        shown, here = self._shown(self.names)
        distinct = shown.groupBy(*here).agg(sql.sum("times").alias("count"))
        columns = [
            replace(column, stored=stored, values=None) for column, stored in zip(self.columns, here, strict=True)
        ]
        rows = self.session.hold(distinct.withColumn("times", sql.lit(1)))
        return replace(self, rows=rows, columns=(*columns, ListedColumn(name, "count")), books={}, _labels={})

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
            rows = join_dictionary(self.session, rows, {stored: pa.array(numbers)}, values, kinds)
        plain = [column for column in chosen if column.values is None]
        if hashes is not None and plain:
            function = RowHash(tuple(column.name for column in plain), tuple(column.source_type for column in plain))
            hashes.append(hash_of([column.stored for column in plain], function))
        return rows, [here[name] for name in names]

    def _loadable(self, column: ListedColumn) -> pa.Array:
        assert column.values is not None
        return loadable(column.values) if self.opened is not None or column.kind is None else column.values

    def _with_hashes(self, names: Sequence[str]) -> DataFrame:
        """Published columns, called `x0`, `x1` and so on, with `times`, and as `place` what the rows are ordered by."""
        from pyspark.sql import functions as sql

        if self.read:
            assert self.source is not None
            placed_rows = self.source.with_places(names).withColumn("times", sql.lit(1))
            here = [self.source.column(name) for name in names]
            place = sql.col("place")
        else:
            parts: list[Column] = []
            placed_rows, here = self._shown(names, hashes=parts)
            place = ascending(row_hash(parts))
        wanted = (sql.col(column).alias(f"x{at}") for at, column in enumerate(here))
        return placed_rows.select(*wanted, "times", place.alias("place"))

    def _ordered_rows(self, names: Sequence[str]) -> DataFrame:
        """Published columns, called `x0`, `x1` and so on, with `times`, in their order."""
        return self._with_hashes(names).orderBy("place").drop("place")

    def frame(self) -> Any:
        """Spark, pandas, polars or Arrow, as it came in; polars, which must be installed, for what came from a file."""
        if self.source is not None and self.source.unordered:
            return repeat_on_cluster(self._ordered_rows(self.names)).toDF(*self.names)
        return super().frame()

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        """The files of a folder are written by the workers, each by one. The pieces of a single file come to the driver
        one after the other. Both write as the embedded engine does, so that values are spelled alike."""
        rows = self._ordered_rows(self.names)
        form = format_of(path)
        schema = self._cast_back(self.session.fetch(rows.limit(0), what=self.label), form).schema
        try:
            if in_folder(path):
                self._write_folder(path, schema, rows_per_file, run)
                return
            with self.session.stopped_by(run, "writing"):
                pieces = map(repeat, self.session.batches(rows, what=self.label))
                write(path, schema, (self._cast_back(each, form) for each in pieces), self.opened)
        except InputError:
            raise OutputError(f"{path.name}: could not be written; is the disk full?") from None

    def _write_folder(self, path: Path, schema: pa.Schema, rows_per_file: int, run: Run) -> None:
        path.mkdir()
        files = -(-self.records // rows_per_file)
        if not files:
            write(piece(path, 0), schema, [schema.empty_table()])
            return
        with self.session.stopped_by(run, "writing", lambda: len(list(path.glob("part-*"))) / files):
            rows = in_files(self.session, self._with_hashes(self.names), files, rows_per_file)
            hidden = {} if self.opened is None else self.opened.hidden_codes()
            writer = FileWriter(str(path), schema, hidden)
            self.session.fetch(map_batches(rows, writer, "file int"), what=path.name)
        for beside in path.glob(".*"):  # what a worker left that was lost
            beside.unlink()
        if sorted(path.iterdir()) != [piece(path, number) for number in range(files)]:
            raise OutputError(f"{path.name}: the workers did not write it here; is this a folder that all of them see?")


def _counts(name: str, column: pa.ChunkedArray) -> Counts:
    """A column that counts equal rows."""
    return MemoryPublished(pa.table({name: column})).counts(name)
