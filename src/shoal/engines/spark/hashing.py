"""Hashes of whole records, on the cluster: the same numbers as those of the embedded engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shoal.engines.common.column_types import cast_back
from shoal.engines.common.hashing import Hashes, row_hashes
from shoal.engines.spark.session import compute

if TYPE_CHECKING:
    from pyspark.sql import Column

_LOWER = (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class RowHash:
    """The sum of the hashes of some columns, batch by batch, with the types that they had at the source; `published`
    makes of the values of columns with a role what is published of them."""

    names: tuple[str, ...]
    types: tuple[pa.DataType | None, ...]
    seed: int | None = None
    published: Mapping[str, Callable[[pa.ChunkedArray], pa.ChunkedArray]] = field(default_factory=dict)

    def __call__(self, *columns: pa.Array) -> pa.Array:
        shown = []
        for name, column, kind in zip(self.names, columns, self.types, strict=True):
            values = cast_back(pa.chunked_array([column]), kind)
            shown.append((name, self.published[name](values) if name in self.published else values))
        return signed(row_hashes(shown, self.seed))


def signed(hashes: Hashes) -> pa.Array:
    """Hashes as the whole numbers that Spark has, bit by bit."""
    return pa.array(hashes.view(np.int64))


def hash_of(columns: Sequence[str], function: RowHash) -> Column:
    """The hash of some columns of a row."""
    return compute(function, columns, "bigint")


def row_hash(parts: Sequence[Column]) -> Column:
    """The sum of hashes, which Spark would refuse to let overflow, by their halves."""
    from pyspark.sql import functions as sql

    if len(parts) == 1:
        return parts[0]
    lower = reduce(add, (part.bitwiseAND(_LOWER) for part in parts))
    upper = reduce(add, (sql.shiftrightunsigned(part, 32) for part in parts)) + sql.shiftright(lower, 32)
    return sql.shiftleft(upper, 32).bitwiseOR(lower.bitwiseAND(_LOWER))


def ascending(hash: Column) -> Column:
    """A number that puts rows into the order of their hashes, which are not signed."""
    from pyspark.sql import functions as sql

    return hash.bitwiseXOR(sql.lit(-(1 << 63)))
