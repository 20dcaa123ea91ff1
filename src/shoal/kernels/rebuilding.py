"""Dissolving a few neighbouring clusters and rebuilding them, again and again, whenever that saves loss.

Moves and swaps of single records end where every one of them costs something at first; where a column is published
along a hierarchy that is almost everywhere. Rebuilding passes over such ridges: the records of up to four clusters are
pooled, grown into clusters anew from other beginnings, and what is left over goes wherever it adds least.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.guarding import keeps, tally_for
from shoal.kernels.refinement import LEAST_GAIN, measure, shift

POOLED = 4
"""Clusters that are dissolved together at most; six save a hundredth more in half as much time again."""

LARGEST = 3
"""Times the least size that a cluster may have to be dissolved. Larger ones are of equal records, mostly."""

FEWER = 4
"""One rebuilding out of so many leaves room for fewer clusters than there could be."""

LOOKS = 16
"""Nearest tuples whose clusters a record that is left over may join."""


class Block(NamedTuple):
    """What one rebuilding thread has for itself: the records `rows` of some clusters, all with the same number in
    `zones`, numbers of clusters in `spare`, of which those from `used[0]` on are free, and a random state."""

    rows: Any
    zone: Any
    zones: Any
    spare: Any
    used: Any
    random: Any


class Draft(NamedTuple):
    """Clusters as they may become: the records in the pool; for each place in `rest`, the codes of its record, what it
    costs at least, and with which of the ends that a cluster had it costs just that; the draft cluster of each record;
    the records without one yet (`rest`); and of each draft cluster the ends, the size, the cost of a record, and which
    cluster it will be (-1: one of the dissolved)."""

    pool: Any
    codes: Any
    here: Any
    exact: Any
    owners: Any
    rest: Any
    low: Any
    high: Any
    sizes: Any
    paid: Any
    names: Any


@inner(borrowing=True)
def draw(random, below):
    """A random number from 0 up to, not including, `below` (xorshift64*)."""
    state = random[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    random[0] = state
    return np.int64((state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) % below


@inner(borrowing=True)
def _chosen(row, state, block, most, chosen):
    """Fills in a record's cluster and a few of those around it; returns how many."""
    chosen[0] = state.owners[row]
    count, wanted = 1, 1 + draw(block.random, len(chosen))
    near = state.neighbours[state.tuples[row]]
    for _ in range(3 * wanted):
        if count >= wanted:
            break
        # The square of an even draw: near ones more often than far ones.
        even = draw(block.random, 1 << 20) / (1 << 20)
        tuple_ = near[int(len(near) * even * even)]
        if tuple_ < 0:
            continue
        first, last = state.starts[tuple_], state.starts[tuple_ + 1]
        cluster = state.owners[first + draw(block.random, last - first)]
        if cluster >= 0 and block.zones[cluster] == block.zone and state.sizes[cluster] <= most:
            fresh = True
            for place in range(count):
                fresh &= chosen[place] != cluster
            if fresh:
                chosen[count] = cluster
                count += 1
    return count


@inner(borrowing=True)
def _widen(draft, cluster, point):
    """Takes a record in; whether the ends of the draft cluster moved."""
    moved = False
    for attribute in range(len(point)):
        if point[attribute] < draft.low[cluster, attribute]:
            draft.low[cluster, attribute], moved = point[attribute], True
        if point[attribute] > draft.high[cluster, attribute]:
            draft.high[cluster, attribute], moved = point[attribute], True
    return moved


