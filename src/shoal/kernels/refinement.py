"""Moving and swapping records between clusters while the loss falls."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost, span
from shoal.kernels.guarding import keeps, may_exchange, tally_for
from shoal.kernels.surroundings import MARGIN, surroundings, survey


class Clusters(NamedTuple):
    """The clusters as they stand.

    - `points`: the distinct tuples; `tuples`: the tuple of each record; `starts`: the first record of each tuple;
      `neighbours`: for each tuple the nearest ones, -1 where there are no more;
    - `owners`: the cluster of each record; `heads`, `following`, `previous`: each cluster's records as a linked list;
    - `sizes`, `extremes` (two least and two greatest codes in each attribute), `paid` (the loss): of each cluster;
    - `changed`: the round in which a cluster changed last; `stirred`: the last such round of the clusters that hold
      records of a tuple; `looked`: the round in which a record was last looked at;
    - `values`: the sensitive value of each record; `counts`: how many records of each value a cluster has. Both are
      empty where nothing is guarded, and `counts` where there are too many values: then records are counted.
    """

    points: Any
    tuples: Any
    starts: Any
    neighbours: Any
    owners: Any
    heads: Any
    following: Any
    previous: Any
    sizes: Any
    extremes: Any
    paid: Any
    changed: Any
    stirred: Any
    looked: Any
    values: Any
    counts: Any


class Proposals(NamedTuple):
    """By record: only gains below its `ceiling` count; what is saved (0: nothing), the cluster that it goes to, and
    the record that comes back, -1 for a plain move."""

    ceiling: Any
    gains: Any
    targets: Any
    partners: Any


MOST = np.iinfo(np.int32).max

CLUSTER_LOOKS, VERDICT_LOOKS = 4, 16
"""A look at a cluster takes as long as one at so many of its records, and so does a verdict, beside counting."""

FEW = 8
"""Records of a cluster up to which looking at each is quicker than a bound for all."""

LEAST_GAIN = 1e-9
"""Above rounding, so that a sum that was stopped early never looks like a gain."""


@kernel(borrowing=True)
def link(state):
    """Fills the linked lists and the figures of every cluster from `owners`."""
    for cluster in range(len(state.heads)):
        state.heads[cluster] = -1
    for row in range(len(state.owners)):
        state.following[row] = state.previous[row] = -1
    for row in range(len(state.owners) - 1, -1, -1):
        owner = state.owners[row]
        if owner >= 0:
            state.following[row] = state.heads[owner]
            if state.heads[owner] >= 0:
                state.previous[state.heads[owner]] = row
            state.heads[owner] = row
            if len(state.counts):
                state.counts[owner, state.values[row]] += 1


@inner(borrowing=True)
def measure(cluster, state, costs):
    """Takes a cluster's size, extremes and loss anew."""
    dimensions = state.points.shape[1]
    ends = state.extremes[cluster]
    low, below, above, high = ends[0], ends[1], ends[2], ends[3]
    for attribute in range(dimensions):
        low[attribute] = below[attribute] = MOST
        high[attribute] = above[attribute] = -1
    size = 0
    row = state.heads[cluster]
    while row >= 0:
        size += 1
        for attribute in range(dimensions):
            code = state.points[state.tuples[row], attribute]
            if code < low[attribute]:
                below[attribute] = low[attribute]
                low[attribute] = code
            elif code < below[attribute]:
                below[attribute] = code
            if code > high[attribute]:
                above[attribute] = high[attribute]
                high[attribute] = code
            elif code > above[attribute]:
                above[attribute] = code
        row = state.following[row]
    state.sizes[cluster] = size
    state.paid[cluster] = size * span(costs, low, high) if size > 0 else 0.0


@kernel(borrowing=True)
def measure_all(state, costs):
    for cluster in range(len(state.heads)):
        measure(cluster, state, costs)


@kernel(borrowing=True)
def stir(state):
    """Takes anew when the clusters of each tuple changed last."""
    for place in range(len(state.stirred)):
        state.stirred[place] = -1
    for row in range(len(state.owners)):
        if state.owners[row] >= 0:
            place, changed = state.tuples[row], state.changed[state.owners[row]]
            if changed > state.stirred[place]:
                state.stirred[place] = changed


@inner(borrowing=True)
def _without(cluster, point, state, low, high):
    """The least and greatest codes of a cluster when one record with these codes is taken out."""
    ends = state.extremes[cluster]
    for attribute in range(len(point)):
        code = point[attribute]
        low[attribute] = ends[1, attribute] if code == ends[0, attribute] else ends[0, attribute]
        high[attribute] = ends[2, attribute] if code == ends[3, attribute] else ends[3, attribute]


@inner(borrowing=True)
def _nearest(ends, low, high, costs):
    """What a cluster with the ends `low` and `high` costs, for each record, with a record of another one, at least:
    with the nearest code that the other one spans in every attribute."""
    total = 0.0
    for attribute in range(len(low)):
        least, most = min(low[attribute], ends[3, attribute]), max(high[attribute], ends[0, attribute])
        total += cost(costs, attribute, least, most)
    return total


