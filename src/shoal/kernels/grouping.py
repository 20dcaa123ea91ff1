"""Counting distinct mixed-radix keys."""

import numpy as np
from numba import njit

_CHUNK = 2048
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True, inline="always")
def _slot(key, shift):
    mixed = np.uint64(key) ^ (np.uint64(key) >> np.uint64(29))
    return np.int64((mixed * _MIX) >> shift)


@njit(cache=True, nogil=True)
def _fill(columns, strides, begin, end, keys):
    """The keys of rows `begin` to `end`, column by column so that each pass is a plain vector loop."""
    first, stride = columns[0], strides[0]
    for row in range(begin, end):
        keys[row - begin] = first[row] * stride
    for position in range(1, len(columns)):
        column, stride = columns[position], strides[position]
        for row in range(begin, end):
            keys[row - begin] += column[row] * stride


@njit(cache=True, nogil=True)
def tally(columns, strides, weights, begin, end, space):
    """Counts by key, for key spaces small enough to address directly."""
    counts = np.zeros(space, np.int64)
    keys = np.empty(_CHUNK, np.int64)
    weighted = len(weights) > 0
    for start in range(begin, end, _CHUNK):
        stop = min(start + _CHUNK, end)
        _fill(columns, strides, start, stop, keys)
        for row in range(start, stop):
            counts[keys[row - start]] += weights[row] if weighted else 1
    return counts


@njit(cache=True, nogil=True)
def _grown(slots, counts, bits):
    """The same open-addressing table, four times as large."""
    bits += 2
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    larger = np.full(1 << bits, -1, np.int64)
    tallies = np.zeros(1 << bits, np.int64)
    for old in range(len(slots)):
        key = slots[old]
        if key >= 0:
            place = _slot(key, shift)
            while larger[place] >= 0:
                place = (place + 1) & mask
            larger[place] = key
            tallies[place] = counts[old]
    return larger, tallies, bits


@njit(cache=True, nogil=True)
def _compact(slots, counts, used):
    keys = np.empty(used, np.int64)
    tallies = np.empty(used, np.int64)
    at = 0
    for place in range(len(slots)):
        if slots[place] >= 0:
            keys[at] = slots[place]
            tallies[at] = counts[place]
            at += 1
    return keys, tallies


@njit(cache=True, nogil=True)
def aggregate(columns, strides, weights, begin, end):
    """Distinct keys of rows `begin` to `end` with their counts, in no particular order."""
    bits = 12
    slots = np.full(1 << bits, -1, np.int64)
    counts = np.zeros(1 << bits, np.int64)
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    used = 0
    keys = np.empty(_CHUNK, np.int64)
    weighted = len(weights) > 0
    for start in range(begin, end, _CHUNK):
        stop = min(start + _CHUNK, end)
        if 2 * (used + _CHUNK) > len(slots):
            slots, counts, bits = _grown(slots, counts, bits)
            shift = np.uint64(64 - bits)
            mask = (1 << bits) - 1
        _fill(columns, strides, start, stop, keys)
        for row in range(start, stop):
            key = keys[row - start]
            place = _slot(key, shift)
            while slots[place] != key and slots[place] >= 0:
                place = (place + 1) & mask
            if slots[place] < 0:
                slots[place] = key
                used += 1
            counts[place] += weights[row] if weighted else 1
    return _compact(slots, counts, used)


@njit(cache=True, nogil=True)
def fill(columns, strides, begin, end):
    """The keys of rows `begin` to `end`."""
    keys = np.empty(end - begin, np.int64)
    for start in range(begin, end, _CHUNK):
        stop = min(start + _CHUNK, end)
        _fill(columns, strides, start, stop, keys[start - begin : stop - begin])
    return keys


@njit(cache=True, nogil=True)
def run_lengths(ordered):
    """Distinct keys of a sorted array with their counts."""
    distinct = 0
    for row in range(len(ordered)):
        if row == 0 or ordered[row] != ordered[row - 1]:
            distinct += 1
    keys = np.empty(distinct, np.int64)
    counts = np.zeros(distinct, np.int64)
    at = -1
    for row in range(len(ordered)):
        if row == 0 or ordered[row] != ordered[row - 1]:
            at += 1
            keys[at] = ordered[row]
        counts[at] += 1
    return keys, counts


@njit(cache=True, nogil=True)
def merge(left_keys, left_counts, right_keys, right_counts):
    """Two sorted lists of keys with counts as one."""
    keys = np.empty(len(left_keys) + len(right_keys), np.int64)
    counts = np.empty(len(keys), np.int64)
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
    return keys[:at].copy(), counts[:at].copy()


@njit(cache=True, nogil=True)
def numbered(keys):
    """An open-addressing table from key to its position in `keys`."""
    bits = 4
    while (1 << bits) < 2 * len(keys):
        bits += 1
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    table = np.full(1 << bits, -1, np.int32)
    for position in range(len(keys)):
        place = _slot(keys[position], shift)
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = position
    return table


@njit(cache=True, nogil=True)
def locate(columns, strides, keys, table, positions, begin, end):
    """Writes the position in `keys` of every row's key."""
    bits = 0
    while (1 << bits) < len(table):
        bits += 1
    shift = np.uint64(64 - bits)
    mask = len(table) - 1
    chunk = np.empty(_CHUNK, np.int64)
    for start in range(begin, end, _CHUNK):
        stop = min(start + _CHUNK, end)
        _fill(columns, strides, start, stop, chunk)
        for row in range(start, stop):
            place = _slot(chunk[row - start], shift)
            while keys[table[place]] != chunk[row - start]:
                place = (place + 1) & mask
            positions[row] = table[place]