@inner(borrowing=True)
def _grow(clusters, least, draft, rest, costs, random, limit):
    """Grows so many draft clusters to the least size, each from a record drawn at random or the one farthest from the
    cluster before; returns their loss, which is incomplete once it exceeds `limit`."""
    low, high, left, codes, here, exact = draft.low, draft.high, draft.rest, draft.codes, draft.here, draft.exact
    total, width = 0.0, codes.shape[1]
    for cluster in range(clusters):
        at = draw(random, rest)
        if cluster > 0 and draw(random, 2):
            farthest = -1.0
            for place in range(rest):
                joint = 0.0
                for attribute in range(width):
                    code = codes[place, attribute]
                    lowest = min(low[cluster - 1, attribute], code)
                    joint += cost(costs, attribute, lowest, max(high[cluster - 1, attribute], code))
                if joint > farthest:
                    farthest, at = joint, place
        paid, dearest = 0.0, (limit - total) / least + LEAST_GAIN
        ends = 0
        for place in range(rest):
            here[place], exact[place] = 0.0, -1
        for size in range(least):
            if size > 0:
                best, at = dearest, -1
                for place in range(rest):
                    # Ends only move apart, and no record becomes cheaper: what it cost is the least that it costs now.
                    if here[place] < best:
                        if exact[place] != ends:
                            joint = 0.0
                            for attribute in range(width):
                                code = codes[place, attribute]
                                lowest = min(low[cluster, attribute], code)
                                joint += cost(costs, attribute, lowest, max(high[cluster, attribute], code))
                                if joint > best:
                                    break
                            here[place] = joint
                            if joint >= best:
                                continue
                            exact[place] = ends
                        best, at = here[place], place
                        if best <= paid:
                            break  # Nothing is cheaper than what adds nothing.
                if at < 0:
                    return np.inf  # Clusters only become dearer.
                paid = best
            entry = left[at]
            rest -= 1
            draft.owners[entry] = cluster
            if size == 0:
                for attribute in range(width):  # whole rows take the compiler seconds longer
                    low[cluster, attribute] = high[cluster, attribute] = codes[at, attribute]
            elif _widen(draft, cluster, codes[at]):
                ends += 1
            # The last one takes the place, so that those that are left stand side by side.
            left[at], here[at], exact[at] = left[rest], here[rest], exact[rest]
            for attribute in range(width):
                codes[at, attribute] = codes[rest, attribute]
        draft.sizes[cluster], draft.paid[cluster], draft.names[cluster] = least, paid, -1
        total += paid * least
        if total > limit:
            break
    return total


@inner(borrowing=True)
def _is_drafted(cluster, chosen, names, begin, end):
    """Whether a cluster is dissolved, or already in the draft."""
    drafted = False
    for place in range(len(chosen)):
        drafted |= chosen[place] == cluster
    for place in range(begin, end):
        drafted |= names[place] == cluster
    return drafted


@inner(borrowing=True)
def _place(clusters, chosen, draft, rest, state, costs, block, limit):
    """Puts each record that is left over into the draft cluster, or the cluster around it, to which it adds least;
    returns the number of draft clusters and what was added. Nothing fits any more once that exceeds `limit`."""
    low, high, codes, ends, width = draft.low, draft.high, draft.codes, state.extremes, draft.codes.shape[1]
    drafts, total = clusters, 0.0
    for place in range(rest):
        entry = draft.rest[place]
        near = state.neighbours[state.tuples[draft.pool[entry]]]
        best, at, name = limit - total, np.int64(-1), np.int64(-1)
        for cluster in range(drafts):
            before, size = draft.paid[cluster] * draft.sizes[cluster], draft.sizes[cluster] + 1
            here, dearest = 0.0, (best + before) / size
            for attribute in range(width):
                code = codes[place, attribute]
                here += cost(costs, attribute, min(low[cluster, attribute], code), max(high[cluster, attribute], code))
                if here > dearest:
                    break
            if here * size - before < best:
                best, at = here * size - before, cluster
        for look in range(min(len(near), LOOKS if clusters else len(near))):
            if near[look] < 0:
                break
            first, last = state.starts[near[look]], state.starts[near[look] + 1]
            cluster = state.owners[first + (0 if clusters else draw(block.random, last - first))]
            if cluster < 0 or block.zones[cluster] != block.zone:
                continue
            if _is_drafted(cluster, chosen, draft.names, clusters, drafts):
                continue
            before, size = state.paid[cluster], state.sizes[cluster] + 1
            here, dearest = 0.0, (best + before) / size
            for attribute in range(width):
                code = codes[place, attribute]
                here += cost(
                    costs, attribute, min(ends[cluster, 0, attribute], code), max(ends[cluster, 3, attribute], code)
                )
                if here > dearest:
                    break
            if here * size - before < best:
                best, at, name = here * size - before, drafts, cluster
        if at < 0:
            return drafts, np.inf
        if at == drafts:
            for attribute in range(width):
                low[drafts, attribute], high[drafts, attribute] = ends[name, 0, attribute], ends[name, 3, attribute]
            draft.sizes[drafts], draft.names[drafts] = state.sizes[name], name
            draft.paid[drafts] = state.paid[name] / state.sizes[name]
            drafts += 1
        before = draft.paid[at] * draft.sizes[at]
        _widen(draft, at, codes[place])
        draft.sizes[at] += 1
        draft.paid[at] = (before + best) / draft.sizes[at]
        draft.owners[entry] = at
        total += best
    return drafts, total


