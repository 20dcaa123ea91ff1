"""Counting distinct mixed-radix keys.

Room comes from NumPy, which asks for large pages: what a kernel allocates itself has small ones, and to touch millions
of them for the first time takes longer than the work.
"""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.prefetching import AHEAD, soon

_MIX = np.uint64(0x9E3779B97F4A7C15)


@inner(inline="always")
def slot_of(key, shift):
    mixed = np.uint64(key) ^ (np.uint64(key) >> np.uint64(29))
    return np.int64((mixed * _MIX) >> shift)


@kernel
def extend(keys, column, stride):
    """Adds one digit to mixed-radix keys."""
    for row in range(len(keys)):
        keys[row] += column[row] * stride


@kernel
def decode(keys, strides, columns):
    """The digits of mixed-radix keys, a row of `columns` for each stride."""
    for row in range(len(keys)):
        rest = np.uint64(keys[row])
        for position in range(len(strides)):
            stride = np.uint64(strides[position])
            digit = rest // stride
            columns[position, row] = digit
            rest -= digit * stride


@kernel
def tally(keys, weights, counts):
    """Counts keys, or adds up their weights where there are any, in a key space that can be addressed directly."""
    weighted = len(weights) > 0
    for row in range(len(keys)):
        counts[keys[row]] += weights[row] if weighted else 1


@kernel
def _bits(table):
    """The power of two that is a table's size."""
    bits = 0
    while (1 << bits) < len(table):
        bits += 1
    return bits


@kernel
def move(slots, counts, larger, tallies):
    """Moves what an open-addressing table has to a larger one that is empty."""
    shift = np.uint64(64 - _bits(larger))
    mask = len(larger) - 1
    for old in range(len(slots)):
        key = slots[old]
        if key >= 0:
            place = slot_of(key, shift)
            while larger[place] >= 0:
                place = (place + 1) & mask
            larger[place] = key
            tallies[place] = counts[old]


@kernel
def aggregate(keys, weights, slots, counts, used):
    """Counts keys in an open-addressing table that has `used` ones, until it is half full; returns how many of the keys
    were counted, and how many the table has."""
    shift = np.uint64(64 - _bits(slots))
    mask = len(slots) - 1
    weighted = len(weights) > 0
    for row in range(len(keys)):
        if row + AHEAD < len(keys):
            place = slot_of(keys[row + AHEAD], shift)
            soon(slots, place)
            soon(counts, place)
        key = keys[row]
        place = slot_of(key, shift)
        while slots[place] != key and slots[place] >= 0:
            place = (place + 1) & mask
        if slots[place] < 0:
            if 2 * used >= len(slots):
                return row, used
            slots[place] = key
            used += 1
        counts[place] += weights[row] if weighted else 1
    return len(keys), used


@kernel
def compact(slots, counts, keys, tallies):
    """Writes the keys of an open-addressing table and their counts, in no particular order."""
    at = 0
    for place in range(len(slots)):
        if slots[place] >= 0:
            keys[at] = slots[place]
            tallies[at] = counts[place]
            at += 1


@kernel
def run_lengths(ordered, keys, counts):
    """Writes the distinct keys of a sorted array and their counts, which begin at 0."""
    at = -1
    for row in range(len(ordered)):
        if row == 0 or ordered[row] != ordered[row - 1]:
            at += 1
            keys[at] = ordered[row]
        counts[at] += 1


@kernel
def merge(left_keys, left_counts, right_keys, right_counts, keys, counts):
    """Writes two sorted lists of keys with counts as one; returns how many keys there are."""
    left = right = at = 0
    while left < len(left_keys) or right < len(right_keys):
        if right == len(right_keys) or (left < len(left_keys) and left_keys[left] < right_keys[right]):
            keys[at], counts[at] = left_keys[left], left_counts[left]
            left += 1
        elif left == len(left_keys) or right_keys[right] < left_keys[left]:
            keys[at], counts[at] = right_keys[right], right_counts[right]
            right += 1
        else:
            keys[at], counts[at] = left_keys[left], left_counts[left] + right_counts[right]
            left += 1
            right += 1
        at += 1
    return at


@kernel
def number(keys, table):
    """Makes `table`, full of -1, an open-addressing table from key to its position in `keys`."""
    shift = np.uint64(64 - _bits(table))
    mask = len(table) - 1
    for position in range(len(keys)):
        place = slot_of(keys[position], shift)
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = position


@kernel
def locate(wanted, keys, table, positions):
    """Writes the position in `keys` of every wanted key, or -1; `table` is what `number` made of the keys."""
    shift = np.uint64(64 - _bits(table))
    mask = len(table) - 1
    for row in range(len(wanted)):
        place = slot_of(wanted[row], shift)
        while table[place] >= 0 and keys[table[place]] != wanted[row]:
            place = (place + 1) & mask
        positions[row] = table[place]


@kernel
def apart(keys, counts, size, population):
    """Ascending keys whose last digit is one of `size` values, taken apart: the value of each key; where each run of
    keys that differ in nothing else begins, those keys without the digit, and the sum of the counts of each run. Adds
    the counts of each value to the `population`."""
    values = np.empty(len(keys), np.int32)
    starts = np.empty(len(keys) + 1, np.int64)
    owners = np.empty(len(keys), np.int64)
    sizes = np.empty(len(keys), np.int64)
    runs, radix = 0, np.uint64(size)
    for entry in range(len(keys)):
        key = np.uint64(keys[entry])
        owner = key // radix
        value = np.int64(key - owner * radix)
        values[entry] = value
        population[value] += counts[entry]
        if runs == 0 or np.int64(owner) != owners[runs - 1]:
            starts[runs], owners[runs], sizes[runs] = entry, owner, 0
            runs += 1
        sizes[runs - 1] += counts[entry]
    starts[runs] = len(keys)
    return values, starts[: runs + 1], owners[:runs], sizes[:runs]
