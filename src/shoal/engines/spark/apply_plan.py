"""Publishing: a plan carried out as joins on the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.core.contracts.table import Sheet
from shoal.core.grouping import Codes, group
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.core.schema import Schema
from shoal.engines.common.encoding import as_came, by_identity
from shoal.engines.common.table import changed_values, published_values, tokens, with_labels
from shoal.engines.spark.encoding import looked_up
from shoal.engines.spark.hashing import ascending
from shoal.engines.spark.published_table import PublishedColumn, SparkPublished
from shoal.engines.spark.session import Session
from shoal.engines.spark.source import Source
from shoal.engines.spark.table import SparkTable
from shoal.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(eq=False)
class _Draft:
    """A published table in the making: the rows that it is made from, what is stored of them, and its columns; `leaves`
    has the names of columns of which leaves are stored."""

    rows: DataFrame
    stored: dict[str, Column] = field(default_factory=dict)
    columns: list[PublishedColumn] = field(default_factory=list)
    books: dict[str, pa.Array] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Publishing:
    """One release of a table.

    The distinct rows of a published table are stored on the workers, as numbers where they can be: that of the class,
    and the leaves of columns that are published as they are. What the numbers are published as is looked up whenever
    the published values are read. Where all of a row follows from columns with a role, the table was counted by these
    when it was read, and its rows are not read again.
    """

    table: SparkTable
    schema: Schema
    recoding: Recoding
    seed: int
    pseudonyms: Pseudonyms | None

    @property
    def _source(self) -> Source:
        return self.table.source

    @property
    def _session(self) -> Session:
        return self.table.session

    @property
    def _plan(self) -> Plan:
        plan = self.recoding.plan
        assert plan is not None
        return plan

    @cached_property
    def _tallied(self) -> Codes:
        """The class of each row of the table's tally; negative: withheld."""
        columns = [self.table.columns[name] for name in self.schema.quasi]
        tuples = group([each.codes for each in columns], [each.hierarchy.size for each in columns], index=True).index
        assert tuples is not None
        owners: Codes = self._plan.owners[tuples]
        return owners

    @cached_property
    def _owners(self) -> tuple[dict[str, pa.Array], pa.Array]:
        """The class of each combination of quasi-identifiers as they are spelled at the source, but for those that are
        withheld."""
        quasi = self.schema.quasi
        columns = [self.table.columns[name] for name in quasi]
        spelled = group([each.places for each in columns], [len(each.spelled) for each in columns], index=True)
        owners = np.empty(len(spelled.counts), np.int32)
        owners[spelled.index] = self._tallied
        kept = owners >= 0
        keys = {
            self._source.column(name): each.spelled.take(pa.array(places[kept]))
            for name, each, places in zip(quasi, columns, spelled.keys, strict=True)
        }
        return keys, pa.array(owners[kept])

    def _owned(self, rows: DataFrame) -> DataFrame:
        """The records, each with its class as `owner`; those that are withheld are left out."""
        if not self._plan.by_record:
            keys, owners = self._owners
            return looked_up(self._session, rows, keys, {"owner": owners})
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        quasi, plan = self.schema.quasi, self._plan
        leaves = {f"k{at}": self.table.leaf(name) for at, name in enumerate(quasi)}
        coded = rows.withColumns({**leaves, "hash": ascending(self.table.record_hash(self.seed))})
        rank = sql.row_number().over(Window.partitionBy(*leaves).orderBy("hash"))
        sizes = self.table.group(quasi, ()).sizes
        keys = {here: pa.array(codes) for here, codes in zip(leaves, plan.keys, strict=True)}
        begun = looked_up(
            self._session, coded.withColumn("rank", rank), keys, {"begin": pa.array(np.cumsum(sizes) - sizes)}
        )
        numbered = begun.withColumn("place", sql.col("begin") + sql.col("rank") - 1)
        shown = np.flatnonzero(plan.owners >= 0)
        return looked_up(self._session, numbered, {"place": pa.array(shown)}, {"owner": pa.array(plan.owners[shown])})

    @cached_property
    def _changed(self) -> dict[str, pa.Array]:
        """What a perturbation made of columns, by the place of the record in the order of the keyed hashes."""
        return {
            name: changed_values(changed, self.table.columns[name].raw.type)
            for name, changed in self.recoding.changed.items()
        }

    def _with_changes(self, rows: DataFrame) -> DataFrame:
        """The records, each with what a perturbation made of it as `y0`, `y1` and so on.

        A record is known by its keyed hash; of equal records, each gets what one of them got.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        hashed = rows.withColumn("hash", self.table.record_hash(self.seed))
        nth = sql.row_number().over(Window.partitionBy("hash").orderBy("hash"))
        hashes = self._session.fetch(hashed.select("hash"), what=self._source.label)["hash"].to_numpy()
        ordered = np.sort(hashes.view(np.uint64))
        fresh = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
        begins = np.flatnonzero(fresh)[np.cumsum(fresh) - 1]
        keys = {
            "hash": pa.array(ordered.view(np.int64)),
            "nth": pa.array((np.arange(len(ordered)) - begins + 1).astype(np.int32)),
        }
        values = {f"y{at}": values for at, values in enumerate(self._changed.values())}
        return looked_up(self._session, hashed.withColumn("nth", nth), keys, values)

    def sheet(self, sheet: Sheet) -> SparkPublished:
        """One published table."""
        shown = {column.name: column.what for column in sheet.columns if column.what != "count"}
        fakes = self.recoding.counterfeits if sheet.count_name is not None else None
        counted = self._is_counted(shown)
        draft = _Draft(self._source.rows if counted else self._origin())
        for at, (name, what) in enumerate(shown.items()):
            here = f"x{at}"
            if what == "cell":
                self._add_cell(draft, name)
            elif what == "group":
                groups = np.arange(self._plan.count, dtype=np.int32)
                draft.columns.append(PublishedColumn(name, "owner", pa.array(groups)))
            elif what == "pseudonym":
                self._add_pseudonym(draft, here, name)
            elif name in self.recoding.changed:
                self._add_changed(draft, here, name)
            elif name in self.table.columns:
                self._add_leaves(draft, here, name)
            else:
                self._add(draft, here, name, self._source.column(name), self._source.came(name))
        rows = self._from_tally(draft, fakes) if counted else self._from_rows(draft, fakes)
        published = SparkPublished(
            self._session, rows, tuple(draft.columns), self._source, draft.books, kinds=self.schema.kinds
        )
        if published.records != self._expected + (0 if fakes is None else len(fakes)):
            raise InputError(f"{self._source.label}: the table changed while it was being read; read it again")
        return published if sheet.count_name is None else published.counted(sheet.count_name)

    def _is_counted(self, shown: Mapping[str, str]) -> bool:
        """Whether all columns of a published table follow from those that the table was counted by."""
        plan, changed = self.recoding.plan, self.recoding.changed
        return (
            plan is not None
            and not plan.by_record
            and all(
                what in ("cell", "group")
                or (what != "pseudonym" and name in self.table.columns and name not in changed)
                for name, what in shown.items()
            )
        )

    def _origin(self) -> DataFrame:
        """The records that a table is made from, and beside them their classes or what was changed."""
        rows = self.table.kept(self._source.rows)
        if self.recoding.plan is not None:
            return self._owned(rows)
        return self._with_changes(rows) if self.recoding.changed else rows

    def _add(self, draft: _Draft, here: str, name: str, column: str, came: pa.DataType | None = None) -> None:
        """A column that is stored as it is published."""
        from pyspark.sql import functions as sql

        draft.stored[here] = sql.col(column)
        draft.columns.append(PublishedColumn(name, here, came=came))

    def _add_cell(self, draft: _Draft, name: str) -> None:
        """What a quasi-identifier is published as, which follows from the class."""
        place = self.schema.quasi.index(name)
        book, cells = self._plan.codebooks[place], self._plan.cells[place]
        draft.books[name] = published_values(book, self.table.columns[name].raw)
        values = draft.books[name].take(pa.array(cells))
        kind, came = self._raw_type(name) if book.raw else (None, None)
        draft.columns.append(PublishedColumn(name, "owner", values, kind, came))

    def _raw_type(self, name: str) -> tuple[Any, pa.DataType | None]:
        """The type that a column has in Spark, and the one that it came with."""
        return self._source.rows.schema[self._source.column(name)].dataType, self._source.came(name)

    def _add_leaves(self, draft: _Draft, here: str, name: str) -> None:
        """A column with a role that is published as it is: one spelling of each value."""
        from pyspark.sql import functions as sql

        held, fakes = self.table.columns[name], self.recoding.counterfeits
        if fakes is None or name not in self.schema.sensitive:
            raw = held.raw
        else:
            raw = with_labels(held.raw, held.hierarchy, fakes.leaves)
        draft.leaves[here] = name
        draft.stored[here] = sql.col(here)
        draft.columns.append(PublishedColumn(name, here, raw, *self._raw_type(name)))

    def _add_changed(self, draft: _Draft, here: str, name: str) -> None:
        """What a perturbation made of a column."""
        came = None if self._changed[name].type == pa.float64() else self._source.came(name)
        self._add(draft, here, name, f"y{list(self.recoding.changed).index(name)}", came)

    def _add_pseudonym(self, draft: _Draft, here: str, name: str) -> None:
        """What stands in the place of an identifier; the distinct ones pass through the driver."""
        assert self.pseudonyms is not None
        source, column = self._source, self._source.column(name)
        found = self._session.fetch(self.table.kept(source.rows).select(column).distinct(), what=source.label)
        said = by_identity(name, as_came(found[column], source.came(name)))
        drawn = pa.DictionaryArray.from_arrays(said.indices, tokens(name, said.dictionary, self.pseudonyms))
        keys = {column: found[column].combine_chunks()}
        draft.rows = looked_up(self._session, draft.rows, keys, {f"t{here}": drawn.dictionary_decode()})
        self._add(draft, here, name, f"t{here}")

    def _alike(self, draft: _Draft) -> Codes | None:
        """For each class the first one that is published alike, by the columns that follow from the class; None when
        all differ. Then equal rows are stored as one."""
        shown = [column.values for column in draft.columns if column.stored == "owner" and column.values is not None]
        encoded = [values.dictionary_encode(null_encoding="encode") for values in shown]
        codes = [each.indices.to_numpy(zero_copy_only=False).astype(np.int32) for each in encoded]
        if not codes:
            return np.zeros(self._plan.count, np.int32)
        found = group(codes, [len(each.dictionary) for each in encoded], index=True)
        firsts = np.full(len(found.counts), self._plan.count, np.int32)
        np.minimum.at(firsts, found.index, np.arange(self._plan.count, dtype=np.int32))
        return None if len(firsts) == self._plan.count else firsts[found.index]

    def _from_tally(self, draft: _Draft, fakes: Counterfeits | None) -> DataFrame:
        """The distinct rows by the class and by leaves, counted in the driver."""
        kept, alike = self._tallied >= 0, self._alike(draft)
        columns = {"owner": self._tallied[kept] if alike is None else alike[self._tallied[kept]]}
        columns |= {here: self.table.columns[name].codes[kept] for here, name in draft.leaves.items()}
        counts = self.table.counts[kept]
        if fakes is not None:  # a row for each, with the class and the one column beside it
            columns = {
                here: np.append(codes, fakes.groups if here == "owner" else fakes.leaves).astype(np.int32)
                for here, codes in columns.items()
            }
            counts = np.append(counts, np.ones(len(fakes), np.int64))
        sizes = [self._plan.count, *(self.table.columns[name].hierarchy.size for name in draft.leaves.values())]
        found = group(list(columns.values()), sizes, weights=counts)
        arrays = {here: pa.array(codes) for here, codes in zip(columns, found.keys, strict=True)}
        return self._session.load(pa.table({**arrays, "times": pa.array(found.counts)}))

    def _from_rows(self, draft: _Draft, fakes: Counterfeits | None) -> DataFrame:
        """The distinct rows, counted on the cluster."""
        from pyspark.sql import functions as sql

        rows = draft.rows
        for here, name in draft.leaves.items():
            spelled, leaves = self.table.columns[name].kept
            rows = looked_up(self._session, rows, {self._source.column(name): spelled}, {here: leaves})
        if self.recoding.plan is not None:
            alike = self._alike(draft)
            draft.stored["owner"] = sql.col("owner" if alike is None else "alike")
            if alike is not None:
                owners = pa.array(np.arange(len(alike), dtype=np.int32))
                rows = looked_up(self._session, rows, {"owner": owners}, {"alike": pa.array(alike)})
        rows = rows.select(*(column.alias(here) for here, column in draft.stored.items()))
        if fakes is not None:
            below = {here: pa.array(fakes.groups if here == "owner" else fakes.leaves) for here in draft.stored}
            rows = rows.union(self._session.load(pa.table(below)))
        return self._session.held(_counted(rows), what=self._source.label)

    @cached_property
    def _expected(self) -> int:
        """How many records the release has."""
        plan = self.recoding.plan
        if plan is None:
            return self.table.records
        if plan.by_record:
            return int((plan.owners >= 0).sum())
        sizes = self.table.group(self.schema.quasi, ()).sizes
        return int(sizes[plan.owners >= 0].sum())


def _counted(rows: DataFrame) -> DataFrame:
    """Distinct rows and how many `times` each occurs. Spark groups a zero with a sign and one without together, and
    would make them one."""
    from pyspark.sql import functions as sql

    names = rows.columns
    floats = {name: kind for name, kind in rows.dtypes if kind in ("float", "double")}
    signs = {f"s{name}": sql.col(name).cast("string") == "-0.0" for name in floats}
    counted = rows.withColumns(signs) if signs else rows
    counted = counted.groupBy(*names, *signs).agg(sql.count(sql.lit(1)).alias("times"))
    signed = {
        name: sql.when(sql.col(f"s{name}"), sql.lit(-0.0).cast(kind)).otherwise(sql.col(name))
        for name, kind in floats.items()
    }
    return counted.withColumns(signed).drop(*signs) if signed else counted
