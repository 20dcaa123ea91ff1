"""Checking nodes of the lattice, many in one call, because calling a kernel costs as much as a small node."""

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from shoal.kernels.borrowing import borrowed
from shoal.kernels.boxes import counted, scored, terms
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.lattice import Packed, number
from shoal.kernels.publishable import judged
from shoal.kernels.turns import COMPILED, finish, take

_CELLS = 1 << 25
"""Counts of a dense histogram that are held at a time: of a large table all of them would fill memory."""


class Batch(NamedTuple):
    """Nodes that threads check together, what each is grouped from, and what is found.

    Node `n` is grouped from the base that lies at `bases[n]`: where its columns, weights and firsts begin in memory,
    how many tuples it has, and where a histogram's tuples, values and counts begin, how many they are, and how many
    values there may be. What is found of each node: how many classes it has and how many of them are published, how
    many records break the policy and how many are lost in every specialization; what each attribute adds to the score
    at least at each level from there down; the score. The last two are of no use where more records are left out than
    may be; all of them count as left out where that is known before they are counted.
    """

    nodes: Any
    bases: Any
    turns: Any
    counts: Any
    terms: Any
    scores: Any


class SparseCounts(NamedTuple):
    """A histogram: the tuple, the value and the count of each entry, and how many values there are."""

    tuples: Any
    values: Any
    counts: Any
    size: int


@kernel
def weighed(levels, table, firsts, sizes, broken, keepable, budget, rates, domain):
    """A node when some classes are broken and of each one so many records can be kept: how many classes are published,
    how many records break the policy, how many are lost in every specialization, what each attribute therefore adds to
    the score at least at each level from there down, and the score."""
    published, staying, records, gone = 0, 0, np.int64(0), np.int64(0)
    for owner in range(len(sizes)):
        gone += sizes[owner] - keepable[owner]
        if keepable[owner]:
            staying += 1
        if broken[owner]:
            records += sizes[owner]
        else:
            published += 1
    if gone > budget:
        return published, records, gone, np.zeros((0, 0)), np.nan
    # What goes is the rest of what stays: whichever is in fewer classes is counted.
    counts = np.empty(len(sizes), np.int64)
    rest = 2 * staying < len(sizes)
    for owner in range(len(sizes)):
        counts[owner] = keepable[owner] if rest else sizes[owner] - keepable[owner]
    lost = counted(levels, table, firsts, counts, rest, domain)
    added = terms(levels, lost, rates, domain)
    if records > budget:
        return published, records, gone, added, np.nan
    if records > gone:
        rest = 2 * published < len(sizes)
        for owner in range(len(sizes)):
            counts[owner] = sizes[owner] if broken[owner] != rest else 0
        lost = counted(levels, table, firsts, counts, rest, domain)
    return published, records, gone, added, scored(levels, lost, rates, domain)


