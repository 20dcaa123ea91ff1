"""Encoding: a column of any type as integers, with its distinct values beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.hierarchy import Hierarchy, number, spelled
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.errors import HierarchyError, InputError, SchemaError

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?")
_PADDED = re.compile(r"[-+]?0\d+")
MISSING = -1


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as codes into its distinct values; `raw` keeps those values as the type that they came in."""

    codes: NDArray[np.int32]
    values: Values
    raw: pa.Array

    @property
    def has_missing(self) -> bool:
        return bool((self.codes == MISSING).any())


def _texts(name: str, values: pa.Array) -> list[str]:
    kind = values.type
    if pa.types.is_floating(kind):
        return [spelled(value) for value in values.to_pylist()]
    if pa.types.is_boolean(kind):
        return ["true" if value else "false" for value in values.to_pylist()]
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return [
            value.isoformat(" ") if pa.types.is_timestamp(kind) else value.isoformat() for value in values.to_pylist()
        ]
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise SchemaError(f"column {name!r} holds {kind}, which cannot have a privacy role; leave it plain or drop it")
    return [str(value).strip() for value in values.to_pylist()]


def _kind(values: pa.Array, texts: list[str], numbers: NDArray[np.float64] | None) -> Kind:
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return Kind.DATE
    if numbers is not None:
        return Kind.NUMERIC
    if texts and all(_DATE.fullmatch(text) for text in texts):
        return Kind.DATE
    return Kind.CATEGORICAL


def _numbers(values: pa.Array, texts: list[str]) -> NDArray[np.float64] | None:
    """The values as numbers, when every one is a number; codes with leading zeros are not."""
    if not texts or pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type):
        return None
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        return np.array([float(value) for value in values.to_pylist()], dtype=np.float64)
    if any(_PADDED.fullmatch(text) for text in texts):
        return None
    numbers = np.array([number(text) for text in texts], dtype=np.float64)
    return numbers if bool(np.all(np.isfinite(numbers))) else None


def encode(name: str, column: pa.ChunkedArray, kind: Kind | None) -> Encoded:
    """A column as codes. The kind is found out unless it is given; a given one must fit."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    combined = encoded.unify_dictionaries().combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        combined = combined.chunk(0) if combined.num_chunks else pa.array([], pa.string()).dictionary_encode()
    indices = combined.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    raw = combined.dictionary
    if pa.types.is_floating(raw.type):
        raw = pc.if_else(pc.is_nan(raw), None, raw)
        infinite = int(pc.sum(pc.is_inf(raw)).as_py() or 0)
        if infinite:
            raise InputError(f"column {name!r} holds infinite numbers; replace them or make them missing")
    present = raw.is_valid().to_numpy(zero_copy_only=False)
    texts = _texts(name, raw.drop_null())
    filled = np.array([bool(text) for text in texts], dtype=np.bool_)
    kept = np.flatnonzero(present)[filled]
    texts = [text for text in texts if text]
    values = raw.take(pa.array(kept))
    numbers = _numbers(values, texts)
    found = kind or _kind(values, texts, numbers)
    if found is Kind.NUMERIC and numbers is None and texts:
        numbers = np.array([number(text) for text in texts], dtype=np.float64)
        unfit = int(np.sum(~np.isfinite(numbers)))
        if unfit:
            raise SchemaError(
                f"column {name!r} is said to be numeric and {unfit} of its {len(texts)} distinct values are not numbers"
            )
    keys: NDArray[Any] = np.array(texts, dtype=object) if found is not Kind.NUMERIC or numbers is None else numbers
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    translation = np.full(len(raw) + 1, MISSING, dtype=np.int32)
    translation[kept] = inverse.astype(np.int32)
    codes = translation[indices]
    ordered = np.array(texts, dtype=object)[first]
    described = Values(name, found, ordered, distinct.astype(np.float64) if found is Kind.NUMERIC else None)
    return Encoded(codes, described, values.take(pa.array(first)))


def bind(encoded: Encoded, hierarchy: Hierarchy) -> tuple[NDArray[np.int32], Hierarchy, pa.Array]:
    """The column as leaves of a hierarchy, the hierarchy (with a missing value where needed), raw values by leaf."""
    values = encoded.values
    if values.kind is not Kind.NUMERIC:
        hierarchy = replace(hierarchy, values=None, bounds=None)
    if encoded.has_missing:
        hierarchy = hierarchy.with_missing()
    found = np.array([hierarchy.leaf_of.get(text, MISSING) for text in values.texts], dtype=np.int32)
    if values.numbers is not None and hierarchy.values is not None and (found == MISSING).any():
        by_number = {value: leaf for leaf, value in enumerate(hierarchy.values)}
        found = np.array(
            [
                leaf if leaf != MISSING else by_number.get(value, MISSING)
                for leaf, value in zip(found, values.numbers, strict=True)
            ],
            dtype=np.int32,
        )
    lacking = int(np.sum(found == MISSING))
    if lacking:
        translated = np.append(found, 0)[encoded.codes]
        raise HierarchyError(
            f"the hierarchy of column {values.column!r} lacks {lacking} of the column's {len(found)} distinct values "
            f"({int(np.sum(translated == MISSING)):,} records); add a row for each"
        )
    raw = encoded.raw.take(_positions(found, hierarchy.size))
    return np.append(found, np.int32(0))[encoded.codes], hierarchy, raw


def _positions(leaves: NDArray[np.int32], size: int) -> pa.Array:
    """For each leaf, the position of its value, or null where the table does not have it."""
    positions = np.zeros(size, dtype=np.int64)
    positions[leaves] = np.arange(len(leaves))
    absent = np.ones(size, dtype=np.bool_)
    absent[leaves] = False
    return pa.array(positions, mask=absent)
