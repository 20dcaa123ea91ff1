"""What values say, however they are spelled, batch by batch on the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.common.column_types import cast_back, is_text
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.identity import identifier_texts, leaf_identifiers, spelled_otherwise
from shoal.engines.spark.encoding import LeafOf, SparkColumn
from shoal.engines.spark.hashing import signed
from shoal.parsing.identifiers import one_spelling


@dataclass(frozen=True, eq=False, repr=False)
class PublishedSpelling:
    """The values of a column with a role as they are published: those that are spelled otherwise are looked up, and a
    zero has no sign."""

    others: pa.Array
    published: pa.Array

    @classmethod
    def of(cls, column: SparkColumn) -> PublishedSpelling:
        empty = pa.array([], pa.string())
        if not is_text(column.raw.type):
            return cls(empty, empty)
        spelled, leaves = column.included
        published, spelled = column.raw.take(leaves).cast(pa.string()), spelled.cast(pa.string())
        other = spelled_otherwise(spelled, published)
        return cls(spelled.filter(other), published.filter(other))

    def __call__(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = column.type
        if pa.types.is_floating(kind):
            wide = column.cast(pa.float32()) if pa.types.is_float16(kind) else column  # which can be compared
            known = pc.if_else(pc.is_nan(wide), pa.scalar(None, kind), column)
            return pc.if_else(pc.equal(wide, 0.0), pa.scalar(0, kind), known)
        if not len(self.others) or not is_text(kind):
            return column
        places = pc.index_in(column.cast(pa.string()), value_set=self.others)
        return pc.if_else(places.is_valid(), self.published.take(places.combine_chunks()).cast(kind), column)


@dataclass(frozen=True, eq=False, repr=False)
class LabelOf:
    """What the values of a column with a role say."""

    leaf_of: LeafOf
    labels: pa.Array

    @classmethod
    def of(cls, column: SparkColumn) -> LabelOf:
        return cls(column.leaf_of, leaf_identifiers(column.hierarchy))

    def __call__(self, column: pa.Array) -> pa.Array:
        return self.labels.take(self.leaf_of(column))


@dataclass(frozen=True, eq=False)
class IdentifierText:
    """What identifiers say; null where they say nothing."""

    source_type: pa.DataType | None

    def __call__(self, column: pa.Array) -> pa.Array:
        encoded = cast_back(column, self.source_type).dictionary_encode()
        return pa.array(identifier_texts(encoded.dictionary), pa.string()).take(encoded.indices)


@dataclass(frozen=True, eq=False)
class IdentifierHash:
    """The hash of what some columns say, by which people are known again."""

    names: tuple[str, ...]
    readers: tuple[Any, ...]
    key: int

    def __call__(self, *columns: pa.Array) -> pa.Array:
        read = zip(self.names, self.readers, columns, strict=True)
        texts = [(name, reader(column)) for name, reader, column in read]
        return signed(row_hashes(texts, self.key, one_spelling).astype(np.uint64))
