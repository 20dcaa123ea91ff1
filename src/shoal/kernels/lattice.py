"""Checking a node of the lattice on the distinct tuples of a table, and bounding the nodes between two others.

Attributes with few leaves are packed together into one column, so that a tuple's key is the sum of a few lookups.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_WIDEST = 2.0**62


class Domain(NamedTuple):
    """The packed columns and the hierarchies of their attributes.

    `members[starts[p]:starts[p + 1]]` are the attributes of packed column `p`, the last one varying fastest; entries of
    its table begin at `pack_starts[p]`. Attribute `a` has `leaf_counts[a]` leaves, counted from `leaf_starts[a]` where
    all attributes are counted one after another; at level `j` leaf `i` is the value
    `codes[code_starts[a] + j * leaf_counts[a] + i]` of `widths[a, j]`.
    """

    members: Any
    starts: Any
    pack_starts: Any
    leaf_counts: Any
    leaf_starts: Any
    codes: Any
    code_starts: Any
    widths: Any


class Packed(NamedTuple):
    """Tuples as packed columns, the records that each one stands for, and which of them stands for each distinct tuple
    of the table."""

    columns: Any
    weights: Any
    owners: Any


class Scratch(NamedTuple):
    """Room to group in: an entry for every code of every packed column, a hash table, and the classes: of each tuple,
    and how many records each has."""

    table: Any
    slots: Any
    slot_keys: Any
    owners: Any
    sizes: Any


class Charges(NamedTuple):
    """What cells cost: all of them, and by attribute and level their sum over the table and the greatest one."""

    totals: Any
    costs: Any
    greatest: Any


class Score(NamedTuple):
    """How sums of costs become a score; `charge` says what a record that is left out costs in each attribute: 0
    nothing, 1 one instead of its cell's cost, 2 the information that left-out values had."""

    offsets: Any
    spans: Any
    weights: Any
    geometric: bool
    charge: int


@njit(cache=True, nogil=True)
def _lookup(levels, domain, table):
    """Fills, for every code of every packed column, its part of the key; returns the size of the key space."""
    members, starts, pack_starts, leaf_counts, _, codes, code_starts, widths = domain
    space = 1.0
    for position in range(len(levels)):
        space *= widths[position, levels[position]]
    if space > _WIDEST:
        return np.int64(-1)
    stride = np.int64(1)
    for pack in range(len(starts) - 1):
        begin = pack_starts[pack]
        table[begin] = 0
        filled = 1
        for at in range(starts[pack], starts[pack + 1]):
            attribute = members[at]
            leaves = leaf_counts[attribute]
            row = code_starts[attribute] + levels[attribute] * leaves
            # From behind, so that the entries that are still to be read are not yet overwritten.
            for entry in range(filled - 1, -1, -1):
                before = table[begin + entry]
                for leaf in range(leaves - 1, -1, -1):
                    table[begin + entry * leaves + leaf] = before + codes[row + leaf] * stride
            filled *= leaves
            stride *= widths[attribute, levels[attribute]]
    return stride


@njit(cache=True, nogil=True)
def smallest(nodes, sizes, count, levels):
    """Which of the first `count` nodes that the levels generalize has the fewest classes; the first one always fits."""
    best = 0
    for at in range(1, count):
        fits = sizes[at] < sizes[best]
        for position in range(len(levels)):
            fits = fits and nodes[at, position] <= levels[position]
        if fits:
            best = at
    return best


@njit(cache=True, nogil=True)
def number(levels, held, domain, scratch):
    """Numbers the classes of a node: that of each tuple and how many records each has, in `scratch`. Returns how many
    classes there are, or -1 when a key does not fit into 64 bits."""
    packed, weights, pack_starts = held.columns, held.weights, domain.pack_starts
    table, slots, slot_keys, owners, sizes = scratch
    space = _lookup(levels, domain, table)
    if space < 0:
        return -1
    tuples, packs = packed.shape
    classes = 0
    # Addressed directly where clearing the slots costs no more than hashing the tuples.
    if space <= min(8 * tuples, len(slots)):
        for slot in range(space):
            slots[slot] = -1
        for row in range(tuples):
            key = np.int64(0)
            for pack in range(packs):
                key += table[pack_starts[pack] + packed[row, pack]]
            owner = slots[key]
            if owner < 0:
                owner = classes
                slots[key] = owner
                sizes[owner] = 0
                classes += 1
            owners[row] = owner
            sizes[owner] += weights[row]
        return classes
    bits = 1
    while (1 << bits) < 2 * tuples:
        bits += 1
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for slot in range(1 << bits):
        slots[slot] = -1
    for row in range(tuples):
        key = np.int64(0)
        for pack in range(packs):
            key += table[pack_starts[pack] + packed[row, pack]]
        mixed = np.uint64(key) ^ (np.uint64(key) >> np.uint64(29))
        slot = np.int64((mixed * _MIX) >> shift)
        while slots[slot] >= 0 and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        owner = slots[slot]
        if owner < 0:
            owner = classes
            slots[slot] = owner
            slot_keys[slot] = key
            sizes[owner] = 0
            classes += 1
        owners[row] = owner
        sizes[owner] += weights[row]
    return classes


