"""Publishing: a plan carried out as joins on the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.contracts.table import Published, Sheet
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import TOP
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Counterfeits
from shoal.engines.common.apply_plan import QueriedApplication, ghost_texts, tokens
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.common.identity import identifier_dictionary
from shoal.engines.spark.encoding import join_dictionary
from shoal.engines.spark.hashing import ascending
from shoal.engines.spark.published_table import ListedColumn, SparkPublished
from shoal.engines.spark.session import ClusterSession
from shoal.engines.spark.table import SparkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(eq=False)
class _SparkDraft:
    """A published table in the making: whether it follows from what was `counted` when the table was read, the rows
    that it is made from, what is stored of them, and its columns; `leaves` has the names of columns of which leaves are
    stored."""

    counted: bool
    rows: DataFrame
    stored: dict[str, Column] = field(default_factory=dict)
    columns: list[ListedColumn] = field(default_factory=list)
    books: dict[str, pa.Array] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, name: str, column: str, source_type: pa.DataType | None = None) -> None:
        """A column that is stored as it is published."""
        from pyspark.sql import functions as sql

        self.stored[key] = sql.col(column)
        self.columns.append(ListedColumn(name, key, source_type))


@dataclass(frozen=True, eq=False)
class SparkApplication(QueriedApplication[_SparkDraft]):
    """One release of a table.

    The distinct rows of a published table are stored on the workers, as numbers where they can be: that of the class,
    and the leaves of columns that are published as they are. What the numbers are published as is looked up whenever
    the published values are read. Where all of a row follows from columns with a role, the table was counted by these
    when it was read, and its rows are not read again.
    """

    table: SparkTable

    @property
    def _session(self) -> ClusterSession:
        return self.table.source.session

    @cached_property
    def _tally_owners(self) -> Codes:
        """The class of each row of the table's tally; negative: withheld."""
        columns = [self.table.columns[name] for name in self.schema.quasi]
        tuples = group([each.codes for each in columns], [each.hierarchy.size for each in columns], index=True).index
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
        owners[spelled.index] = self._tally_owners
        shown = owners >= 0
        keys = {
            self.table.source.column(name): each.spelled.take(pa.array(places[shown]))
            for name, each, places in zip(quasi, columns, spelled.keys, strict=True)
        }
        return keys, pa.array(owners[shown])

    def _with_owners(self, rows: DataFrame) -> DataFrame:
        """The records, each with its class as `owner`; those that are withheld are left out."""
        if not self._plan.by_record:
            keys, owners = self._owners
            return join_dictionary(self._session, rows, keys, {"owner": owners})
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        quasi, plan = self.schema.quasi, self._plan
        leaves = {f"k{at}": self.table.leaf(name) for at, name in enumerate(quasi)}
        coded = rows.withColumns({**leaves, "hash": ascending(self.table.record_hash(self.seed))})
        rank = sql.row_number().over(Window.partitionBy(*leaves).orderBy("hash"))
        sizes = self.table.group(quasi, ()).sizes
        keys = {here: pa.array(codes) for here, codes in zip(leaves, plan.keys, strict=True)}
        begun = join_dictionary(
            self._session, coded.withColumn("rank", rank), keys, {"begin": pa.array(np.cumsum(sizes) - sizes)}
        )
        numbered = begun.withColumn("place", sql.col("begin") + sql.col("rank") - 1)
        shown = np.flatnonzero(plan.owners >= 0)
        return join_dictionary(
            self._session, numbered, {"place": pa.array(shown)}, {"owner": pa.array(plan.owners[shown])}
        )

    def _with_changes(self, rows: DataFrame) -> DataFrame:
        """The records, each with what a perturbation made of it as `y0`, `y1` and so on.

        A record is known by its keyed hash; of equal records, each gets what one of them got.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        hashed = rows.withColumn("hash", self.table.record_hash(self.seed))
        nth = sql.row_number().over(Window.partitionBy("hash").orderBy("hash"))
        hashes = self._session.fetch(hashed.select("hash"), what=self.table.source.label)["hash"].to_numpy()
        ordered = np.sort(hashes.view(np.uint64))
        fresh = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
        begins = np.flatnonzero(fresh)[np.cumsum(fresh) - 1]
        keys = {
            "hash": pa.array(ordered.view(np.int64)),
            "nth": pa.array((np.arange(len(ordered)) - begins + 1).astype(np.int32)),
        }
        values = {f"y{at}": values for at, values in enumerate(self._changes.values())}
        return join_dictionary(self._session, hashed.withColumn("nth", nth), keys, values)

    def _draft(self, contents: Mapping[str, str]) -> _SparkDraft:
        counted = self._follows_from_codes(contents)
        return _SparkDraft(counted, self.table.source.rows if counted else self._records())

    def _records(self) -> DataFrame:
        """The records that a table is made from, and beside them their classes or what was changed."""
        rows = self.table.rows()
        if self.recoding.plan is not None:
            return self._with_owners(rows)
        return self._with_changes(rows) if self.recoding.changed else rows

    def _add_cells(self, draft: _SparkDraft, key: str, name: str, values: pa.Array, cells: Codes, *, raw: bool) -> None:
        draft.books[name] = values
        source_type, kind = self._raw_types(name) if raw else (None, None)
        draft.columns.append(ListedColumn(name, "owner", source_type, values.take(pa.array(cells)), kind))

    def _raw_types(self, name: str) -> tuple[pa.DataType | None, Any]:
        """The type that a column came with, and the one that it has in Spark."""
        return self.table.source.type_of(name), self.table.source.rows.schema[self.table.source.column(name)].dataType

    def _add_groups(self, draft: _SparkDraft, key: str, name: str) -> None:
        groups = pa.array(np.arange(self._plan.count, dtype=np.int32))
        draft.columns.append(ListedColumn(name, "owner", values=groups))

    def _add_leaves(self, draft: _SparkDraft, key: str, name: str) -> None:
        from pyspark.sql import functions as sql

        source_type, kind = self._raw_types(name)
        draft.leaves[key] = name
        draft.stored[key] = sql.col(key)
        draft.columns.append(ListedColumn(name, key, source_type, self._leaf_values(name), kind))

    def _add_plain(self, draft: _SparkDraft, key: str, name: str) -> None:
        draft.add(key, name, self.table.source.column(name), self.table.source.type_of(name))

    def _add_changes(self, draft: _SparkDraft, key: str, name: str) -> None:
        source_type = None if self._changes[name].type == pa.float64() else self.table.source.type_of(name)
        draft.add(key, name, f"y{list(self._changes).index(name)}", source_type)

    def _add_pseudonyms(self, draft: _SparkDraft, key: str, name: str, pseudonyms: Pseudonyms) -> None:
        """The distinct identifiers pass through the driver."""
        source, column = self.table.source, self.table.source.column(name)
        distinct = self._session.fetch(self.table.rows().select(column).distinct(), what=source.label)[column]
        texts = identifier_dictionary(name, cast_back(distinct, source.type_of(name)))
        drawn = pa.DictionaryArray.from_arrays(texts.indices, tokens(name, texts.dictionary, pseudonyms))
        keys, values = {column: one_chunk(distinct)}, {f"t{key}": drawn.dictionary_decode()}
        draft.rows = join_dictionary(self._session, draft.rows, keys, values)
        draft.add(key, name, f"t{key}")

    def _add_ghost(self, draft: _SparkDraft, key: str, name: str, hidden: NDArray[np.bool_]) -> None:
        """The distinct values pass through the driver."""
        from pyspark.sql import functions as sql

        source, column = self.table.source, self.table.source.column(name)
        distinct = self._session.fetch(self.table.rows().select(column).distinct(), what=source.label)[column]
        texts = ghost_texts(name, one_chunk(cast_back(distinct, source.type_of(name))), source.opened)
        rows = join_dictionary(self._session, draft.rows, {column: one_chunk(distinct)}, {f"t{key}": texts})
        owners = {"owner": pa.array(np.arange(len(hidden), dtype=np.int32))}
        rows = join_dictionary(self._session, rows, owners, {f"f{key}": pa.array(hidden)})
        shown = sql.when(sql.col(f"f{key}"), sql.lit(TOP)).otherwise(sql.col(f"t{key}"))
        draft.rows = rows.withColumn(f"t{key}", shown).drop(f"f{key}")
        draft.add(key, name, f"t{key}")

    def _finish(self, draft: _SparkDraft, sheet: Sheet) -> Published:
        source, store = self.table.source, self._from_tally if draft.counted else self._from_rows
        published = SparkPublished(
            self._session,
            store(draft, self._counterfeits(sheet)),
            tuple(draft.columns),
            source.opened,
            draft.books,
            notations=self.schema.notations,
            source=source,
        )
        return self._check(published, sheet)

    def _alike(self, draft: _SparkDraft) -> Codes | None:
        """For each class the first one that is published alike, by the columns that follow from the class; None when
        all differ. Then equal rows are stored as one."""
        shown = [column.values for column in draft.columns if column.stored == "owner" and column.values is not None]
        encoded = [values.dictionary_encode(null_encoding="encode") for values in shown]
        codes = [each.indices.to_numpy(zero_copy_only=False).astype(np.int32) for each in encoded]
        if not codes:
            return np.zeros(self._plan.count, np.int32)
        groups = group(codes, [len(each.dictionary) for each in encoded], index=True)
        firsts = np.full(len(groups.counts), self._plan.count, np.int32)
        np.minimum.at(firsts, groups.index, np.arange(self._plan.count, dtype=np.int32))
        return None if len(firsts) == self._plan.count else firsts[groups.index]

    def _from_tally(self, draft: _SparkDraft, fakes: Counterfeits | None) -> DataFrame:
        """The distinct rows by the class and by leaves, counted in the driver."""
        shown, alike = self._tally_owners >= 0, self._alike(draft)
        columns = {"owner": self._tally_owners[shown] if alike is None else alike[self._tally_owners[shown]]}
        columns |= {key: self.table.columns[name].codes[shown] for key, name in draft.leaves.items()}
        counts = self.table.weights[shown]
        if fakes is not None:  # a row for each, with the class and the one column beside it
            columns = {
                key: np.append(codes, fakes.groups if key == "owner" else fakes.leaves).astype(np.int32)
                for key, codes in columns.items()
            }
            counts = np.append(counts, np.ones(len(fakes), np.int64))
        sizes = [self._plan.count, *(self.table.columns[name].hierarchy.size for name in draft.leaves.values())]
        groups = group(list(columns.values()), sizes, weights=counts)
        arrays = {key: pa.array(codes) for key, codes in zip(columns, groups.keys, strict=True)}
        return self._session.load(pa.table({**arrays, "times": pa.array(groups.counts)}))

    def _from_rows(self, draft: _SparkDraft, fakes: Counterfeits | None) -> DataFrame:
        """The distinct rows, counted on the cluster."""
        from pyspark.sql import functions as sql

        rows = draft.rows
        for key, name in draft.leaves.items():
            spelled, leaves = self.table.columns[name].included
            rows = join_dictionary(self._session, rows, {self.table.source.column(name): spelled}, {key: leaves})
        if self.recoding.plan is not None:
            alike = self._alike(draft)
            draft.stored["owner"] = sql.col("owner" if alike is None else "alike")
            if alike is not None:
                owners = pa.array(np.arange(len(alike), dtype=np.int32))
                rows = join_dictionary(self._session, rows, {"owner": owners}, {"alike": pa.array(alike)})
        rows = rows.select(*(column.alias(key) for key, column in draft.stored.items()))
        if fakes is not None:
            below = {key: pa.array(fakes.groups if key == "owner" else fakes.leaves) for key in draft.stored}
            rows = rows.union(self._session.load(pa.table(below)))
        return self._session.hold(_count_rows(rows), what=self.table.source.label)

    def _published_by_tuple(self) -> int:
        sizes = self.table.group(self.schema.quasi, ()).sizes
        return int(sizes[self._plan.owners >= 0].sum())


def _count_rows(rows: DataFrame) -> DataFrame:
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
