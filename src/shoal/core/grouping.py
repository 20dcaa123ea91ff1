"""Grouping: distinct tuples of integer columns, with counts, in lexicographic order.

Tuples become single 64-bit integers (mixed radix). Where the product of the cardinalities does not fit,
columns are grouped in parts and each part's tuples are numbered before the next one joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, reduce
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
CHUNK = 1 << 18
"""Rows whose keys are made at a time: enough that the interpreter, which threads wait for, has little to do between."""
SLOTS = 1 << 12
SORTED = 0.25
"""Where more of a sample is distinct, sorting is quicker than a hash table."""
SORTED_ROWS = 1 << 25
"""How many rows are sorted at a time, which take 16 bytes each."""


@dataclass(frozen=True)
class Groups:
    """Distinct tuples (one column each), how many records have each, and, if asked, each record's tuple."""

    keys: Codes
    counts: Counts
    index: Codes = field(default_factory=lambda: np.empty(0, np.int32))


def _parts(radices: Sequence[int]) -> int:
    """How many leading columns fit into one 64-bit key."""
    product = 1
    for position, radix in enumerate(radices):
        product *= max(int(radix), 1)
        if product > WIDEST:
            return position
    return len(radices)


def words(radices: Sequence[int]) -> list[dict[int, int]]:
    """How columns are packed into as few 64-bit keys as they fit into: for each key its columns, by their places, and
    the stride of each. Keys have the lexicographic order of their columns.

    Example:
        >>> words([10, 3, 2**60])
        [{0: 3, 1: 1}, {2: 1}]
    """
    packing: list[dict[int, int]] = []
    begin = 0
    while begin < len(radices):
        fitting = max(_parts(radices[begin:]), 1)
        strides = _strides(radices[begin : begin + fitting]).tolist()
        packing.append({begin + place: stride for place, stride in enumerate(strides)})
        begin += fitting
    return packing


def packed_codes(columns: Sequence[Codes], radices: Sequence[int]) -> list[Counts]:
    """Columns of codes as the keys that `words` says."""
    keys = []
    for word in words(radices):
        key = np.zeros(len(columns[0]), np.int64)
        for place, stride in word.items():
            key += columns[place].astype(np.int64) * stride
        keys.append(key)
    return keys


def _strides(radices: Sequence[int]) -> NDArray[np.int64]:
    tail = [1]
    for radix in reversed(radices[1:]):
        tail.append(tail[-1] * max(int(radix), 1))
    return np.array(tail[::-1], dtype=np.int64)


def decoded(keys: NDArray[np.int64], radices: Sequence[int]) -> Codes:
    """The columns of codes that keys of 64 bits were packed from."""
    from shoal.kernels import threads
    from shoal.kernels.grouping import decode

    columns = np.empty((len(radices), len(keys)), dtype=np.int32)
    strides = _strides(radices)
    keys = np.ascontiguousarray(keys)
    slices = _slices(len(keys), threads.count())
    _threaded(lambda begin, end: decode(keys[begin:end], strides, columns[:, begin:end]), slices)
    return columns


def ranges(starts: NDArray[Any], lengths: NDArray[Any]) -> Counts:
    """The numbers from each start on, so many of each, one range after the other.

    Example:
        >>> ranges(np.array([7, 0]), np.array([2, 3])).tolist()
        [7, 8, 0, 1, 2]
    """
    numbers: Counts = np.arange(int(lengths.sum())) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return numbers


def group(
    columns: Sequence[Codes],
    radices: Sequence[int] | None = None,
    *,
    weights: Counts | None = None,
    index: bool = False,
) -> Groups:
    """The distinct tuples of `columns` with their counts (or sums of `weights`).

    `radices[j]` is larger than every code of column `j`; by default it is the next number after the greatest one. With
    `index`, also the tuple number of each row.

    Example:
        >>> sex, age = np.array([0, 1, 0, 0], np.int32), np.array([2, 2, 2, 1], np.int32)
        >>> found = group([sex, age], [2, 3])
        >>> found.keys.tolist(), found.counts.tolist()
        ([[0, 0, 1], [1, 2, 2]], [1, 2, 1])
    """
    rows = len(columns[0]) if columns else 0
    if rows == 0:
        return Groups(np.empty((len(columns), 0), np.int32), np.empty(0, np.int64))
    if radices is None:
        radices = [int(codes.max()) + 1 for codes in columns]
    fitting = _parts(radices)
    if fitting == len(radices):
        return _group_narrow(columns, radices, weights, index)
    head = _group_narrow(columns[:fitting], radices[:fitting], None, True)
    rest = group(
        [head.index, *columns[fitting:]], [head.keys.shape[1], *radices[fitting:]], weights=weights, index=index
    )
    return Groups(np.vstack([head.keys[:, rest.keys[0]], rest.keys[1:]]), rest.counts, rest.index)