@njit(cache=True, nogil=True)
def tally(owners, chosen, raw, domain, table):
    """How often each leaf of each attribute occurs in the raw tuples whose owner is chosen, one attribute after
    another."""
    packed, weights = raw.columns, raw.weights
    members, starts, pack_starts, leaf_counts, leaf_starts, _, _, _ = domain
    table[:] = 0
    tuples, packs = packed.shape
    for row in range(tuples):
        if chosen[owners[row]]:
            for pack in range(packs):
                table[pack_starts[pack] + packed[row, pack]] += weights[row]
    counts = np.zeros(leaf_counts.sum(), np.int64)
    for pack in range(packs):
        entries = 1
        for at in range(starts[pack], starts[pack + 1]):
            entries *= leaf_counts[members[at]]
        for entry in range(entries):
            weight = table[pack_starts[pack] + entry]
            if weight:
                rest = entry
                for at in range(starts[pack + 1] - 1, starts[pack] - 1, -1):
                    attribute = members[at]
                    counts[leaf_starts[attribute] + rest % leaf_counts[attribute]] += weight
                    rest //= leaf_counts[attribute]
    return counts


@njit(cache=True, nogil=True)
def histogram(owners, holders, values, counts, classes, size):
    """Sensitive values by class: where each class' entries start, their values, ascending, and their counts.

    Entry `e` says that tuple `holders[e]` has value `values[e]` in `counts[e]` records.
    """
    dense = np.zeros(classes * size, np.int64)
    for entry in range(len(holders)):
        dense[owners[holders[entry]] * size + values[entry]] += counts[entry]
    filled = 0
    for place in range(len(dense)):
        if dense[place]:
            filled += 1
    starts = np.empty(classes + 1, np.int64)
    kept_values = np.empty(filled, np.int32)
    kept_counts = np.empty(filled, np.int64)
    at = 0
    for owner in range(classes):
        starts[owner] = at
        for value in range(size):
            count = dense[owner * size + value]
            if count:
                kept_values[at] = value
                kept_counts[at] = count
                at += 1
    starts[classes] = at
    return starts, kept_values, kept_counts


@njit(cache=True, nogil=True)
def _bits(counts, begin, leaves, codes, row, width):
    """The information in bits, times their number, of values at a level: Σ c·log2(s/c)."""
    grouped = np.zeros(width, np.int64)
    whole = np.int64(0)
    for leaf in range(leaves):
        grouped[codes[row + leaf]] += counts[begin + leaf]
        whole += counts[begin + leaf]
    total = 0.0
    for count in grouped:
        if count:
            total += count * np.log2(whole / count)
    return total


@njit(cache=True, nogil=True)
def bound(low, high, left_out, lost, charges, score, domain):
    """The least score of any node from `low` to `high` when the counted records are left out in all of them, and
    `lost` others that may be any.

    Also the attribute in which the last step of the box costs most, and the bound of the part of the box in which
    that attribute is at its greatest level; -1 when the box is a single node. With `low` and `high` the same this
    is the score itself.
    """
    totals, costs, greatest = charges
    offsets, spans, weights, geometric, charge = score
    _, _, _, leaf_counts, leaf_starts, codes, code_starts, widths = domain
    attributes = len(low)
    sum_low = 0.0
    chosen, widest, step_up = -1, -1.0, 0.0
    for position in range(attributes):
        leaves, begin = leaf_counts[position], leaf_starts[position]
        terms = np.zeros(3)
        information = 0.0
        if charge == 2:
            row = code_starts[position] + high[position] * leaves
            information = _bits(left_out, begin, leaves, codes, row, widths[position, high[position]])
        for which in range(3):
            level = low[position] if which == 0 else high[position] - 2 + which
            if level < low[position]:
                continue
            spent = totals[position, level] + information
            if charge == 1:
                row = code_starts[position] + level * leaves
                for leaf in range(leaves):
                    count = left_out[begin + leaf]
                    if count:
                        spent += count * (1.0 - costs[row + leaf])
                spent += lost * (1.0 - greatest[position, level])
            term = 0.0
            if spans[position] > 0:
                term = max(0.0, (spent - offsets[position]) / spans[position])
            terms[which] = weights[position] * (np.log1p(term) if geometric else term)
        sum_low += terms[0]
        if high[position] > low[position] and terms[2] - terms[1] > widest:
            chosen, widest, step_up = position, terms[2] - terms[1], terms[2] - terms[0]
    least, upper = sum_low, sum_low + step_up
    if geometric:
        least, upper = np.expm1(least), np.expm1(upper)
    return least, chosen, upper


@njit(cache=True, nogil=True)
def survey(levels, held, raw, least, budget, charges, score, domain, scratch):
    """A node when only sizes count: its classes, those below `least` and their records, and, unless there are more than
    `budget` of them, how often each leaf occurs in those records, and the score when they are left out.

    In one call, because calling a kernel costs as much as a small node.
    """
    counts = np.zeros(0, np.int64)
    classes = number(levels, held, domain, scratch)
    owners, sizes = scratch.owners, scratch.sizes
    small, records = 0, np.int64(0)
    for owner in range(classes):
        if sizes[owner] < least:
            small += 1
            records += sizes[owner]
    if classes < 0 or records > budget:
        return classes, small, records, counts, np.nan
    if records == 0:
        counts = np.zeros(domain.leaf_counts.sum(), np.int64)
    else:
        chosen = np.empty(len(held.weights), np.bool_)
        for row in range(len(chosen)):
            chosen[row] = sizes[owners[row]] < least
        counts = tally(held.owners, chosen, raw, domain, scratch.table)
    return classes, small, records, counts, bound(levels, levels, counts, 0, charges, score, domain)[0]
