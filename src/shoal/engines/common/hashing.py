"""Hashes of whole records: what orders rows, so that the order in which they came tells nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.engines.common.column_types import is_text
from shoal.engines.common.dictionaries import indices_of, look_up, one_dictionary

Hashes = NDArray[np.uint64]

MANY = 1 << 18
PRESENT, ABSENT = b"=", b"~"
"""What stands before a value and for a missing one: an empty text is not a missing one."""


def keyed(column: str, seed: int | None) -> bytes:
    """What the hash of a column's values begins with: its name, or what nobody knows who lacks the seed."""
    if seed is None:
        return column.encode("utf-8", "surrogatepass") + b"\x1f"
    return hashlib.sha256(f"{seed}\x1f{column}".encode("utf-8", "surrogatepass")).hexdigest().encode()


def row_hashes(
    columns: Iterable[tuple[str, pa.ChunkedArray | pa.Array]],
    seed: int | None = None,
    spelling: Callable[[str], str] | None = None,
) -> Hashes:
    """A hash of each row: the sum of its values' hashes, whatever the order of the columns. With a `spelling`, values
    that it spells alike are one value.

    Example:
        >>> rows = [("a", pa.array(["x", None, "x"])), ("b", pa.array([1, 1, 1]))]
        >>> hashes = row_hashes(rows)
        >>> bool(hashes[0] == hashes[2] != hashes[1])
        True
    """
    total: Any = None
    for name, column in columns:
        indices, texts = _indices_and_texts(column)
        start = keyed(name, seed)
        if spelling is not None:
            texts = [spelling(text or "") for text in (texts if isinstance(texts, list) else texts.to_pylist())]
        hashes = _hash_texts(texts, start + PRESENT)
        if indices.min(initial=0) < 0:
            hashes = np.append(hashes, _hash_texts([""], start + ABSENT))
        values = look_up(hashes, indices)
        total = values if total is None else total + values
    return total if total is not None else np.zeros(0, np.uint64)


def ascending(hashes: Hashes) -> Codes:
    """The places of hashes in ascending order; equal ones, which are those of equal rows, in any.

    They are spread evenly: by their first digit they fall into parts that caches hold, and every thread sorts one.
    """
    if len(hashes) < MANY:
        return np.argsort(hashes).astype(np.int32)
    from shoal.kernels import sorting as kernel

    order, threads = np.empty(len(hashes), np.int32), pa.cpu_count()
    slices = list(pairwise(len(hashes) * part // threads for part in range(threads + 1)))

    def count(rows: tuple[int, int]) -> Any:
        digits = np.zeros(kernel.DIGITS, np.int64)
        kernel.count_digits(hashes[slice(*rows)].view(np.int64), 64 - kernel.DIGIT, digits)
        return digits

    def sort(part: int) -> None:
        kernel.by_further_digits(hashes, order[ends[part - 1] if part else 0 : ends[part]])

    with ThreadPoolExecutor(threads) as pool:
        ends, begins = kernel.places_of_digits(np.array(list(pool.map(count, slices))))
        list(pool.map(lambda rows, some: kernel.place_by_first_digit(hashes, *rows, some, order), slices, begins))
        list(pool.map(sort, range(len(ends))))
    return order


def _indices_and_texts(column: pa.ChunkedArray | pa.Array) -> tuple[NDArray[Any], Any]:
    """A column as indices, -1 for missing values, into the texts of its distinct ones."""
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if pa.types.is_nested(column.type):
        chunks = [pa.array(_nested_texts(chunk), pa.large_string()) for chunk in column.chunks]
        column = pa.chunked_array(chunks, pa.large_string())
    encoded = one_dictionary(column)
    values, indices = encoded.dictionary, indices_of(encoded)
    if values.null_count:
        absent = np.append(values.is_null().to_numpy(zero_copy_only=False), False)
        indices = np.where(look_up(absent, indices), indices.dtype.type(-1), indices)
    return indices, _texts(values)


def _nested_texts(values: pa.Array) -> list[str | None]:
    """Lists and structs as texts that every engine can make, and maps as the lists of their entries: as JSON, but line
    ends and other control characters stay as they are."""
    kind = values.type
    if pa.types.is_map(kind):
        values = values.cast(pa.list_(pa.struct({"key": kind.key_type, "value": kind.item_type})))
        kind = values.type
    present = values.is_valid().to_pylist()
    if pa.types.is_struct(kind):
        names = [in_quotes(kind.field(at).name) for at in range(kind.num_fields)]
        rows = zip(*map(_inner_texts, values.flatten()), strict=True) if names else ()
        texts = [", ".join(map("{}: {}".format, names, row)) for row in rows] or [""] * len(values)
        return [f"{{{text}}}" if filled else None for text, filled in zip(texts, present, strict=True)]
    entries = iter(_inner_texts(values.flatten()))
    lengths = pc.list_value_length(values).to_pylist()
    return [None if length is None else f"[{', '.join(islice(entries, length))}]" for length in lengths]


def _inner_texts(values: pa.Array) -> list[str]:
    """What lists and structs hold, as texts."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_nested(values.type):
        texts: Any = _nested_texts(values)
    elif is_text(values.type) or pa.types.is_string_view(values.type):
        texts = [None if text is None else in_quotes(text) for text in values.to_pylist()]
    else:
        texts = _texts(values)
        texts = texts if isinstance(texts, list) else texts.to_pylist()
    return [text if filled else "null" for text, filled in zip(texts, values.is_valid().to_pylist(), strict=True)]


def in_quotes(text: str) -> str:
    """A text inside lists and structs."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _texts(values: pa.Array) -> Any:
    """Values as texts that every engine can make: floats in seventeen digits, times as numbers, bytes in pairs of
    digits."""
    kind = values.type
    if _is_binary(kind):
        return [None if value is None else value.hex().upper() for value in values.to_pylist()]
    if pa.types.is_floating(kind):
        return [f"{value:.17g}" for value in values.cast(pa.float64()).fill_null(0.0).to_pylist()]
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    if is_text(values.type):
        return values
    try:
        return values.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # spans of months, days and hours
        return [repr(value) for value in values.to_pylist()]


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(test(kind) for test in tests)


def _hash_texts(texts: Any, prefix: bytes) -> Hashes:
    from shoal.kernels.digests import lower_halves

    array = pa.array(texts, pa.large_string()) if isinstance(texts, list) else texts
    _, offsets, data = array.buffers()
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    places = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1].astype(np.int64, copy=False)
    if not len(places):
        places = np.zeros(1, np.int64)
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    places = np.ascontiguousarray(places)
    places.flags.writeable = content.flags.writeable = False  # whoever made them, the kernel is compiled once
    hashes: Hashes = lower_halves(np.frombuffer(prefix, np.uint8), content, places)
    return hashes
