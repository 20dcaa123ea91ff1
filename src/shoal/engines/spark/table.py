"""The Spark table: rows stay on the cluster; the distinct combinations of codes are in the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.core.survey import spaced
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.table import QueriedTable
from shoal.engines.spark.encoding import SparkColumn, join_dictionary
from shoal.engines.spark.hashing import RowHash, ascending, hash_of
from shoal.engines.spark.identity import IdentifierHash, IdentifierText, LabelOf, PublishedSpelling
from shoal.engines.spark.session import compute
from shoal.engines.spark.source import SparkSource

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from shoal.core.blocks import Blocks
    from shoal.core.contracts.divisible import Work


@dataclass(frozen=True, eq=False, repr=False)
class SparkTable(QueriedTable):
    """A source, and the codes of its columns with a role.

    `weights` says how many records have each combination of codes; everything that is about classes comes from these.
    """

    source: SparkSource
    columns: Mapping[str, SparkColumn]
    weights: Counts = field(kw_only=True)

    @cached_property
    def records(self) -> int:
        return int(self.weights.sum())

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        return self.source.session.stopped_by(run, doing)

    def rows(self, names: Sequence[str] | None = None) -> DataFrame:
        """The records that are part of the table; with `names`, these columns of them and the `place` of each."""
        source = self.source
        every = source.rows if names is None else source.with_places(list(dict.fromkeys((*names, *self.dropping))))
        for name in self.dropping:
            values, _ = self.columns[name].included
            every = join_dictionary(self.session, every, {source.column(name): values}, {})
        for name, (least, greatest) in self.between.items():
            every = every.where(self.leaf(name).between(least, greatest))
        return every

    def leaf(self, name: str) -> Column:
        """The leaf of a record in a column."""
        return compute(self.columns[name].leaf_of, [self.source.column(name)], "int")

    def record_hash(self, seed: int) -> Column:
        """The hash of the whole record that is keyed with the seed."""
        return hash_of([self.source.column(name) for name in self.source.names], self.hash(seed))

    def hash(self, seed: int) -> RowHash:
        """What hashes whole records, with the seed as its key: columns with a role as they are published."""
        shown = {name: column for name, column in self.columns.items() if name not in self.known}
        published = {name: PublishedSpelling.of(column) for name, column in shown.items()}
        return replace(self.source.hash(self.source.names, seed), published=published)

    def _reader(self, name: str) -> LabelOf | IdentifierText:
        """What reads a column with a role, or one of identifiers, on the workers."""
        return LabelOf.of(self.columns[name]) if name in self.columns else IdentifierText(self.source.type_of(name))

    def count_repeats(self, name: str) -> int:
        from pyspark.sql import functions as sql

        text = compute(self._reader(name), [self.source.column(name)], "string")
        texts = self.rows().select(text.alias("v"))
        counted = texts.agg((sql.count("v") - sql.countDistinct("v")).alias("n"))
        return int(self.session.fetch(counted, what=self.source.label)["n"][0].as_py())

    def codes(self, name: str) -> Codes:
        self.check_known(name)
        rows = self._fetch(self.rows([name]).select(self.leaf(name).alias("k"), "place"))
        codes: Codes = rows["k"][np.argsort(rows["place"], kind="stable")].astype(np.int32)
        return codes

    def _fetch(self, frame: DataFrame) -> dict[str, NDArray[np.int64]]:
        table = self.session.fetch(frame, what=self.source.label)
        return {name: table[name].to_numpy() for name in table.column_names}

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        if not names:
            return ()
        listed = self._listing(quasi, seed, {f"x{at}": self.leaf(name) for at, name in enumerate(names)})
        return tuple(codes.astype(np.int32) for codes in listed.values())

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        leaves = [self.leaf(name).alias(f"x{at}") for at, name in enumerate(names)]
        least = self.rows().withColumn("hash", ascending(self.record_hash(seed))).orderBy("hash").limit(records)
        rows = self._fetch(least.select(*leaves, "hash"))
        order = np.argsort(rows["hash"], kind="stable")
        return tuple(rows[f"x{at}"][order].astype(np.int32) for at in range(len(names)))

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> SparkTable:
        between = {
            name: (least, greatest)
            for name, least, greatest in zip(quasi, low, high, strict=True)
            if least > 0 or greatest < self.columns[name].hierarchy.size - 1
        }
        inside = np.ones(len(self.weights), np.bool_)
        for name, (least, greatest) in between.items():
            codes = self.columns[name].codes
            inside &= (least <= codes) & (codes <= greatest)
        columns = {
            name: replace(column, codes=column.codes[inside], places=column.places[inside])
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns, weights=self.weights[inside], between=between)

    def map_blocks(self, schema: Schema, blocks: Blocks, work: Work, *, seed: int, run: Run, doing: str) -> list[Any]:
        from shoal.engines.spark.blocks import map_blocks

        return map_blocks(self, schema, blocks, work, seed, run, doing)

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        hashing = IdentifierHash(tuple(names), tuple(map(self._reader, names)), key)
        digest = compute(hashing, [self.source.column(name) for name in names], "bigint")
        return self._listing(quasi, seed, {"digest": digest})["digest"].view(np.uint64)

    def _listing(self, quasi: Sequence[str], seed: int, wanted: Mapping[str, Column]) -> dict[str, NDArray[np.int64]]:
        """Columns of all records, by quasi-identifier tuple, those of one tuple by the keyed hash."""
        keys = {f"k{at}": self.leaf(name) for at, name in enumerate(quasi)}
        every = {**wanted, **keys, "hash": self.record_hash(seed)}
        rows = self._fetch(self.rows().select(*(column.alias(here) for here, column in every.items())))
        order = np.lexsort([rows["hash"].view(np.uint64), *(rows[here] for here in reversed(keys))])
        return {here: rows[here][order] for here in wanted}

    def _sample_columns(self, names: Sequence[str], records: int) -> dict[str, pa.ChunkedArray]:
        """Of a frame of Spark, which has no order, those records whose hashes come first."""
        rows = self.rows(names)
        if self.records > records:
            rows = rows.orderBy("place").limit(records) if self.source.unordered else self._at(rows, records)
        shown = self.session.fetch(rows, what=self.source.label).sort_by("place")
        return {name: cast_back(shown[self.source.column(name)], self.source.type_of(name)) for name in names}

    def _at(self, rows: DataFrame, records: int) -> DataFrame:
        """The records at evenly spaced places among those that are part of the table."""
        places = spaced(self.records, records)
        if self.dropping:
            places = np.sort(self._fetch(rows.select("place"))["place"])[places]
        return join_dictionary(self.session, rows, {"place": pa.array(places)}, {})

    def _count_values(self, names: Sequence[str]) -> tuple[dict[str, int], dict[str, int], int]:
        from pyspark.sql import functions as sql

        rows, columns = self.rows(), [self.source.column(name) for name in names]
        counts = [function(column) for function in (sql.count, sql.countDistinct) for column in columns]
        numbers = self.session.fetch(rows.agg(*counts), what=self.source.label).columns
        present, distinct = np.reshape([column[0].as_py() for column in numbers], (2, -1)).tolist()
        alone = self.session.count(rows.groupBy(*columns).count().where("count = 1"), what=self.source.label)
        return dict(zip(names, present, strict=True)), dict(zip(names, distinct, strict=True)), alone
