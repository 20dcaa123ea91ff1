"""Groups of records for microaggregation by squared error, as a local search changes them.

Groups have from k to 2k - 1 records; a group that reaches 2k is split at once, which never adds error. Groups are saved
before a kick changes them, so that it can be taken back to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import order_of
from shoal.kernels.squares import apart

TICK, SAVED, HEAD, WAITING, WORK, HINT = range(6)


class GroupSums(NamedTuple):
    """Groups of records. Group `g` has the first `sizes[g]` records of `members[g]`; `sums[g]` is the sum of their
    points, `squares[g]` that of the squared lengths of these. A group without records is free."""

    members: np.ndarray
    sizes: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


class MicroaggregationState(NamedTuple):
    """A grouping, the place of each record in its group, the nearest records of each, the groups as they were before
    the kick, and the records that wait to be looked at.

    `counters` has the number of the kick, of saved groups, the head and the length of the queue, the distances that
    were worked out, and where to look for a free group; `stamps` has the kick in which a group was saved last.
    """

    points: np.ndarray
    lengths: np.ndarray
    near: np.ndarray
    owners: np.ndarray
    places: np.ndarray
    now: GroupSums
    saved: GroupSums
    saved_groups: np.ndarray
    stamps: np.ndarray
    queue: np.ndarray
    queued: np.ndarray
    counters: np.ndarray
    least: int


def _no_groups(most: int, least: int, columns: int) -> GroupSums:
    return GroupSums(
        np.zeros((most, 2 * least), np.int32), np.zeros(most, np.int64), np.zeros((most, columns)), np.zeros(most)
    )


def microaggregation(points: Any, owners: Any, near: Any, least: int) -> MicroaggregationState:
    """The state of a grouping whose groups have from `least` to 2 · `least` - 1 records."""
    count, columns = points.shape
    most = count // least + 2
    search = MicroaggregationState(
        points, (points**2).sum(axis=1), near, owners.astype(np.int32), np.zeros(count, np.int32),
        _no_groups(most, least, columns), _no_groups(most, least, columns), np.zeros(most, np.int32),
        np.zeros(most, np.int64), np.arange(count, dtype=np.int32), np.ones(count, np.bool_), np.zeros(6, np.int64),
        least,
    )  # fmt: skip
    search.counters[WAITING] = count
    _fill(search, owners)
    return search


@kernel
def _fill(state, owners):
    for record in range(len(owners)):
        put(state, record, owners[record])


@inner
def save(state, group):
    """Keeps a group as it is, unless it was kept in this kick."""
    if state.stamps[group] != state.counters[TICK]:
        state.stamps[group] = state.counters[TICK]
        place = state.counters[SAVED]
        state.counters[SAVED] += 1
        state.saved_groups[place] = group
        _copy(state.now, group, state.saved, place)


@inner
def _copy(source, group, target, place):
    size = source.sizes[group]
    target.members[place, :size] = source.members[group, :size]
    target.sizes[place] = size
    target.sums[place] = source.sums[group]
    target.squares[place] = source.squares[group]


@inner
def take_back(state):
    """Makes the groups what they were before the kick."""
    for place in range(state.counters[SAVED]):
        group = state.saved_groups[place]
        _copy(state.saved, place, state.now, group)
        for slot in range(state.now.sizes[group]):
            record = state.now.members[group, slot]
            state.owners[record] = group
            state.places[record] = slot


@inner
def put(state, record, group):
    groups = state.now
    size = groups.sizes[group]
    groups.members[group, size] = record
    groups.sizes[group] = size + 1
    for column in range(state.points.shape[1]):
        groups.sums[group, column] += state.points[record, column]
    groups.squares[group] += state.lengths[record]
    state.places[record] = size
    state.owners[record] = group


@inner
def remove(state, record):
    groups, group, place = state.now, state.owners[record], state.places[record]
    last = groups.sizes[group] - 1
    moved = groups.members[group, last]
    groups.members[group, place] = moved
    state.places[moved] = place
    groups.sizes[group] = last
    for column in range(state.points.shape[1]):
        groups.sums[group, column] -= state.points[record, column]
    groups.squares[group] -= state.lengths[record]


@inner
def empty(state, group):
    state.now.sizes[group] = 0
    state.now.sums[group] = 0.0
    state.now.squares[group] = 0.0


@inner
def free(state):
    """An empty group. There are more groups than could ever be filled."""
    group = state.counters[HINT]
    while state.now.sizes[group] > 0:
        group = (group + 1) % len(state.now.sizes)
    state.counters[HINT] = group
    save(state, group)
    empty(state, group)
    return group


@inner
def group_error(groups, group):
    """The squared error of a group."""
    if groups.sizes[group] == 0:
        return 0.0
    total = 0.0
    for column in range(groups.sums.shape[1]):
        total += groups.sums[group, column] ** 2
    return max(groups.squares[group] - total / groups.sizes[group], 0.0)


@kernel
def error_of(state):
    """The squared error of all groups."""
    total = 0.0
    for group in range(len(state.now.sizes)):
        total += group_error(state.now, group)
    return total


def work(state: MicroaggregationState) -> int:
    """How many distances were worked out so far."""
    return int(state.counters[WORK])


@inner
def added_error(state, record, group):
    """What a record adds to the error of a group that it joins."""
    size, total = state.now.sizes[group], 0.0
    for column in range(state.points.shape[1]):
        total += (state.points[record, column] - state.now.sums[group, column] / size) ** 2
    return total * size / (size + 1)


@inner
def wait(state, group):
    """Puts the records of a group into the queue."""
    for slot in range(state.now.sizes[group]):
        record = state.now.members[group, slot]
        if not state.queued[record]:
            state.queued[record] = True
            state.queue[(state.counters[HEAD] + state.counters[WAITING]) % len(state.queue)] = record
            state.counters[WAITING] += 1


@inner
def _split(state, group):
    """Halves a group: its two records that are farthest apart, each with the half that is nearer to it."""
    size = state.now.sizes[group]
    records = state.now.members[group, :size].copy()
    first, second, widest = 0, 1, -1.0
    for left in range(size):
        for right in range(left):
            here = apart(state.points[records[left]], state.points[records[right]])
            if here > widest:
                first, second, widest = left, right, here
    lean = np.empty(size)
    for slot in range(size):
        point = state.points[records[slot]]
        lean[slot] = apart(point, state.points[records[first]]) - apart(point, state.points[records[second]])
    state.counters[WORK] += size * (size + 3) // 2
    order = order_of(lean)
    other = free(state)
    empty(state, group)
    for place in range(size):
        put(state, records[order[place]], group if place < size // 2 else other)
    wait(state, other)


@inner
def join(state, record, group):
    """Puts a record into a group, which is split when it has become large enough."""
    save(state, group)
    put(state, record, group)
    if state.now.sizes[group] == 2 * state.least:
        _split(state, group)