class _Keys:
    """The tuples of some columns as single integers, a chunk of rows at a time."""

    def __init__(self, columns: Sequence[Codes], radices: Sequence[int], weights: Counts | None) -> None:
        strides = _strides(radices).tolist()
        # A column of one value adds nothing to any key.
        telling = [place for place, radix in enumerate(radices) if radix > 1]
        self.columns = [np.ascontiguousarray(columns[place]) for place in telling]
        self.strides = [strides[place] for place in telling]
        self.space = int(strides[0]) * max(int(radices[0]), 1)
        self.weights = np.empty(0, np.int64) if weights is None else np.ascontiguousarray(weights)
        self.rows = len(columns[0])

    def fill(self, begin: int, end: int, keys: Counts) -> None:
        """The keys of the rows `begin:end`, column by column, so that each pass is a plain vector loop."""
        from shoal.kernels.grouping import extend

        keys[:] = 0
        for column, stride in zip(self.columns, self.strides, strict=True):
            # A column that can only be read is copied: for such a one the kernel would be compiled once more.
            extend(keys, column[begin:end].astype(np.int32, copy=not column.flags.writeable), stride)

    def chunks(self, begin: int, end: int) -> Iterator[tuple[int, int, Counts]]:
        """The rows `begin:end` in chunks that stay in the cache; the next chunk overwrites the keys of the last."""
        room = np.empty(min(CHUNK, end - begin), np.int64)
        for first in range(begin, end, CHUNK):
            last = min(first + CHUNK, end)
            self.fill(first, last, room[: last - first])
            yield first, last, room[: last - first]

    @cached_property
    def weight_bits(self) -> int | None:
        """How many bits a weight has; None where it does not fit into a number beside its key."""
        if not len(self.weights):
            return 0
        bits = int(self.weights.max()).bit_length()
        return bits if int(self.weights.min()) >= 0 and self.space.bit_length() + bits < 63 else None

    @cached_property
    def sample(self) -> Counts:
        """The keys of some rows in order; none where there are few rows."""
        from shoal.kernels.sorting import by_digits

        if self.rows < SAMPLE // 2:
            return np.empty(0, np.int64)
        step = max(1, self.rows // SAMPLE)
        sample = np.zeros(len(range(0, self.rows, step)), np.int64)
        for column, stride in zip(self.columns, self.strides, strict=True):
            sample += column[::step].astype(np.int64) * stride
        ordered: Counts = by_digits(sample, np.empty_like(sample), 0, self.space.bit_length())
        return ordered

    @cached_property
    def distinct(self) -> float:
        """The share of distinct tuples in the sample."""
        return _distinct(self.sample) / len(self.sample) if len(self.sample) else 0.0


def packed_groups(
    columns: Sequence[Codes], radices: Sequence[int], weights: Counts | None = None
) -> tuple[Counts, Counts] | None:
    """The distinct tuples as `group` finds them, packed into one key each, and their counts; None where they do not fit
    into one."""
    if not columns or not len(columns[0]) or _parts(radices) < len(radices):
        return None
    return _counted(_Keys(columns, radices, weights))


def _group_narrow(columns: Sequence[Codes], radices: Sequence[int], weights: Counts | None, index: bool) -> Groups:
    tuples = _Keys(columns, radices, weights)
    keys, counts = _counted(tuples)
    return Groups(decoded(keys, radices), counts, *([_located(tuples, keys)] if index else []))


def _counted(tuples: _Keys) -> tuple[Counts, Counts]:
    """Distinct keys in order with their counts."""
    from shoal.kernels import threads

    slices = _slices(tuples.rows, threads.count())
    if tuples.space <= min(DENSEST, max(4 * tuples.rows, 1024)):
        total = sum(_threaded(lambda begin, end: _tallied(tuples, begin, end), slices))
        keys = np.flatnonzero(total).astype(np.int64)
        counts = total[keys]
    elif tuples.weight_bits is not None and tuples.distinct > SORTED:
        begins = range(0, tuples.rows, SORTED_ROWS)
        keys, counts = reduce(_merged, (_sorted(tuples, at, min(at + SORTED_ROWS, tuples.rows)) for at in begins))
    else:
        keys, counts = reduce(_merged, _threaded(lambda begin, end: _hashed(tuples, begin, end), slices))
    return keys, counts


def located(columns: Sequence[Codes], radices: Sequence[int], tuples: Codes) -> Codes:
    """The number of each row's tuple among `tuples`, as `group` found them in the same columns; -1: not among them.

    Example:
        >>> sex, age = np.array([0, 1, 0, 0], np.int8), np.array([2, 2, 2, 1], np.int8)
        >>> located([sex, age], [2, 3], group([sex, age], [2, 3]).keys).tolist()
        [1, 2, 1, 0]
    """
    if _parts(radices) == len(radices):
        return _located(_Keys(columns, radices, None), packed_codes(list(tuples), radices)[0])
    # Wider tuples are numbered part by part, together with those that are known.
    both = [np.concatenate([known, column]) for known, column in zip(tuples, columns, strict=True)]
    index = group(both, radices, index=True).index
    numbers = np.full(int(index.max(initial=-1)) + 1, -1, np.int32)
    numbers[index[: tuples.shape[1]]] = np.arange(tuples.shape[1], dtype=np.int32)
    places: Codes = numbers[index[tuples.shape[1] :]]
    return places


def _located(tuples: _Keys, keys: Counts) -> Codes:
    """The position of each row's key among distinct ones."""
    from shoal.kernels import grouping as kernel
    from shoal.kernels import threads

    positions = np.empty(tuples.rows, dtype=np.int32)
    table = np.full(1 << max(4, (2 * len(keys) - 1).bit_length()), -1, np.int32)
    kernel.number(keys, table)

    def locate(begin: int, end: int) -> None:
        for first, last, chunk in tuples.chunks(begin, end):
            kernel.locate(chunk, keys, table, positions[first:last])

    _threaded(locate, _slices(tuples.rows, threads.count()))
    return positions


def _tallied(tuples: _Keys, begin: int, end: int) -> Counts:
    """Counts by key, for key spaces small enough to address directly."""
    from shoal.kernels import grouping as kernel

    counts = np.zeros(tuples.space, np.int64)
    for first, last, chunk in tuples.chunks(begin, end):
        kernel.tally(chunk, tuples.weights[first:last], counts)
    return counts


def _sorted(tuples: _Keys, begin: int, end: int) -> tuple[Counts, Counts]:
    """Distinct keys of some rows in order with their counts, where many are distinct. A weight stands below its key, so
    that sorting takes it along. Threads share the rows until keys stand by their first digit, and then the digits."""
    from shoal.kernels import sorting as kernel
    from shoal.kernels import threads

    rows, weighted, bits = end - begin, len(tuples.weights) > 0, tuples.weight_bits or 0
    first_digit = bits + max(tuples.space.bit_length() - kernel.DIGIT, 0)
    keys, placed = np.empty(rows, np.int64), np.empty(rows, np.int64)
    slices = _slices(rows, threads.count())

    def pack(first: int, last: int) -> Counts:
        digits = np.zeros(kernel.DIGITS, np.int64)
        for low in range(first, last, CHUNK):
            chunk = keys[low : min(low + CHUNK, last)]
            tuples.fill(begin + low, begin + low + len(chunk), chunk)
            if weighted:
                chunk <<= bits
                chunk |= tuples.weights[begin + low : begin + low + len(chunk)]
            kernel.count_digits(chunk, first_digit, digits)
        return digits

    digits = np.array(_threaded(pack, slices))
    if rows < BLOCK:
        return _run_lengths(kernel.by_digits(keys, placed, bits, first_digit + kernel.DIGIT), weighted, bits)
    ends, firsts = kernel.places_of_digits(digits)
    begins = dict(zip(slices, firsts, strict=True))
    _threaded(lambda *rows: kernel.place_by_digit(keys[slice(*rows)], first_digit, begins[rows], placed), slices)

    def count(first: int, last: int) -> tuple[Counts, Counts]:
        begin, end = (int(ends[value - 1]) if value else 0 for value in (first, last))
        some, spare, stretches = placed[begin:end], keys[begin:end], ends[first:last] - begin
        return _run_lengths(kernel.each_by_digits(some, spare, stretches, bits, first_digit), weighted, bits)

    shares = np.searchsorted(ends, np.array(slices)[1:, 0]).tolist()
    found = _threaded(count, list(pairwise([0, *shares, kernel.DIGITS])))
    distinct, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return distinct, counts


def _run_lengths(keys: Counts, weighted: bool, bits: int) -> tuple[Counts, Counts]:
    """Distinct keys of an ordered array with their counts, or the sums of the weights below them."""
    from shoal.kernels import grouping as kernel

    if not len(keys):
        return keys, keys
    if not weighted:
        distinct = np.empty(_distinct(keys), np.int64)
        counts = np.zeros(len(distinct), np.int64)
        kernel.run_lengths(keys, distinct, counts)
        return distinct, counts
    keys, weights = _unpacked(keys, bits)
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[firsts], np.add.reduceat(weights, firsts)


def _unpacked(ordered: Counts, bits: int) -> tuple[Counts, Counts]:
    """Keys, and what stands below them in so many bits: one number each, so that sorting keys takes it along."""
    return ordered >> bits, ordered & ((1 << bits) - 1)


def _hashed(tuples: _Keys, begin: int, end: int) -> tuple[Counts, Counts]:
    """Distinct keys in order with their counts, where few are distinct."""
    from shoal.kernels import grouping as kernel
    from shoal.kernels.sorting import by_digits

    (slots, tallies), used = _table(SLOTS), 0
    for first, last, chunk in tuples.chunks(begin, end):
        weights = tuples.weights[first:last]
        counted, used = kernel.aggregate(chunk, weights, slots, tallies, used)
        while counted < len(chunk):
            larger = _table(4 * len(slots))
            kernel.move(slots, tallies, *larger)
            slots, tallies = larger
            chunk, weights = chunk[counted:], weights[counted:]
            counted, used = kernel.aggregate(chunk, weights, slots, tallies, used)
    keys, counts = np.empty(used, np.int64), np.empty(used, np.int64)
    kernel.compact(slots, tallies, keys, counts)
    digits, bits = tuples.space.bit_length(), int(counts.max(initial=0)).bit_length()
    if counts.min(initial=0) < 0 or digits + bits > 62:
        order = np.argsort(keys)
        return keys[order], counts[order]
    return _unpacked(by_digits(keys << bits | counts, np.empty_like(keys), bits, bits + digits), bits)


def _table(slots: int) -> tuple[Counts, Counts]:
    """An empty hash table: keys and counts."""
    return np.full(slots, -1, np.int64), np.zeros(slots, np.int64)


def _merged(left: tuple[Counts, Counts], right: tuple[Counts, Counts]) -> tuple[Counts, Counts]:
    """Two sorted lists of keys with counts as one."""
    from shoal.kernels.grouping import merge

    most = len(left[0]) + len(right[0])
    keys, counts = np.empty(most, np.int64), np.empty(most, np.int64)
    distinct = merge(*left, *right, keys, counts)
    return keys[:distinct], counts[:distinct]


def _distinct(ordered: Counts) -> int:
    """How many keys there are, some perhaps several times in a row."""
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def _slices(rows: int, threads: int) -> list[tuple[int, int]]:
    parts = max(1, min(threads, rows // BLOCK))
    edges = [rows * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _threaded(work: Callable[[int, int], Any], slices: list[tuple[int, int]]) -> list[Any]:
    if len(slices) == 1:
        return [work(*slices[0])]
    with ThreadPoolExecutor(len(slices)) as pool:
        return list(pool.map(lambda bounds: work(*bounds), slices))
