"""A look at every column, for the detection of roles and of dependencies: distinct values, and distinct rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.core.survey import SHOWN, WIDE, Overview
from shoal.engines.common.column_types import cast_back, check_type
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.common.engine import check_some_there
from shoal.engines.common.profiling import (
    ProfiledColumn,
    bare_hashes,
    overview,
    profile_column,
    ranks,
    shown_values,
    without_blanks,
)
from shoal.engines.spark.encoding import encoded_places
from shoal.engines.spark.hashing import ascending, signed
from shoal.engines.spark.session import compute
from shoal.engines.spark.source import SparkSource
from shoal.errors import ShoalError

if TYPE_CHECKING:
    from pyspark.sql import Column

DOUBT = 0.3
"""How far a quick count of different values may be off."""


@dataclass(frozen=True, eq=False)
class BareHash:
    """The hash by which a value of a wide column is known, batch by batch on the workers; null where there is none."""

    source_type: pa.DataType | None
    missing: tuple[str, ...]

    def __call__(self, column: pa.Array) -> pa.Array:
        bare = without_blanks(cast_back(column, self.source_type), self.missing)
        return pa.array(signed(bare_hashes(bare)).to_numpy(), mask=bare.is_null().to_numpy(zero_copy_only=False))


def profile(source: SparkSource) -> Overview:
    """Every column. The distinct rows are counted on the cluster and come to the driver, wide columns as 64 bits."""
    from pyspark.sql import functions as sql

    columns: dict[str, ProfiledColumn] = {}
    for name in source.names:
        try:
            check_type(name, source.type_of(name) or source.arrow_type(name))
        except ShoalError as error:
            columns[name] = str(error)
    named = [name for name in source.names if name not in columns]
    records = source.session.count(source.rows, what=source.label)
    check_some_there(records)
    wide = _wide(source, named)
    hashes = {
        name: compute(BareHash(source.type_of(name), source.missing), [source.column(name)], "bigint") for name in wide
    }
    keys = [hashes[name].alias(source.column(name)) if name in hashes else source.column(name) for name in named]
    counted = source.rows.select(*keys).groupBy(*map(source.column, named)).agg(sql.count(sql.lit(1)).alias("n"))
    rows = source.session.fetch(counted, what=source.label)
    kinds = source.stated_kinds
    for name in named:
        column, kind = rows[source.column(name)], kinds.get(name)
        rows = rows.drop_columns([source.column(name)])
        try:
            if name in wide:
                shown = _first(source, name, hashes[name])
                columns[name] = shown_values(name, shown, kind, source.missing), ranks(column)
                continue
            places = encoded_places(column)
            values = cast_back(places.dictionary, source.type_of(name))
            listed = pa.chunked_array([pa.DictionaryArray.from_arrays(places.indices, values)])
            columns[name] = profile_column(name, listed, kind, source.missing)
        except ShoalError as error:
            columns[name] = str(error)
    return overview({name: columns[name] for name in source.names}, wide, records, rows["n"].to_numpy())


def _wide(source: SparkSource, names: Sequence[str]) -> set[str]:
    """The columns with very many different values: counted quickly, and again where that leaves a doubt."""
    from pyspark.sql import functions as sql

    if not names:
        return set()

    def counts(of: Sequence[str], function: Any) -> dict[str, int]:
        each = [function(source.column(name)).alias(source.column(name)) for name in of]
        numbers = source.session.fetch(source.rows.agg(*each), what=source.label)
        return {name: int(numbers[source.column(name)][0].as_py()) for name in of}

    quick = counts(names, sql.approx_count_distinct)
    doubtful = [name for name, count in quick.items() if abs(count - WIDE) <= DOUBT * WIDE]
    sure = quick | (counts(doubtful, sql.countDistinct) if doubtful else {})
    return {name for name, count in sure.items() if count > WIDE}


def _first(source: SparkSource, name: str, hash: Column) -> pa.Array:
    """The values of a wide column whose hashes come first."""
    column = source.column(name)
    hashed = source.rows.select(column, ascending(hash).alias("hash")).where("hash IS NOT NULL")
    some = hashed.dropDuplicates(["hash"]).orderBy("hash").limit(SHOWN)
    values = source.session.fetch(some.select(column, "hash"), what=source.label).sort_by("hash")[column]
    return without_blanks(one_chunk(cast_back(values, source.type_of(name))), source.missing)