@inner(borrowing=True)
def _carry_out(clusters, drafts, pooled, chosen, draft, state, costs, block, guard, tally):
    """Makes the draft what is; unless a cluster lost what is guarded, in which case all is as it was. Returns whether
    the draft was kept."""
    used = block.used[0]
    for cluster in range(clusters):
        if cluster < len(chosen):
            draft.names[cluster] = chosen[cluster]
        else:
            draft.names[cluster] = block.spare[used]
            used += 1
    for entry in range(pooled):
        # The cluster before takes the place of the draft one.
        row = draft.pool[entry]
        before, after = np.int64(state.owners[row]), np.int64(draft.names[draft.owners[entry]])
        draft.owners[entry] = before
        if before != after:
            shift(row, after, state)
    guarded = True
    if guard.kinds:
        for cluster in range(drafts):
            guarded &= keeps(np.int64(draft.names[cluster]), np.int64(-1), np.int64(-1), state, guard, tally)
    if not guarded:
        for entry in range(pooled):
            if state.owners[draft.pool[entry]] != draft.owners[entry]:
                shift(draft.pool[entry], draft.owners[entry], state)
        return False
    for cluster in range(drafts):
        block.zones[draft.names[cluster]] = block.zone
        measure(np.int64(draft.names[cluster]), state, costs)
    for place in range(clusters, len(chosen)):
        used -= 1
        block.spare[used] = chosen[place]
        measure(np.int64(chosen[place]), state, costs)
    block.used[0] = used
    return True


@kernel
def rebuild(times, block, state, costs, least, guard, flag):
    """Dissolves and rebuilds clusters of a block so many times, at records drawn at random, and keeps what saves
    loss; returns how often it did.

    Blocks that have no cluster in common may be rebuilt at the same time.
    """
    most = LARGEST * least
    room, width = POOLED * most, state.points.shape[1]
    wide = room // least + 1 + room
    draft = Draft(
        np.empty(room, np.int64), np.empty((room, width), np.int32), np.empty(room), np.empty(room, np.int64),
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty((wide, width), np.int32),
        np.empty((wide, width), np.int32), np.empty(wide, np.int64), np.empty(wide), np.empty(wide, np.int64),
    )  # fmt: skip
    around = np.empty(POOLED, np.int64)
    return _rebuild(times, block, state, costs, least, guard, tally_for(guard), draft, around, flag)


@inner(borrowing=True)
def _rebuild(times, block, state, costs, least, guard, tally, draft, around, flag):
    most, width = LARGEST * least, state.points.shape[1]
    saved = 0
    for _ in range(times):
        if flag[0]:
            break
        row = block.rows[draw(block.random, len(block.rows))]
        if state.paid[state.owners[row]] <= 0.0 or state.sizes[state.owners[row]] > most:
            continue
        chosen = around[: _chosen(row, state, block, most, around)]
        pooled, limit = np.int64(0), -LEAST_GAIN
        for cluster in chosen:
            limit += state.paid[cluster]
            row = np.int64(state.heads[cluster])
            while row >= 0:
                draft.pool[pooled], draft.rest[pooled] = row, pooled
                for attribute in range(width):
                    draft.codes[pooled, attribute] = state.points[state.tuples[row], attribute]
                pooled += 1
                row = np.int64(state.following[row])
        clusters = 0  # A single cluster is dissolved among those around it.
        if len(chosen) > 1:
            clusters = min(pooled // least - (draw(block.random, FEWER) == 0), len(chosen) + 1)
        total = _grow(clusters, least, draft, pooled, costs, block.random, limit)
        if total > limit:
            continue
        drafts, added = _place(clusters, chosen, draft, pooled - clusters * least, state, costs, block, limit - total)
        if total + added <= limit:
            saved += _carry_out(clusters, drafts, pooled, chosen, draft, state, costs, block, guard, tally)
    return saved