@inner(inline="always", borrowing=True)
def _swap(row, home, target, best, highest, state, costs, low, high, at_least, guard, tally):
    """The record of a cluster that saves most when it comes back for one that goes there, -1 for none; what that saves,
    more than `best` and less than `highest`; and how many records were looked at. `low` and `high` are the ends of the
    home without the record; the target costs `at_least` so much, whichever record leaves it."""
    points, tuples, ends = state.points, state.tuples, state.extremes
    both, size, others = state.paid[home] + state.paid[target], state.sizes[home], state.sizes[target]
    going, chosen, looks = tuples[row], -1, 0
    partner, last, gain = state.heads[target], -1, -np.inf
    while partner >= 0:
        coming = tuples[partner]
        looks += 1
        if coming != going and coming != last:  # a record like the one before saves as much
            last, gain = coming, -np.inf
            here, limit = 0.0, (both - best) / size
            for attribute in range(len(low)):
                code = points[coming, attribute]
                here += cost(costs, attribute, min(low[attribute], code), max(high[attribute], code))
                if here > limit:
                    break
            there, limit = 0.0, (both - best - here * size) / others
            if limit > at_least:
                for attribute in range(len(low)):
                    code = points[coming, attribute]
                    least = ends[target, 1 if code == ends[target, 0, attribute] else 0, attribute]
                    most = ends[target, 2 if code == ends[target, 3, attribute] else 3, attribute]
                    code = points[going, attribute]
                    there += cost(costs, attribute, min(least, code), max(most, code))
                    if there > limit:
                        break
                gain = both - here * size - there * others
        if coming != going and best + LEAST_GAIN < gain < highest:
            looks += VERDICT_LOOKS + size + others
            if may_exchange(row, partner, target, state, guard, tally):
                best, chosen = gain, partner
        # In a cluster without loss all records are equal.
        partner = state.following[partner] if state.paid[target] > 0.0 else -1
    return chosen, best, looks


@inner(borrowing=True)
def _reach(home, point, least, state, costs, low, high):
    """What a cluster costs, for each record, without one with these codes, and what can be saved in it at most when
    that one leaves; fills in the ends of the cluster without it."""
    size = state.sizes[home]
    _without(home, point, state, low, high)
    shrunk = span(costs, low, high) if size > 1 else 0.0
    return shrunk, state.paid[home] - shrunk * (size - (size > least))


@inner(inline="always", borrowing=True)
def _farthest_reach(place, least, state, costs, low, high):
    """The most that can be saved in any cluster when a record of a tuple leaves it."""
    most = 0.0
    for row in range(state.starts[place], state.starts[place + 1]):
        home = np.int64(state.owners[row])
        if home >= 0 and state.paid[home] > 0.0:
            most = max(most, _reach(home, state.points[place], least, state, costs, low, high)[1])
    return most


@kernel
def propose(begin, end, state, proposals, costs, least, guard, flag):
    """For the records `begin:end`, the best move to, or swap with, a cluster of a neighbouring tuple, so that both
    clusters keep what is guarded; returns how many records were looked at.

    Pairs of clusters that have not changed since the record was last looked at are passed over.
    """
    dimensions = state.points.shape[1]
    around = surroundings(len(state.heads))
    low, high = np.empty(dimensions, np.int32), np.empty(dimensions, np.int32)
    return _propose(begin, end, state, proposals, costs, least, guard, tally_for(guard), around, low, high, flag)


@inner(borrowing=True)
def _propose(begin, end, state, proposals, costs, least, guard, tally, around, low, high, flag):
    looks, first = 0, begin
    while first < end:
        last = min(end, state.starts[state.tuples[first] + 1])
        for fresh in range(2):
            looks += _propose_near(
                first, last, fresh == 1, state, proposals, costs, least, guard, tally, around, low, high, flag
            )
        first = last
    return looks


@inner(inline="always", borrowing=True)
def _propose_near(begin, end, fresh, state, proposals, costs, least, guard, tally, around, low, high, flag):
    """Proposals for those of the records `begin:end` of one tuple whose clusters are `fresh`, changed since the record
    was looked at, or for the others."""
    place, looks, most, since, latest = np.int64(state.tuples[begin]), 0, -1.0, np.int64(-2), np.int64(-2)
    for row in range(begin, end):
        if flag[0]:
            break
        if not fresh:
            proposals.gains[row] = 0.0
        home, looked = np.int64(state.owners[row]), state.looked[row]
        if home < 0 or state.paid[home] <= 0.0 or (state.changed[home] > looked) != fresh:
            continue
        if not fresh:
            if latest < -1:
                for near in state.neighbours[place]:
                    if near >= 0:
                        latest = max(latest, state.stirred[near])
            if latest <= looked:
                continue  # Nothing around it has changed.
        if most < 0.0:
            most = _farthest_reach(place, least, state, costs, low, high)
        wanted = np.int64(-1) if fresh else looked
        if since != wanted:
            since = wanted
            survey(place, since, most, state, costs, around)
        # Whatever is met counts as a look, also what is not worth one; but not the home itself.
        met = around.figures[1] - (around.stamps[home] == around.figures[0])
        looks += CLUSTER_LOOKS * met
        if around.figures[2]:
            looks += _best(row, home, place, state, proposals, costs, least, guard, tally, around, low, high)
    return looks


