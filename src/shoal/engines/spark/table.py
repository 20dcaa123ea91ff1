"""The Spark table: rows stay on the cluster; the distinct combinations of codes are in the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.contracts.table import Published, Sheet
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.core.survey import Survey, spaced
from shoal.engines.common.encoding import as_came, glanced
from shoal.engines.spark.encoding import CodedColumn, LeafOf, looked_up
from shoal.engines.spark.hashing import RowHash, ascending, hashed
from shoal.engines.spark.identity import IdentifierText, LabelOf, PublishedSpelling, SaidHash
from shoal.engines.spark.session import Session, computed
from shoal.engines.spark.source import Source
from shoal.errors import unknown_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from shoal.core.blocks import Blocks
    from shoal.core.contracts.divisible import Work


@dataclass(frozen=True, eq=False, repr=False)
class SparkTable:
    """A source, and the codes of its columns with a role.

    `counts` says how many records have each combination of codes; everything that is about classes comes from these.
    Records that lack a value in one of the `dropping` columns are no part of the table, nor are those whose leaves are
    not `between` the given ones.
    """

    source: Source
    columns: Mapping[str, CodedColumn]
    counts: Counts
    dropping: frozenset[str] = frozenset()
    between: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def session(self) -> Session:
        return self.source.session

    @cached_property
    def records(self) -> int:
        return int(self.counts.sum())

    def group(self, attributes: Sequence[str], sensitive: Sequence[str], *, person: str | None = None) -> Classes:
        columns = self.columns
        trees = {name: column.hierarchy for name, column in columns.items()}
        return summarize(
            attributes,
            [columns[name].codes for name in attributes],
            [trees[name].size for name in attributes],
            [(name, columns[name].codes, trees[name].size, trees[name]) for name in sensitive],
            [trees[name] for name in attributes],
            weights=self.counts,
            person=None if person is None else (person, columns[person].codes, trees[person].size),
        )

    def kept(self, rows: DataFrame) -> DataFrame:
        """The records that are part of the table."""
        for name in self.dropping:
            rows = looked_up(self.session, rows, {self.source.column(name): self.columns[name].kept[0]}, {})
        for name, (least, greatest) in self.between.items():
            rows = rows.where(self.leaf(name).between(least, greatest))
        return rows

    def leaf(self, name: str) -> Column:
        """The leaf of a record in a column."""
        held = self.columns[name]
        return computed(LeafOf(held.spelled, held.leaves), [self.source.column(name)], "int")

    def record_hash(self, seed: int) -> Column:
        """The hash of the whole record that is keyed with the seed."""
        return hashed([self.source.column(name) for name in self.source.names], self.hash(seed))

    def hash(self, seed: int) -> RowHash:
        """What hashes whole records, with the seed as its key: columns with a role as they are published."""
        published = {name: PublishedSpelling.of(column) for name, column in self.columns.items()}
        return replace(self.source.hash(self.source.names, seed), published=published)

    def _reader(self, name: str) -> LabelOf | IdentifierText:
        """What reads a column with a role, or one of identifiers, on the workers."""
        return LabelOf.of(self.columns[name]) if name in self.columns else IdentifierText(self.source.came(name))

    def count_repeats(self, name: str) -> int:
        from pyspark.sql import functions as sql

        said = computed(self._reader(name), [self.source.column(name)], "string")
        rows = self.kept(self.source.rows).select(said.alias("v"))
        counted = rows.agg((sql.count("v") - sql.countDistinct("v")).alias("n"))
        return int(self.session.fetch(counted, what=self.source.label)["n"][0].as_py())

    def codes(self, name: str) -> Codes:
        if name not in self.columns:
            raise unknown_columns([name], self.columns)
        rows = self.kept(self.source.placed(list(dict.fromkeys((name, *self.dropping)))))
        found = self._fetched(rows.select(self.leaf(name).alias("k"), "place"))
        codes: Codes = found["k"][np.argsort(found["place"], kind="stable")].astype(np.int32)
        return codes

    def _fetched(self, frame: DataFrame) -> dict[str, NDArray[np.int64]]:
        found = self.session.fetch(frame, what=self.source.label)
        return {name: found[name].to_numpy() for name in found.column_names}

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        if not names:
            return ()
        wanted = {f"x{at}": self.leaf(name) for at, name in enumerate(names)}
        found = self._listed(quasi, seed, wanted)
        return tuple(found[here].astype(np.int32) for here in wanted)

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        wanted = {f"x{at}": self.leaf(name) for at, name in enumerate(names)}
        hashed = self.kept(self.source.rows).withColumn("hash", ascending(self.record_hash(seed)))
        least = hashed.orderBy("hash").limit(records)
        found = self._fetched(least.select(*(column.alias(here) for here, column in wanted.items()), "hash"))
        order = np.argsort(found["hash"], kind="stable")
        return tuple(found[here][order].astype(np.int32) for here in wanted)

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> SparkTable:
        between = {
            name: (least, greatest)
            for name, least, greatest in zip(quasi, low, high, strict=True)
            if least > 0 or greatest < self.columns[name].hierarchy.size - 1
        }
        inside = np.ones(len(self.counts), np.bool_)
        for name, (least, greatest) in between.items():
            codes = self.columns[name].codes
            inside &= (least <= codes) & (codes <= greatest)
        columns = {
            name: replace(column, codes=column.codes[inside], places=column.places[inside])
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns, counts=self.counts[inside], between=between)

    def map_blocks(self, schema: Schema, blocks: Blocks, work: Work, *, seed: int, run: Run, doing: str) -> list[Any]:
        from shoal.engines.spark.blocks import map_blocks

        return map_blocks(self, schema, blocks, work, seed, run, doing)

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        said = SaidHash(tuple(names), tuple(map(self._reader, names)), key)
        digest = computed(said, [self.source.column(name) for name in names], "bigint")
        return self._listed(quasi, seed, {"digest": digest})["digest"].view(np.uint64)

    def numbers(self, names: Sequence[str], seed: int) -> dict[str, Floats]:
        ordered = self._listed((), seed, {f"x{at}": self.leaf(name) for at, name in enumerate(names)})
        found = {}
        for at, name in enumerate(names):
            values = self.columns[name].hierarchy.values
            assert values is not None
            found[name] = values[ordered[f"x{at}"]]
        return found

    def _listed(self, quasi: Sequence[str], seed: int, wanted: Mapping[str, Column]) -> dict[str, NDArray[np.int64]]:
        """Columns of all records, by quasi-identifier tuple, those of one tuple by the keyed hash."""
        keys = {f"k{at}": self.leaf(name) for at, name in enumerate(quasi)}
        every = {**wanted, **keys, "hash": self.record_hash(seed)}
        rows = self.kept(self.source.rows).select(*(column.alias(here) for here, column in every.items()))
        found = self._fetched(rows)
        order = np.lexsort([found["hash"].view(np.uint64), *(found[here] for here in reversed(keys))])
        return {here: found[here][order] for here in wanted}

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        """Only the records that are looked at come to the driver; the others are counted on the cluster."""
        if not names:
            return Survey(self.records, {}, {}, {}, 0)
        with self.session.stopped_by(run, "looking at the plain columns"):
            return self._surveyed(names, counted, records, values)

    def _surveyed(self, names: Sequence[str], counted: Sequence[str], records: int, values: int) -> Survey:
        from pyspark.sql import functions as sql

        found = self._looked_at(names, records)
        looks = {
            name: glanced(
                name, as_came(found[self.source.column(name)], self.source.came(name)), self.source.missing, values
            )
            for name in names
        }
        chosen = [name for name in counted if not isinstance(looks[name], str)]
        if not chosen:
            return Survey(self.records, looks, {}, {}, 0)
        rows = self.kept(self.source.rows)
        columns = [self.source.column(name) for name in chosen]
        counts = [
            each
            for here in columns
            for each in (sql.count(here).alias(f"p{here}"), sql.countDistinct(here).alias(f"d{here}"))
        ]
        totals = self.session.fetch(rows.agg(*counts), what=self.source.label)
        present = {name: totals[f"p{here}"][0].as_py() for name, here in zip(chosen, columns, strict=True)}
        distinct = {name: totals[f"d{here}"][0].as_py() for name, here in zip(chosen, columns, strict=True)}
        alone = self.session.count(rows.groupBy(*columns).count().where("count = 1"), what=self.source.label)
        return Survey(self.records, looks, present, distinct, alone)

    def _looked_at(self, names: Sequence[str], records: int) -> pa.Table:
        """Columns of at most so many records, evenly spaced; of a frame of Spark, which has no order, of those whose
        hashes come first."""
        rows = self.kept(self.source.placed(list(dict.fromkeys((*names, *self.dropping)))))
        if self.records > records:
            rows = rows.orderBy("place").limit(records) if self.source.unordered else self._at(rows, records)
        return self.session.fetch(rows, what=self.source.label).sort_by("place")

    def _at(self, rows: DataFrame, records: int) -> DataFrame:
        """The records at evenly spaced places among those that are part of the table."""
        places = spaced(self.records, records)
        if self.dropping:
            every = np.sort(self._fetched(rows.select("place"))["place"])
            places = every[places]
        return looked_up(self.session, rows, {"place": pa.array(places)}, {})

    def publish(
        self,
        schema: Schema,
        recoding: Recoding,
        sheets: Sequence[Sheet],
        *,
        seed: int,
        pseudonyms: Pseudonyms | None,
        run: Run,
    ) -> dict[str, Published]:
        from shoal.engines.spark.apply_plan import Publishing

        publishing = Publishing(self, schema, recoding, seed, pseudonyms)
        with self.session.stopped_by(run, "publishing"):
            return {sheet.part: publishing.sheet(sheet) for sheet in sheets}
