"""Local search for microaggregation by squared error: moves, swaps, dissolved and rebuilt groups."""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import order_of
from shoal.kernels.squares import apart
from shoal.kernels.squares_groups import (
    HEAD,
    SAVED,
    TICK,
    WAITING,
    WORK,
    added_error,
    empty,
    free,
    group_error,
    join,
    put,
    remove,
    save,
    take_back,
    wait,
)

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


@inner
def _look(state, record, looked, middle):
    """Makes the move of a record to a neighbouring group, or the swap with one of its records, that saves most."""
    groups, points, home = state.now, state.points, state.owners[record]
    own, columns = groups.sizes[home], points.shape[1]
    middle[:] = groups.sums[home] / own
    leaves = 0.0
    if own > state.least:
        leaves = apart(points[record], middle) * own / (own - 1)
    best, target, partner, count = -GAIN, -1, -1, 0
    for other in state.near[record]:
        group = state.owners[other]
        known = group == home
        for place in range(count):
            known |= looked[place] == group
        if known:
            continue
        looked[count] = group
        count += 1
        size = groups.sizes[group]
        state.counters[WORK] += 1 + size
        if own > state.least:
            change = added_error(state, record, group) - leaves
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
    save(state, home)
    remove(state, record)
    if partner >= 0:
        save(state, target)
        remove(state, partner)
        put(state, partner, home)
    wait(state, home)
    join(state, record, target)
    wait(state, target)
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


@inner
def _dissolve(state, group):
    """Puts the records of a group each into the neighbouring group to which it adds least."""
    size = state.now.sizes[group]
    records = state.now.members[group, :size].copy()
    save(state, group)
    empty(state, group)
    for record in records:
        state.owners[record] = -1
    for record in records:
        best, target = np.inf, -1
        state.counters[WORK] += len(state.near[record])
        for other in state.near[record]:
            there = state.owners[other]
            if there >= 0:
                added = added_error(state, record, there)
                if added < best:
                    best, target = added, there
        if target < 0:
            return False
        join(state, record, target)
        wait(state, target)
    return True


@inner
def _rebuild(state, record, draws):
    """Dissolves some groups around a record and makes new ones of their records."""
    least, points = state.least, state.points
    wanted = 2 + int((draws[1] - DISSOLVED) / (1.0 - DISSOLVED) * (POOLED - 1))
    chosen, pooled = np.empty(POOLED, np.int32), 1
    chosen[0] = state.owners[record]
    for other in state.near[record]:
        group = state.owners[other]
        if pooled < wanted and not (chosen[:pooled] == group).any():
            chosen[pooled] = group
            pooled += 1
    total = 0
    for group in chosen[:pooled]:
        total += state.now.sizes[group]
    pool = np.empty(total, np.int32)
    total = 0
    for group in chosen[:pooled]:
        size = state.now.sizes[group]
        pool[total : total + size] = state.now.members[group, :size]
        total += size
        save(state, group)
        empty(state, group)
    fewest, most = (total + 2 * least - 2) // (2 * least - 1), total // least
    count = min(max(pooled - 1 + int(draws[2] * 3), fewest), most, POOLED + 2)
    fresh = np.empty(count, np.int32)
    left = total
    distances = np.empty(total)
    last = pool[int(draws[3] * total)]
    for number in range(count):
        group = free(state)
        fresh[number] = group
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
        order = order_of(distances[:left])
        for slot in order[:least]:
            put(state, pool[slot], group)
        pool[: left - least] = pool[order[least:]]
        left -= least
        state.counters[WORK] += 2 * left
    for slot in range(left):
        best, target = np.inf, -1
        for group in fresh:
            if state.now.sizes[group] < 2 * least - 1:
                added = added_error(state, pool[slot], group)
                if added < best:
                    best, target = added, group
        put(state, pool[slot], target)
    for group in fresh:
        wait(state, group)


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
            take_back(state)
            continue
        settle(state, flag)
        change = 0.0
        for place in range(state.counters[SAVED]):
            change += group_error(state.now, state.saved_groups[place]) - group_error(state.saved, place)
        if change < -heat * np.log(1.0 - draw[-1]):
            current += change
            if current < best - GAIN:
                best = current
                owners[:] = state.owners
        else:
            take_back(state)
    return current, best
