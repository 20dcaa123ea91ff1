"""Local search for microaggregation by squared error: moves, swaps, dissolved, rebuilt and split groups.

Groups have from k to 2k - 1 records; a group that reaches 2k is split at once, which never adds error. Groups are saved
before a kick changes them, so that it can be taken back to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.squares import apart

POOLED = 5
"""Groups that a kick rebuilds at most."""

DISSOLVED = 0.2
"""The share of the kicks that dissolve one group instead of rebuilding several."""

DRAWS = 4 + POOLED + 2 + 1
"""Random numbers that a kick uses: where, what, how many groups, the first seed, a seed a group, the verdict."""

KICK = 200
"""Distances that take as long as a kick does besides those that it works out."""

GAIN = 1e-9
"""What a change must save at least, in squared standard deviations, so that rounding never keeps the search going."""

TICK, SAVED, HEAD, WAITING, WORK, HINT = range(6)


class Groups(NamedTuple):
    """Groups of records. Group `g` has the first `sizes[g]` records of `members[g]`; `sums[g]` is the sum of their
    points, `squares[g]` that of the squared lengths of these. A group without records is free."""

    members: np.ndarray
    sizes: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


class State(NamedTuple):
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
    now: Groups
    saved: Groups
    saved_groups: np.ndarray
    stamps: np.ndarray
    queue: np.ndarray
    queued: np.ndarray
    counters: np.ndarray
    least: int


def _no_groups(most: int, least: int, columns: int) -> Groups:
    return Groups(
        np.zeros((most, 2 * least), np.int32), np.zeros(most, np.int64), np.zeros((most, columns)), np.zeros(most)
    )


def state(points: Any, owners: Any, near: Any, least: int) -> State:
    """The state of a grouping whose groups have from `least` to 2 · `least` - 1 records."""
    count, columns = points.shape
    most = count // least + 2
    found = State(
        points, (points**2).sum(axis=1), near, owners.astype(np.int32), np.zeros(count, np.int32),
        _no_groups(most, least, columns), _no_groups(most, least, columns), np.zeros(most, np.int32),
        np.zeros(most, np.int64), np.arange(count, dtype=np.int32), np.ones(count, np.bool_), np.zeros(6, np.int64),
        least,
    )  # fmt: skip
    found.counters[WAITING] = count
    _fill(found, owners)
    return found


@kernel
def _fill(state, owners):
    for record in range(len(owners)):
        _put(state, record, owners[record])


@kernel
def _save(state, group):
    """Keeps a group as it is, unless it was kept in this kick."""
    if state.stamps[group] != state.counters[TICK]:
        state.stamps[group] = state.counters[TICK]
        place = state.counters[SAVED]
        state.counters[SAVED] += 1
        state.saved_groups[place] = group
        _copy(state.now, group, state.saved, place)


@kernel
def _copy(source, group, target, place):
    size = source.sizes[group]
    target.members[place, :size] = source.members[group, :size]
    target.sizes[place] = size
    target.sums[place] = source.sums[group]
    target.squares[place] = source.squares[group]


@kernel
def _take_back(state):
    """Makes the groups what they were before the kick."""
    for place in range(state.counters[SAVED]):
        group = state.saved_groups[place]
        _copy(state.saved, place, state.now, group)
        for slot in range(state.now.sizes[group]):
            record = state.now.members[group, slot]
            state.owners[record] = group
            state.places[record] = slot


@kernel
def _put(state, record, group):
    groups = state.now
    size = groups.sizes[group]
    groups.members[group, size] = record
    groups.sizes[group] = size + 1
    for column in range(state.points.shape[1]):
        groups.sums[group, column] += state.points[record, column]
    groups.squares[group] += state.lengths[record]
    state.places[record] = size
    state.owners[record] = group


@kernel
def _remove(state, record):
    groups, group, place = state.now, state.owners[record], state.places[record]
    last = groups.sizes[group] - 1
    moved = groups.members[group, last]
    groups.members[group, place] = moved
    state.places[moved] = place
    groups.sizes[group] = last
    for column in range(state.points.shape[1]):
        groups.sums[group, column] -= state.points[record, column]
    groups.squares[group] -= state.lengths[record]


@kernel
def _empty(state, group):
    state.now.sizes[group] = 0
    state.now.sums[group] = 0.0
    state.now.squares[group] = 0.0


@kernel
def _free(state):
    """An empty group. There are more groups than could ever be filled."""
    group = state.counters[HINT]
    while state.now.sizes[group] > 0:
        group = (group + 1) % len(state.now.sizes)
    state.counters[HINT] = group
    _save(state, group)
    _empty(state, group)
    return group


@kernel
def _error(groups, group):
    """The squared error of a group."""
    if groups.sizes[group] == 0:
        return 0.0
    total = 0.0
    for column in range(groups.sums.shape[1]):
        total += groups.sums[group, column] ** 2
    return max(groups.squares[group] - total / groups.sizes[group], 0.0)


@kernel
def error(state):
    """The squared error of all groups."""
    total = 0.0
    for group in range(len(state.now.sizes)):
        total += _error(state.now, group)
    return total


def work(state: State) -> int:
    """How many distances were worked out so far."""
    return int(state.counters[WORK])


@kernel
def _added(state, record, group):
    """What a record adds to the error of a group that it joins."""
    size, total = state.now.sizes[group], 0.0
    for column in range(state.points.shape[1]):
        total += (state.points[record, column] - state.now.sums[group, column] / size) ** 2
    return total * size / (size + 1)


@kernel
def _wait(state, group):
    """Puts the records of a group into the queue."""
    for slot in range(state.now.sizes[group]):
        record = state.now.members[group, slot]
        if not state.queued[record]:
            state.queued[record] = True
            state.queue[(state.counters[HEAD] + state.counters[WAITING]) % len(state.queue)] = record
            state.counters[WAITING] += 1


@kernel
def _split(state, group):
    """Halves a group: its two records that are farthest apart, each with the half that is nearer to it."""
    size = state.now.sizes[group]
    held = state.now.members[group, :size].copy()
    first, second, widest = 0, 1, -1.0
    for left in range(size):
        for right in range(left):
            here = apart(state.points[held[left]], state.points[held[right]])
            if here > widest:
                first, second, widest = left, right, here
    lean = np.empty(size)
    for slot in range(size):
        point = state.points[held[slot]]
        lean[slot] = apart(point, state.points[held[first]]) - apart(point, state.points[held[second]])
    state.counters[WORK] += size * (size + 3) // 2
    order = np.argsort(lean, kind="mergesort")
    other = _free(state)
    _empty(state, group)
    for place in range(size):
        _put(state, held[order[place]], group if place < size // 2 else other)
    _wait(state, other)


@kernel
def _join(state, record, group):
    """Puts a record into a group, which is split when it has become large enough."""
    _save(state, group)
    _put(state, record, group)
    if state.now.sizes[group] == 2 * state.least:
        _split(state, group)


@kernel
def _look(state, record, looked, middle):
    """Makes the move of a record to a neighbouring group, or the swap with one of its records, that saves most."""
    groups, points, home = state.now, state.points, state.owners[record]
    own, columns = groups.sizes[home], points.shape[1]
    middle[:] = groups.sums[home] / own
    leaves = 0.0
    if own > state.least:
        leaves = apart(points[record], middle) * own / (own - 1)
    best, target, partner, found = -GAIN, -1, -1, 0
    for other in state.near[record]:
        group = state.owners[other]
        known = group == home
        for place in range(found):
            known |= looked[place] == group
        if known:
            continue
        looked[found] = group
        found += 1
        size = groups.sizes[group]
        state.counters[WORK] += 1 + size
        if own > state.least:
            change = _added(state, record, group) - leaves
            if change < best:
                best, target, partner = change, group, -1
        shares = 1.0 / own + 1.0 / size
        for slot in range(size):
            guest = groups.members[group, slot]
            change = 0.0
            for column in range(columns):
                step = points[guest, column] - points[record, column]
                change += step * (2.0 * (groups.sums[group, column] / size - middle[column]) - step * shares)
            if change < best:
                best, target, partner = change, group, guest
    if target < 0:
        return False
    _save(state, home)
    _remove(state, record)
    if partner >= 0:
        _save(state, target)
        _remove(state, partner)
        _put(state, partner, home)
    _wait(state, home)
    _join(state, record, target)
    _wait(state, target)
    return True


@kernel
def settle(state, flag):
    """Moves and swaps records that wait in the queue until nothing is saved any more."""
    looked, middle = np.empty(state.near.shape[1], np.int32), np.empty(state.points.shape[1])
    while state.counters[WAITING] > 0 and not flag[0]:
        record = state.queue[state.counters[HEAD]]
        state.counters[HEAD] = (state.counters[HEAD] + 1) % len(state.queue)
        state.counters[WAITING] -= 1
        state.queued[record] = False
        _look(state, record, looked, middle)


@kernel
def _dissolve(state, group):
    """Puts the records of a group each into the neighbouring group to which it adds least."""
    size = state.now.sizes[group]
    held = state.now.members[group, :size].copy()
    _save(state, group)
    _empty(state, group)
    for record in held:
        state.owners[record] = -1
    for record in held:
        best, target = np.inf, -1
        state.counters[WORK] += len(state.near[record])
        for other in state.near[record]:
            there = state.owners[other]
            if there >= 0:
                added = _added(state, record, there)
                if added < best:
                    best, target = added, there
        if target < 0:
            return False
        _join(state, record, target)
        _wait(state, target)
    return True


@kernel
def _rebuild(state, record, draws):
    """Dissolves some groups around a record and makes new ones of their records."""
    least, points = state.least, state.points
    wanted = 2 + int((draws[1] - DISSOLVED) / (1.0 - DISSOLVED) * (POOLED - 1))
    chosen, found = np.empty(POOLED, np.int32), 1
    chosen[0] = state.owners[record]
    for other in state.near[record]:
        group = state.owners[other]
        if found < wanted and not (chosen[:found] == group).any():
            chosen[found] = group
            found += 1
    total = 0
    for group in chosen[:found]:
        total += state.now.sizes[group]
    pool = np.empty(total, np.int32)
    total = 0
    for group in chosen[:found]:
        size = state.now.sizes[group]
        pool[total : total + size] = state.now.members[group, :size]
        total += size
        _save(state, group)
        _empty(state, group)
    fewest, most = (total + 2 * least - 2) // (2 * least - 1), total // least
    count = min(max(found - 1 + int(draws[2] * 3), fewest), most, POOLED + 2)
    made = np.empty(count, np.int32)
    left = total
    distances = np.empty(total)
    last = pool[int(draws[3] * total)]
    for number in range(count):
        group = _free(state)
        made[number] = group
        place = int(draws[4 + number] * 2 * left)
        if place >= left:  # half of the groups begin far from the one before
            place, farthest = 0, -1.0
            for slot in range(left):
                here = apart(points[pool[slot]], points[last])
                if here > farthest:
                    place, farthest = slot, here
        last = pool[place]
        for slot in range(left):
            distances[slot] = apart(points[pool[slot]], points[last])
        order = np.argsort(distances[:left], kind="mergesort")
        for slot in order[:least]:
            _put(state, pool[slot], group)
        pool[: left - least] = pool[order[least:]]
        left -= least
        state.counters[WORK] += 2 * left
    for slot in range(left):
        best, target = np.inf, -1
        for group in made:
            if state.now.sizes[group] < 2 * least - 1:
                added = _added(state, pool[slot], group)
                if added < best:
                    best, target = added, group
        _put(state, pool[slot], target)
    for group in made:
        _wait(state, group)


@kernel
def kick(state, draws, heat, current, best, owners, flag):
    """Dissolves or rebuilds groups around random records, settles, and keeps what that gives when it saves; when it
    costs, with a chance that falls with the cost over the `heat`.

    `current` is the error now, `best` the least so far, whose grouping `owners` has; returns both as they are then.
    """
    for draw in draws:
        if flag[0]:
            break
        state.counters[TICK] += 1
        state.counters[SAVED] = 0
        state.counters[WORK] += KICK
        record = int(draw[0] * len(state.points))
        if draw[1] >= DISSOLVED:
            _rebuild(state, record, draw)
        elif not _dissolve(state, state.owners[record]):
            _take_back(state)
            continue
        settle(state, flag)
        change = 0.0
        for place in range(state.counters[SAVED]):
            change += _error(state.now, state.saved_groups[place]) - _error(state.saved, place)
        if change < -heat * np.log(1.0 - draw[-1]):
            current += change
            if current < best - GAIN:
                best = current
                owners[:] = state.owners
        else:
            _take_back(state)
    return current, best
