"""What values say, however they are spelled, batch by batch on the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.common.encoding import as_came, said_by
from shoal.engines.common.hashing import row_hashes
from shoal.engines.spark.encoding import CodedColumn, LeafOf
from shoal.engines.spark.hashing import signed
from shoal.parsing.identifiers import one_spelling
from shoal.parsing.identity import identifiers


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@dataclass(frozen=True, eq=False, repr=False)
class PublishedSpelling:
    """The values of a column with a role as they are published: those that are spelled otherwise are looked up, and a
    zero has no sign."""

    others: pa.Array
    published: pa.Array

    @classmethod
    def of(cls, column: CodedColumn) -> PublishedSpelling:
        empty = pa.array([], pa.string())
        if not _is_text(column.raw.type):
            return cls(empty, empty)
        spelled, leaves = column.kept
        published, spelled = column.raw.take(leaves).cast(pa.string()), spelled.cast(pa.string())
        other = pc.and_(spelled.is_valid(), pc.invert(pc.equal(spelled, published).fill_null(False)))
        return cls(spelled.filter(other), published.filter(other))

    def __call__(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = column.type
        if pa.types.is_floating(kind):
            wide = column.cast(pa.float32()) if pa.types.is_float16(kind) else column  # which can be compared
            known = pc.if_else(pc.is_nan(wide), pa.scalar(None, kind), column)
            return pc.if_else(pc.equal(wide, 0.0), pa.scalar(0, kind), known)
        if not len(self.others) or not _is_text(kind):
            return column
        places = pc.index_in(column.cast(pa.string()), value_set=self.others)
        return pc.if_else(places.is_valid(), self.published.take(places.combine_chunks()).cast(kind), column)


@dataclass(frozen=True, eq=False, repr=False)
class LabelOf:
    """What the values of a column with a role say."""

    leaf_of: LeafOf
    labels: pa.Array

    @classmethod
    def of(cls, column: CodedColumn) -> LabelOf:
        labels = pa.array(identifiers(column.hierarchy.labels[0].tolist()), pa.large_string())
        return cls(LeafOf(column.spelled, column.leaves), labels)

    def __call__(self, column: pa.Array) -> pa.Array:
        return self.labels.take(self.leaf_of(column))


@dataclass(frozen=True, eq=False)
class IdentifierText:
    """What identifiers say; null where they say nothing."""

    came: pa.DataType | None

    def __call__(self, column: pa.Array) -> pa.Array:
        encoded = as_came(pa.chunked_array([column]), self.came).combine_chunks().dictionary_encode()
        return pa.array(said_by(encoded.dictionary), pa.string()).take(encoded.indices)


@dataclass(frozen=True, eq=False)
class SaidHash:
    """The hash of what some columns say, by which people are known again."""

    names: tuple[str, ...]
    readers: tuple[Any, ...]
    key: int

    def __call__(self, *columns: pa.Array) -> pa.Array:
        said = zip(self.names, self.readers, columns, strict=True)
        texts = [(name, read(column)) for name, read, column in said]
        return signed(row_hashes(texts, self.key, one_spelling).astype(np.uint64))
