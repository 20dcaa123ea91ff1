"""Grouping: distinct tuples of integer columns, with counts, in lexicographic order.

Tuples become single 64-bit integers (mixed radix). Where the product of the cardinalities does not fit,
columns are grouped in parts and each part's tuples are numbered before the next one joins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

WIDEST = 2**62
DENSEST = 2**22
BLOCK = 1 << 20
SAMPLE = 1 << 16


@dataclass(frozen=True)
class Groups:
    """Distinct tuples (one column each), how many records have each, and, if asked, each record's tuple."""

    keys: Codes
    counts: Counts
    index: Codes | None = None


def _parts(radices: Sequence[int]) -> int:
    """How many leading columns fit into one 64-bit key."""
    product = 1
    for position, radix in enumerate(radices):
        product *= max(int(radix), 1)
        if product > WIDEST:
            return position
    return len(radices)


def _strides(radices: Sequence[int]) -> NDArray[np.int64]:
    tail = [1]
    for radix in reversed(radices[1:]):
        tail.append(tail[-1] * max(int(radix), 1))
    return np.array(tail[::-1], dtype=np.int64)


def _decoded(keys: NDArray[np.int64], radices: Sequence[int]) -> Codes:
    columns = np.empty((len(radices), len(keys)), dtype=np.int32)
    for position, stride in enumerate(_strides(radices)):
        digits, keys = np.divmod(keys, stride)
        columns[position] = digits
    return columns


def group(
    columns: Sequence[Codes], radices: Sequence[int], *, weights: Counts | None = None, index: bool = False
) -> Groups:
    """The distinct tuples of `columns` with their counts (or sums of `weights`).

    `radices[j]` is larger than every code of column `j`. With `index`, also the tuple number of each row.

    Example:
        >>> sex, age = np.array([0, 1, 0, 0], np.int32), np.array([2, 2, 2, 1], np.int32)
        >>> found = group([sex, age], [2, 3])
        >>> found.keys.tolist(), found.counts.tolist()
        ([[0, 0, 1], [1, 2, 2]], [1, 2, 1])
    """
    rows = len(columns[0]) if columns else 0
    if rows == 0:
        return Groups(
            np.empty((len(columns), 0), np.int32), np.empty(0, np.int64), np.empty(0, np.int32) if index else None
        )
    fitting = _parts(radices)
    if fitting == len(radices):
        return _group_narrow(columns, radices, weights, index)
    head = _group_narrow(columns[:fitting], radices[:fitting], None, True)
    assert head.index is not None
    rest = group(
        [head.index, *columns[fitting:]], [head.keys.shape[1], *radices[fitting:]], weights=weights, index=index
    )
    return Groups(np.vstack([head.keys[:, rest.keys[0]], rest.keys[1:]]), rest.counts, rest.index)


def _group_narrow(columns: Sequence[Codes], radices: Sequence[int], weights: Counts | None, index: bool) -> Groups:
    from numba import get_num_threads
    from numba.typed import List

    from shoal.kernels import grouping as kernel

    rows = len(columns[0])
    strides = _strides(radices)
    space = int(strides[0]) * max(int(radices[0]), 1)
    weights = np.empty(0, np.int64) if weights is None else weights
    listed = List([np.ascontiguousarray(column, dtype=np.int32) for column in columns])
    slices = _slices(rows, get_num_threads())
    if space <= min(DENSEST, max(4 * rows, 1024)):
        tallies = _threaded(lambda begin, end: kernel.tally(listed, strides, weights, begin, end, space), slices)
        total = np.sum(tallies, axis=0) if len(tallies) > 1 else tallies[0]
        keys = np.flatnonzero(total).astype(np.int64)
        counts = total[keys]
    else:
        sorting = len(weights) == 0 and _mostly_distinct(listed, strides, rows)

        def counted(begin: int, end: int) -> Any:
            if sorting:
                ordered = kernel.fill(listed, strides, begin, end)
                ordered.sort()
                return kernel.run_lengths(ordered)
            keys, counts = kernel.aggregate(listed, strides, weights, begin, end)
            order = np.argsort(keys)
            return keys[order], counts[order]

        keys, counts = reduce(lambda left, right: kernel.merge(*left, *right), _threaded(counted, slices))
    positions = None
    if index:
        positions = np.empty(rows, dtype=np.int32)
        table = kernel.numbered(keys)
        _threaded(lambda begin, end: kernel.locate(listed, strides, keys, table, positions, begin, end), slices)
    return Groups(_decoded(keys, radices), counts, positions)


def _mostly_distinct(listed: Any, strides: Counts, rows: int) -> bool:
    """Whether a sample says that there are too many distinct tuples for a hash table to stay in the cache."""
    step = max(1, rows // SAMPLE)
    sample = sum(column[::step].astype(np.int64) * stride for column, stride in zip(listed, strides, strict=True))
    return len(sample) >= SAMPLE and len(np.unique(sample)) > 0.85 * len(sample)


def _slices(rows: int, threads: int) -> list[tuple[int, int]]:
    parts = max(1, min(threads, rows // BLOCK))
    edges = [rows * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _threaded(work: Callable[[int, int], Any], slices: list[tuple[int, int]]) -> list[Any]:
    if len(slices) == 1:
        return [work(*slices[0])]
    with ThreadPoolExecutor(len(slices)) as pool:
        return list(pool.map(lambda bounds: work(*bounds), slices))
