"""Encoding: the distinct rows of the columns with a role come to the driver, where they become integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Hierarchy
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.spark.session import SMALL, ClusterSession
from shoal.engines.spark.source import SparkSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True, eq=False, repr=False)
class SparkTally:
    """The distinct rows of some columns and how many records have each.

    A row has, of each column, the position `places[name]` of its value among `spelled[name]`, which are the values as
    Spark holds them.
    """

    places: Mapping[str, Codes]
    spelled: Mapping[str, pa.Array]
    counts: Counts

    def column(self, source: SparkSource, name: str) -> pa.ChunkedArray:
        """A column with the type that it had at the source."""
        values = cast_back(self.spelled[name], source.type_of(name))
        return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(self.places[name]), values)])


def tally(source: SparkSource, names: Sequence[str]) -> SparkTally:
    """Counted on the cluster."""
    from pyspark.sql import functions as sql

    columns = [source.column(name) for name in names]
    grouped = source.rows.groupBy(*columns).agg(sql.count(sql.lit(1)).alias("n"))
    counted = source.session.fetch(grouped, what=source.label)
    places, spelled = {}, {}
    for name, column in zip(names, columns, strict=True):
        encoded = encoded_places(counted[column])
        places[name], spelled[name] = encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary
    return SparkTally(places, spelled, counted["n"].to_numpy())


def encoded_places(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as places among its distinct values, missing being one of them. All of its chunks have one dictionary:
    Arrow encodes them together, and could not unify dictionaries in which a value is missing."""
    encoded: pa.DictionaryArray = one_chunk(column.dictionary_encode(null_encoding="encode"))
    return encoded


@dataclass(frozen=True, eq=False, repr=False)
class LeafOf:
    """The leaf of each value of a column, batch by batch on the workers; null where it has none."""

    spelled: pa.Array
    leaves: Codes

    def __call__(self, column: pa.Array) -> pa.Array:
        places = pc.index_in(column.cast(self.spelled.type), value_set=self.spelled)
        return pa.array(self.leaves, mask=self.leaves < 0).take(places)


@dataclass(frozen=True, eq=False, repr=False)
class SparkColumn:
    """The leaves of a column: `codes` has that of each row of the tally, `places` the position of its value among the
    `spelled` ones, `leaves` the leaf of each of these (negative where only dropped records have it), `raw` the original
    value of each leaf that occurs."""

    codes: Codes
    places: Codes
    hierarchy: Hierarchy
    raw: pa.Array
    spelled: pa.Array
    leaves: Codes

    @property
    def included(self) -> tuple[pa.Array, pa.Array]:
        """The spelled values that have a leaf, and these."""
        places = pa.array(np.flatnonzero(self.leaves >= 0))
        return self.spelled.take(places), pa.array(self.leaves).take(places)

    @property
    def leaf_of(self) -> LeafOf:
        """What finds leaves on the workers."""
        return LeafOf(self.spelled, self.leaves)


def join_dictionary(
    session: ClusterSession,
    frame: DataFrame,
    keys: Mapping[str, pa.Array],
    values: Mapping[str, pa.Array],
    kinds: Mapping[str, DataType] | None = None,
) -> DataFrame:
    """The frame joined with a dictionary of the driver: for columns `keys` of the frame the `values` beside them, of
    the Spark types `kinds` where these are given. Records that the dictionary lacks are left out."""
    from pyspark.sql import functions as sql

    here = {f"__{entry.name}": entry.dataType for entry in frame.schema}
    named = {f"__{name}": array for name, array in keys.items()}
    dictionary = session.load(pa.table({**named, **values}), {**here, **(kinds or {})})
    if len(next(iter(keys.values()))) <= SMALL:
        dictionary = sql.broadcast(dictionary)
    matches = [
        sql.col(name).eqNullSafe(sql.col(f"__{name}")) if array.null_count else sql.col(name) == sql.col(f"__{name}")
        for name, array in keys.items()
    ]
    return frame.join(dictionary, matches).drop(*named)
