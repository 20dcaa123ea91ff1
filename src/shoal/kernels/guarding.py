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