@inner(inline="always", borrowing=True)
def _best(row, home, place, state, proposals, costs, least, guard, tally, around, low, high):
    """Fills in the best proposal for a record among the clusters that are listed; returns how many records were looked
    at."""
    points, ends, dimensions = state.points, state.extremes, state.points.shape[1]
    ceiling, size, nobody = proposals.ceiling[row], state.sizes[home], np.int64(-1)
    shrunk, reach = _reach(home, points[place], least, state, costs, low, high)
    best, looks = 0.0, 0
    for entry in range(around.figures[2]):
        if around.floors[entry] > reach - best + MARGIN:
            continue  # Dearer than what could be saved at home.
        target = np.int64(around.clusters[entry])
        if target == home:
            continue
        both = state.paid[home] + state.paid[target]
        others = state.sizes[target]
        if size > least:
            there, limit = 0.0, (both - best - shrunk * (size - 1)) / (others + 1)
            for attribute in range(dimensions):
                code = points[place, attribute]
                there += cost(
                    costs, attribute, min(ends[target, 0, attribute], code), max(ends[target, 3, attribute], code)
                )
                if there > limit:
                    break
            gain = both - shrunk * (size - 1) - there * (others + 1)
            if best + LEAST_GAIN < gain < ceiling:
                looks += VERDICT_LOOKS + size + others
                if may_exchange(row, nobody, target, state, guard, tally):
                    best, proposals.targets[row], proposals.partners[row] = gain, target, -1
        there, limit = around.totals[entry], (both - best - shrunk * size) / others
        if there > limit or limit <= 0:
            continue  # Whichever record came back, the target would cost too much.
        if others > FEW and size > 1:
            here = _nearest(ends[target], low, high, costs)
            if both - here * size - there * others <= best + LEAST_GAIN:
                looks += others if state.paid[target] > 0.0 else 1
                continue  # Even the record nearest to the home would cost too much there.
        partner, gain, looked = _swap(row, home, target, best, ceiling, state, costs, low, high, there, guard, tally)
        looks += looked
        if partner >= 0:
            best, proposals.targets[row], proposals.partners[row] = gain, target, partner
    proposals.gains[row] = best
    return looks


@inner(borrowing=True)
def shift(row, target, state):
    """Moves one record to another cluster's list."""
    after, before = state.following[row], state.previous[row]
    if before >= 0:
        state.following[before] = after
    else:
        state.heads[state.owners[row]] = after
    if after >= 0:
        state.previous[after] = before
    if len(state.counts):
        state.counts[state.owners[row], state.values[row]] -= 1
        state.counts[target, state.values[row]] += 1
    state.following[row], state.previous[row] = state.heads[target], -1
    if state.heads[target] >= 0:
        state.previous[state.heads[target]] = row
    state.heads[target] = row
    state.owners[row] = target


@kernel(borrowing=True)
def exchange(row, partner, target, state, costs):
    """A record goes to another cluster, and its partner, if there is one, comes back."""
    home, target = np.int64(state.owners[row]), np.int64(target)
    if partner >= 0:
        shift(np.int64(partner), home, state)
    shift(np.int64(row), target, state)
    measure(home, state, costs)
    measure(target, state, costs)


@kernel
def carry_out(chosen, proposals, state, costs, now):
    """Carries out proposals in the given order, at most one for each cluster; returns which were."""
    done = np.zeros(len(chosen), np.bool_)
    for place in range(len(chosen)):
        row = chosen[place]
        home, target = state.owners[row], proposals.targets[row]
        if state.changed[home] < now and state.changed[target] < now:
            exchange(row, proposals.partners[row], target, state, costs)
            state.changed[home], state.changed[target] = now, now
            done[place] = True
    return done


@kernel
def carry_out_guarded(chosen, proposals, state, costs, least, guard, now):
    """Carries out proposals in the given order, also where a cluster changed since they were made, if they still save
    something and keep what is guarded; returns which were."""
    done = np.zeros(len(chosen), np.bool_)
    homes, tally = state.owners[chosen], tally_for(guard)
    nobody = np.int64(-1)
    for place in range(len(chosen)):
        row = chosen[place]
        home, target, partner = np.int64(homes[place]), np.int64(proposals.targets[row]), proposals.partners[row]
        if state.owners[row] != home or (partner >= 0 and state.owners[partner] != target):
            continue
        if partner < 0 and state.sizes[home] <= least:
            continue
        fresh = state.changed[home] < now and state.changed[target] < now
        limit = state.paid[home] + state.paid[target] - LEAST_GAIN
        exchange(row, partner, target, state, costs)
        if not fresh and (
            state.paid[home] + state.paid[target] > limit
            or not keeps(home, nobody, nobody, state, guard, tally)
            or not keeps(target, nobody, nobody, state, guard, tally)
        ):
            exchange(row, partner, home, state, costs)
            continue
        state.changed[home], state.changed[target] = now, now
        done[place] = True
    return done
