"""Dictionary codes: a column as narrow integers, and the list of its distinct values that they point into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.engines.common.column_types import check_type

MISSING = -1
"""The code of a missing value."""
SAMPLED = 1 << 10
CHUNK = 1 << 15


def narrowest(count: int) -> type[np.signedinteger[Any]]:
    """The smallest type of integers that holds so many codes."""
    return np.int8 if count <= 1 << 7 else np.int16 if count <= 1 << 15 else np.int32


def look_up(table: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """What a table has at codes, the last entry at -1. Looking all up at once would take eight bytes for each."""
    if len(table) == 1:
        return np.full(len(codes), table[0])
    entries = np.empty(len(codes), table.dtype)
    for begin in range(0, len(codes), CHUNK):
        np.take(table, codes[begin : begin + CHUNK], mode="wrap", out=entries[begin : begin + CHUNK])
    return entries


def occurring(codes: NDArray[Any], count: int) -> NDArray[np.bool_]:
    """Which of so many codes occur, and last whether a negative one does."""
    occurs = np.zeros(count + 1, dtype=np.bool_)
    occurs[-1] = codes.min(initial=0) < 0
    # A look all over tells mostly: rows may stand class by class.
    occurs[codes[:: max(1, len(codes) // SAMPLED)]] = True
    for begin in range(0, len(codes), CHUNK):
        if occurs[:-1].all():
            break
        occurs[codes[begin : begin + CHUNK]] = True
    return occurs


def one_chunk(column: Any) -> Any:
    """A column as one array, however Arrow combines its chunks."""
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as one array of indices and one of distinct values, whatever it holds."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if encoded.num_chunks == 1:
        return encoded.chunk(0)
    if encoded.type.value_type == pa.float16():  # whose bits Arrow takes for whole numbers when it puts lists together
        wide = one_dictionary(encoded.cast(pa.float16()).cast(pa.float32()))
        return pa.DictionaryArray.from_arrays(wide.indices, wide.dictionary.cast(pa.float16()))
    return one_chunk(encoded.unify_dictionaries())


def dictionary(name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as one array of indices and one of distinct values; nested and binary ones are refused."""
    check_type(name, column.type)
    return one_dictionary(column)


def indices_of(encoded: pa.DictionaryArray) -> NDArray[Any]:
    """The indices of a dictionary, as narrow as they came; negative: missing."""
    indices = encoded.indices
    if indices.type == pa.uint32() and not indices.null_count and len(encoded.dictionary) < 1 << 31:
        signed: NDArray[Any] = indices.view(pa.int32()).to_numpy()  # as polars has them: nothing to copy
        if signed.min(initial=0) >= 0:
            return signed
    if pa.types.is_unsigned_integer(indices.type) or indices.type == pa.int64():
        indices = indices.cast(pa.int32())
    codes: NDArray[Any] = (indices.fill_null(MISSING) if indices.null_count else indices).to_numpy(zero_copy_only=False)
    return codes


def codes_of(encoded: pa.DictionaryArray) -> Codes:
    """The indices of a dictionary; negative: missing."""
    return indices_of(encoded).astype(np.int32, copy=False)
