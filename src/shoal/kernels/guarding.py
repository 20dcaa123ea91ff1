"""Whether clusters keep what models say about their sensitive values, while records move."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.levels import fill, put_in_order


class Guard(NamedTuple):
    """What every cluster must keep: so many `distinct` sensitive values, `frequency` times as many records as the most
    frequent value has, and by each of the first `measured` of the `measures` a level of at least the bound, where
    `signs` is 1, or of at most the bound, where it is -1. Values are below `kinds`; nothing is guarded without."""

    kinds: Any
    distinct: Any
    frequency: Any
    measured: Any
    measures: Any
    bounds: Any
    signs: Any


class Tally(NamedTuple):
    """Room to count the values of a cluster in: how often each occurs, all zero between two counts, and the same as a
    histogram of one class with its level."""

    counts: Any
    values: Any
    numbers: Any
    starts: Any
    sizes: Any
    ordered: Any
    levels: Any


@inner
def tally_for(guard):
    """Room to count the values of one cluster at a time."""
    kinds = guard.kinds
    return Tally(
        np.zeros(kinds, np.int64), np.empty(kinds, np.int32), np.empty(kinds, np.int64), np.zeros(2, np.int64),
        np.zeros(1, np.int64), np.empty(kinds, np.int64), np.zeros(1),
    )  # fmt: skip


@inner(borrowing=True)
def keeps(cluster, leaving, coming, state, guard, tally):
    """Whether a cluster keeps what is guarded when one record leaves and another comes, -1 for none."""
    if len(state.counts) and guard.measured == 0:
        return _keeps_counts(cluster, leaving, coming, state, guard)
    if len(state.counts):
        distinct = _read_counts(cluster, leaving, coming, state, tally)
    else:
        distinct = _count(cluster, leaving, coming, state, guard, tally)
    size, most = 0, 0
    for entry in range(distinct):
        size += tally.numbers[entry]
        most = max(most, tally.numbers[entry])
    if distinct < guard.distinct or size / most < guard.frequency:
        return False
    tally.starts[1], tally.sizes[0] = distinct, size
    for place in range(guard.measured):
        tally.levels[0] = 0.0
        fill(tally.starts, tally.values, tally.numbers, tally.sizes, guard.measures[place], tally.ordered, tally.levels)
        if guard.signs[place] * (tally.levels[0] - guard.bounds[place]) < 0:
            return False
    return True


@inner(inline="always", borrowing=True)
def may_exchange(row, partner, target, state, guard, tally):
    """Whether both clusters keep what is guarded when a record goes to another one, and its partner comes back."""
    if guard.kinds == 0 or (partner >= 0 and state.values[row] == state.values[partner]):
        return True
    # One type for all numbers: every other mixture of types would be compiled on its own.
    row, partner, home, target = np.int64(row), np.int64(partner), np.int64(state.owners[row]), np.int64(target)
    if len(state.counts):
        # Whether the value that comes would be too frequent takes one look.
        size, others = state.sizes[home], state.sizes[target] + (partner < 0)
        if partner >= 0 and size / (state.counts[home, state.values[partner]] + 1) < guard.frequency:
            return False
        if others / (state.counts[target, state.values[row]] + 1) < guard.frequency:
            return False
    return keeps(home, row, partner, state, guard, tally) and keeps(target, partner, row, state, guard, tally)


@inner(borrowing=True)
def _keeps_counts(cluster, leaving, coming, state, guard):
    """The same where only the number and the frequency of values are guarded: nothing has to be written down."""
    gone = state.values[leaving] if leaving >= 0 else -1
    come = state.values[coming] if coming >= 0 else -1
    counts = state.counts[cluster]
    size, most, distinct = 0, 0, 0
    for value in range(len(counts)):
        number = counts[value] - (value == gone) + (value == come)
        size, most, distinct = size + number, max(most, number), distinct + (number > 0)
    return not (distinct < guard.distinct or size / most < guard.frequency)


@inner(borrowing=True)
def _read_counts(cluster, leaving, coming, state, tally):
    """Writes the values of a cluster and how often they occur, in ascending order; returns how many there are."""
    distinct = 0
    gone = state.values[leaving] if leaving >= 0 else -1
    come = state.values[coming] if coming >= 0 else -1
    for value in range(state.counts.shape[1]):
        number = state.counts[cluster, value] - (value == gone) + (value == come)
        if number > 0:
            tally.values[distinct], tally.numbers[distinct] = value, number
            distinct += 1
    return distinct


@inner(borrowing=True)
def _count(cluster, leaving, coming, state, guard, tally):
    """The same where the records have to be counted."""
    values, counts = tally.values, tally.counts
    distinct = 0
    if coming >= 0:
        values[0] = state.values[coming]
        counts[values[0]] = distinct = 1
    row = state.heads[cluster]
    while row >= 0:
        if row != leaving:
            value = state.values[row]
            counts[value] += 1
            if counts[value] == 1:
                values[distinct] = value
                distinct += 1
        row = state.following[row]
    if guard.measured > 0:  # no other bound depends on the order
        put_in_order(values, 0, distinct)
    for entry in range(distinct):
        tally.numbers[entry] = counts[values[entry]]
        counts[values[entry]] = 0
    return distinct
