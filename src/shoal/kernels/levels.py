"""The level of a class by the counts of its sensitive values: the one definition of each compiled kind.

Models name a kind and its arrays in a `Measure`; whatever asks for levels, of a summary's histograms or of a partition
of rows, comes here.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import first_from

DISTINCT, ENTROPY, FREQUENCY, RECURSIVE, RATIO, EQUAL, ORDERED, TREE, APART = range(9)

_NO_NODES, _NO_MASSES = np.empty((0, 0), np.int32), np.empty((0, 0))


class Measure(NamedTuple):
    """A kind of level and what it takes: `priors`, the share of each value in the whole table, and for some kinds more.

    `number` is the c of `RECURSIVE` and the l of `RATIO`. `nodes` and `masses` are, of `ORDERED`, the rank of each
    value and the cumulated shares of the ranks with their running sums; of `TREE`, the node of each leaf and the share
    of each node, level by level below the top.
    """

    kind: int
    priors: np.ndarray
    number: float = 0.0
    nodes: np.ndarray = _NO_NODES
    masses: np.ndarray = _NO_MASSES


@inner(borrowing=True)
def _entropy(starts, counts, sizes, levels):
    for owner in range(len(levels)):
        entropy = 0.0
        for entry in range(starts[owner], starts[owner + 1]):
            share = counts[entry] / sizes[owner]
            entropy -= share * np.log(share)
        levels[owner] = np.exp(entropy)


@inner(borrowing=True)
def _frequency(starts, counts, sizes, levels):
    for owner in range(len(levels)):
        most = 1
        for entry in range(starts[owner], starts[owner + 1]):
            most = max(most, counts[entry])
        levels[owner] = sizes[owner] / most


@inner(forceinline=True, borrowing=True)
def put_in_order(array, begin, end):
    """Sorts a part of an array in place (Shell). Most parts are small, for which this is quicker than what numba has,
    and it compiles in a ninth of the time."""
    gap = 1
    while 4 * gap < end - begin:
        gap = 9 * gap // 4 + 1
    while gap > 0:
        for place in range(begin + gap, end):
            entry, at = array[place], place
            while at >= begin + gap and array[at - gap] > entry:
                array[at] = array[at - gap]
                at -= gap
            array[at] = entry
        gap = 4 * gap // 9


@inner(forceinline=True, borrowing=True)
def _ascending(starts, counts, owner, scratch):
    """Writes the counts of a class in ascending order; returns how many there are."""
    used = starts[owner + 1] - starts[owner]
    for place in range(used):
        scratch[place] = counts[starts[owner] + place]
    put_in_order(scratch, 0, used)
    return used


@inner(borrowing=True)
def _recursive(starts, counts, c, scratch, levels):
    """The greatest l for which the most frequent count over the tail from the l-th on stays below c."""
    for owner in range(len(levels)):
        used = _ascending(starts, counts, owner, scratch)
        level, tail = used, 0
        for place in range(used):
            tail += scratch[place]
            # A ratio of two counts is rounded once, so that a tie shows as equality.
            if scratch[used - 1] / tail < c:
                break
            level -= 1
        levels[owner] = level


@inner(borrowing=True)
def _ratio(starts, counts, rank, scratch, levels):
    """The most frequent count over the sum of all but the `rank - 1` greatest ones."""
    for owner in range(len(levels)):
        used = _ascending(starts, counts, owner, scratch)
        tail = 0
        for place in range(used - rank + 1):
            tail += scratch[place]
        if used:
            levels[owner] = scratch[used - 1] / tail if tail > 0 else np.inf


@inner(borrowing=True)
def _equal(starts, values, counts, sizes, priors, levels):
    """Earth Mover's Distance with any two values at distance 1: half the sum of the differences."""
    for owner in range(len(levels)):
        for entry in range(starts[owner], starts[owner + 1]):
            levels[owner] += max(counts[entry] / sizes[owner] - priors[values[entry]], 0.0)


