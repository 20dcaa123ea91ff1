"""Grouping the distinct tuples of a table at a node of the lattice.

Attributes with few leaves are packed together into one column, so that a tuple's key is the sum of a few lookups.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.grouping import slot_of
from shoal.kernels.prefetching import soon

WIDEST = 2.0**62
_CHUNK = 1 << 11
"""Tuples whose keys are made at once: they stay in the cache."""
_NEAR = 1 << 19
"""Slots that stay in the cache, more or less."""


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
    """Tuples as packed columns, one after the other, the records that each tuple stands for, and one of the distinct
    tuples of the table that each one stands for."""

    columns: Any
    weights: Any
    firsts: Any


class Tuples(NamedTuple):
    """The leaves of each distinct tuple of the table, and how many records have each value of each level, which stand
    like the codes of the domain."""

    leaves: Any
    whole: Any


class Scratch(NamedTuple):
    """Room to group in: an entry for every code of every packed column, a hash table, and the classes: of each tuple,
    and of each class how many records it has and one of its distinct tuples."""

    table: Any
    slots: Any
    slot_keys: Any
    owners: Any
    sizes: Any
    firsts: Any


@inner
def _lookup(levels, packs, domain, table):
    """Fills, for every code of those packed columns, its part of the key; returns the size of the key space."""
    members, starts, pack_starts, leaf_counts, _, codes, code_starts, widths = domain
    space = 1.0
    for position in range(len(levels)):
        space *= widths[position, levels[position]]
    if space > WIDEST:
        return np.int64(-1)
    # The last attribute varies fastest: tuples, which are sorted, have keys that lie near to one another.
    stride = np.int64(1)
    strides = np.empty(len(levels), np.int64)
    for attribute in range(len(levels) - 1, -1, -1):
        strides[attribute] = stride
        stride *= widths[attribute, levels[attribute]]
    for pack in packs:
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
                    table[begin + entry * leaves + leaf] = before + codes[row + leaf] * strides[attribute]
            filled *= leaves
    return stride


@inner
def _telling(levels, domain):
    """The packed columns whose attributes are not all at levels of one value: the others add nothing to any key."""
    packs = np.empty(len(domain.pack_starts), np.int64)
    used = 0
    for pack in range(len(packs)):
        telling = False
        for at in range(domain.starts[pack], domain.starts[pack + 1]):
            telling = telling or domain.widths[domain.members[at], levels[domain.members[at]]] > 1
        if telling:
            packs[used] = pack
            used += 1
    return packs[:used]


@kernel
def smallest(bases, sizes, count, nodes):
    """Of each node, which of the first `count` bases that it generalizes has the fewest classes; the first one always
    fits."""
    best = np.zeros(len(nodes), np.int64)
    for node in range(len(nodes)):
        for at in range(1, count):
            fits = sizes[at] < sizes[best[node]]
            for position in range(bases.shape[1]):
                fits = fits and bases[at, position] <= nodes[node, position]
            if fits:
                best[node] = at
    return best


@inner
def _keyed(begin, packed, packs, domain, table, keys):
    """The keys of some tuples from `begin` on, column by column; returns how many there are."""
    columns, pack_starts = packed.columns, domain.pack_starts
    count = min(len(keys), columns.shape[1] - begin)
    for row in range(count):
        keys[row] = 0
    for pack in packs:
        entries = table[pack_starts[pack] :]
        column = columns[pack, begin : begin + count]
        for row in range(count):
            keys[row] += entries[column[row]]
    return count


@kernel
def number(levels, packed, most, domain, scratch):
    """Numbers the classes of a node: that of each tuple, how many records each has and one of its distinct tuples, in
    `scratch`. Returns how many classes there are, -1 when a key does not fit into 64 bits, and -2 as soon as there are
    more than `most`."""
    weights = packed.weights
    table, slots, slot_keys, owners, sizes, firsts = scratch
    packs = _telling(levels, domain)
    space = _lookup(levels, packs, domain, table)
    if space < 0:
        return -1
    tuples = len(weights)
    keys = np.empty(min(tuples, _CHUNK), np.int64)
    classes = 0
    # Addressed directly where clearing the slots costs no more than hashing the tuples.
    direct = space <= min(8 * tuples, len(slots))
    bits = 1
    while (1 << bits) < 2 * min(tuples, most + 1):
        bits += 1
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    used = space if direct else 1 << bits
    far = used > _NEAR
    for slot in range(used):
        slots[slot] = -1
    for begin in range(0, tuples, _CHUNK):
        count = _keyed(begin, packed, packs, domain, table, keys)
        if far:
            for at in range(count):
                slot = keys[at] if direct else slot_of(keys[at], shift)
                soon(slots, slot)
                if not direct:
                    soon(slot_keys, slot)
        for at in range(count):
            key, row = keys[at], begin + at
            slot = key
            if not direct:
                slot = slot_of(key, shift)
                while slots[slot] >= 0 and slot_keys[slot] != key:
                    slot = (slot + 1) & mask
            owner = slots[slot]
            if owner < 0:
                if classes == most:
                    return -2
                owner = classes
                slots[slot] = owner
                if not direct:
                    slot_keys[slot] = key
                sizes[owner] = 0
                firsts[owner] = packed.firsts[row]
                classes += 1
            owners[row] = owner
            sizes[owner] += weights[row]
    return classes


@kernel
def occurring(leaves, weights, heights, domain):
    """How many records have each value of each level, which stand like the codes of the domain."""
    _, _, _, leaf_counts, _, codes, code_starts, _ = domain
    whole = np.zeros(len(codes), np.int64)
    for row in range(len(weights)):
        for position in range(len(heights)):
            whole[code_starts[position] + leaves[row, position]] += weights[row]
    for position in range(len(heights)):
        begin, count = code_starts[position], leaf_counts[position]
        for level in range(1, heights[position] + 1):
            row = begin + level * count
            for leaf in range(count):
                whole[row + codes[row + leaf]] += whole[begin + leaf]
    return whole