@inner
def _check(levels, packed, table, least, budget, rates, domain, scratch):
    """A node when only sizes count: its classes, how many of them are published, the records that break the policy,
    those that are lost in every specialization, and, unless there are more than `budget` of them, what each attribute
    adds at least from there down, and the score when they are left out."""
    tuples, everyone = len(packed.weights), table.whole[: domain.leaf_counts[0]].sum()
    # The published classes have `least` records or more, the others one or more: with more classes than that, too many
    # records are lost, however many it is.
    most = min(everyone // least + budget, tuples)
    classes = number(levels, packed, most, domain, scratch)
    if classes == -2:
        return tuples, 0, everyone, everyone, np.zeros((0, 0)), np.nan
    if classes < 0:
        return classes, 0, np.int64(0), np.int64(0), np.zeros((0, 0)), np.nan
    sizes = scratch.sizes[:classes]
    broken = np.empty(classes, np.bool_)
    keepable = np.empty(classes, np.int64)
    for owner in range(classes):
        broken[owner] = sizes[owner] < least
        keepable[owner] = 0 if broken[owner] else sizes[owner]
    published, records, gone, added, value = weighed(
        levels, table, scratch.firsts, sizes, broken, keepable, budget, rates, domain
    )
    return classes, published, records, gone, added, value


@inner
def _large(classes, sizes, least):
    """The classes of `least` records or more, and the place of each class among them, -1 for the others."""
    places = np.empty(classes, np.int32)
    chosen = np.empty(classes + 1, np.int32)
    large = 0
    for owner in range(classes):
        # Written in any case, as below.
        chosen[large] = owner
        places[owner] = large if sizes[owner] >= least else -1
        large += sizes[owner] >= least
    return chosen[:large], places


@kernel
def rolled(owners, places, large, histogram):
    """A histogram over coarser classes: where the entries of each begin, their values, ascending, and their counts.

    The tuple `i` is in class `owners[i]`, whose place is `places[owners[i]]`; classes without one are left out.
    """
    tuples_held, values_held, counts_held, size = histogram
    block = max(1, min(large, _CELLS // max(size, 1)))
    # Behind the others a row for classes without a place: whether there is one cannot be predicted.
    dense = np.zeros((block + 1) * size, np.int64)
    cells = np.empty(len(owners), np.int32)
    starts = np.empty(large + 1, np.int64)
    room = min(large * size, len(values_held))
    values = np.empty(room + 1, np.int32)
    counts = np.empty(room + 1, np.int64)
    at = 0
    for first in range(0, large, block):
        end = min(first + block, large)
        for row in range(len(owners)):
            place = places[owners[row]]
            cells[row] = (place - first if first <= place < end else block) * size
        for entry in range(len(tuples_held)):
            dense[cells[tuples_held[entry]] + values_held[entry]] += counts_held[entry]
        cell = 0
        for place in range(first, end):
            starts[place] = at
            for value in range(size):
                # Written in any case, and written over by the next one unless it counts: no branch to predict.
                values[at] = value
                counts[at] = dense[cell]
                at += dense[cell] != 0
                dense[cell] = 0
                cell += 1
    starts[large] = at
    return starts, values[:at], counts[:at]


@inner
def _examination(levels, packed, table, histogram, measure, worst, least, budget, rates, domain, scratch):
    """The same when a sensitive attribute has to keep a level, too, no worse than `worst`."""
    classes = number(levels, packed, len(packed.weights), domain, scratch)
    if classes < 0:
        return classes, 0, np.int64(0), np.int64(0), np.zeros((0, 0)), np.nan
    sizes = scratch.sizes[:classes]
    chosen, places = _large(classes, sizes, least)
    starts, values, counts = rolled(scratch.owners[: len(packed.weights)], places, len(chosen), histogram)
    holds, most = judged(starts, values, counts, measure, worst, least)
    broken = np.ones(classes, np.bool_)
    keepable = np.zeros(classes, np.int64)
    for place in range(len(chosen)):
        broken[chosen[place]] = not holds[place]
        keepable[chosen[place]] = most[place]
    published, records, gone, added, value = weighed(
        levels, table, scratch.firsts, sizes, broken, keepable, budget, rates, domain
    )
    return classes, published, records, gone, added, value


@intrinsic
def _memory(context, address):
    """What begins at an address. Bases of many nodes in one call are handed over by where they lie: a list of arrays
    takes longer to unwrap than a node to check."""

    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), code


@inner
def _base(place, columns):
    """The base that lies at a place."""
    tuples = place[3]
    return Packed(
        carray(_memory(place[0]), (columns, tuples), np.int32),
        carray(_memory(place[1]), (tuples,), np.int64),
        carray(_memory(place[2]), (tuples,), np.int32),
    )


@inner
def _histogram(place):
    """Its histogram."""
    entries = place[7]
    return SparseCounts(
        carray(_memory(place[4]), (entries,), np.int32),
        carray(_memory(place[5]), (entries,), np.int32),
        carray(_memory(place[6]), (entries,), np.int64),
        place[8],
    )


@inner
def _write(batch, at, check):
    classes, published, records, gone, terms, score = check
    batch.counts[at, 0], batch.counts[at, 1] = classes, published
    batch.counts[at, 2], batch.counts[at, 3] = records, gone
    batch.scores[at] = score
    if len(terms):
        batch.terms[at] = terms
    finish(batch.turns)


@kernel
def checked(batch, most, table, least, budget, rates, domain, scratch):
    """Checks nodes of a batch that no other thread has taken, so many at most, when only sizes count; returns the last
    one, or -1."""
    last, packs = np.int64(-1), len(domain.pack_starts)
    batch, table, rates, domain, scratch = borrowed((batch, table, rates, domain, scratch))
    for _ in range(most):
        at = take(batch.turns, COMPILED)
        if at >= len(batch.nodes):
            break
        packed = _base(batch.bases[at], packs)
        _write(batch, at, _check(batch.nodes[at], packed, table, least, budget, rates, domain, scratch))
        last = at
    return last


@kernel
def examined(batch, most, table, measure, worst, least, budget, rates, domain, scratch):
    """The same when a sensitive attribute has to keep a level, too, no worse than `worst`."""
    last, packs = np.int64(-1), len(domain.pack_starts)
    batch, table, measure, rates, domain, scratch = borrowed((batch, table, measure, rates, domain, scratch))
    for _ in range(most):
        at = take(batch.turns, COMPILED)
        if at >= len(batch.nodes):
            break
        packed, histogram = _base(batch.bases[at], packs), _histogram(batch.bases[at])
        node = batch.nodes[at]
        check = _examination(node, packed, table, histogram, measure, worst, least, budget, rates, domain, scratch)
        _write(batch, at, check)
        last = at
    return last