@inner(borrowing=True)
def _ordered(starts, values, counts, sizes, ranks, cumulated, sums, levels):
    """Earth Mover's Distance with neighbouring ranks at distance 1/(m - 1), `m` the number of ranks: the mean absolute
    difference of the cumulated shares.

    Between two values that a class has, its own cumulated share is constant and the table's rises: a search finds
    where it passes, and running sums give what lies on either side.
    """
    steps = len(cumulated) - 1
    if steps < 1:
        return
    for owner in range(len(levels)):
        begin, end = starts[owner], starts[owner + 1]
        if begin == end:
            continue
        own, moved, first = 0.0, 0.0, 0
        for entry in range(begin, end + 1):
            last = ranks[values[entry]] if entry < end else steps
            passed = first_from(own, cumulated, first, last)
            moved += own * (passed - first) - (sums[passed] - sums[first])
            moved += sums[last] - sums[passed] - own * (last - passed)
            first = last
            if entry < end:
                own += counts[entry] / sizes[owner]
        levels[owner] = moved / steps


@inner(borrowing=True)
def _tree(starts, values, counts, sizes, nodes, masses, levels):
    """Earth Mover's Distance with two leaves as far apart as the level of their closest common ancestor is high: the
    mean over the levels below the top of half the sum of the differences there.

    At an inner node, what its children have too much fills what they have too little; what is moved at the nodes
    of a level is by how much the surplus of the level below exceeds the surplus of that level, and the sum of those
    differences, each times its level, telescopes.
    """
    for owner in range(len(levels)):
        surplus = 0.0
        for level in range(len(nodes)):
            own = 0.0
            for entry in range(starts[owner], starts[owner + 1]):
                own += counts[entry] / sizes[owner]
                node = nodes[level, values[entry]]
                if entry + 1 == starts[owner + 1] or nodes[level, values[entry + 1]] != node:
                    surplus += max(own - masses[level, node], 0.0)
                    own = 0.0
        levels[owner] = surplus / len(nodes)


@inner(borrowing=True)
def _apart(starts, values, priors, levels):
    """Values that hold a share s of the table are 1 - s or more away from it, however they are distributed."""
    for owner in range(len(levels)):
        levels[owner] = 1.0
        for entry in range(starts[owner], starts[owner + 1]):
            levels[owner] -= priors[values[entry]]


@inner(borrowing=True)
def fill(starts, values, counts, sizes, measure, scratch, levels):
    """Writes the level of each class of a histogram into `levels`, which is all zero; its entries stand in ascending
    order of their values where the kind is `ORDERED` or `TREE`. `scratch` has room for the entries of a class."""
    kind = measure.kind
    if kind == DISTINCT:
        for owner in range(len(levels)):
            levels[owner] = starts[owner + 1] - starts[owner]
    elif kind == ENTROPY:
        _entropy(starts, counts, sizes, levels)
    elif kind == FREQUENCY:
        _frequency(starts, counts, sizes, levels)
    elif kind == RECURSIVE:
        _recursive(starts, counts, measure.number, scratch, levels)
    elif kind == RATIO:
        _ratio(starts, counts, int(measure.number), scratch, levels)
    elif kind == EQUAL:
        _equal(starts, values, counts, sizes, measure.priors, levels)
    elif kind == ORDERED:
        _ordered(starts, values, counts, sizes, measure.nodes[0], measure.masses[0], measure.masses[1], levels)
    elif kind == TREE:
        _tree(starts, values, counts, sizes, measure.nodes, measure.masses, levels)
    else:
        _apart(starts, values, measure.priors, levels)


@kernel
def by_class(starts, values, counts, measure):
    """The level of each class of a histogram."""
    levels = np.zeros(len(starts) - 1)
    sizes = np.zeros(len(levels), np.int64)
    widest = 0
    for owner in range(len(levels)):
        widest = max(widest, starts[owner + 1] - starts[owner])
        for entry in range(starts[owner], starts[owner + 1]):
            sizes[owner] += counts[entry]
    fill(starts, values, counts, sizes, measure, np.empty(widest, np.int64), levels)
    return levels
