"""MDAV: clusters of exactly k records around those farthest from the average."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.index import Roster, Walk, pop, push, roster, start, walk_through

NOBODY = np.iinfo(np.int32).max

EXTREMES = 64
"""Records farthest from the average that are found at once."""


class Unclustered(NamedTuple):
    """Points that have records left, in a tree whose boxes hold no others: `remaining` records of each point, the
    cluster of each record in `owners` (-1: none yet; records in the order of the points), in `firsts[n]` the first of
    the points under node `n`, in `tallies` how many records have each leaf, attribute after attribute, and in
    `clusters[0]` and `rest[0]` how many clusters and how many records without one there are."""

    roster: Roster
    walk: Walk
    firsts: Any
    remaining: Any
    owners: Any
    tallies: Any
    clusters: Any
    rest: Any


@kernel
def unclustered(points, counts, boxes, costs):
    """No clusters yet; the tree is one over the points."""
    records = counts.sum()
    tallies = np.zeros(costs.sizes.sum(), np.int64)
    for point in range(len(points)):
        for attribute in range(points.shape[1]):
            tallies[costs.leaves[attribute] + points[point, attribute]] += counts[point]
    left = Unclustered(
        roster(boxes), walk_through(boxes), np.empty(len(boxes.left), np.int32), counts.copy(),
        np.full(records, -1, np.int32), tallies, np.zeros(1, np.int64), np.full(1, records, np.int64),
    )  # fmt: skip
    for node in range(len(boxes.left) - 1, -1, -1):
        _fit(node, points, left)
    return left


@inner
def _fit(node, points, left):
    """Fits the box of a node to the points that have records left, after those below it; whether anything is new. A
    box that has none stays as it was."""
    boxes, alive, firsts, remaining = left.roster.boxes, left.roster.alive, left.firsts, left.remaining
    if alive[node] == 0:
        fresh = firsts[node] < NOBODY
        firsts[node] = NOBODY
        return fresh
    child, begin, end = boxes.left[node], boxes.begins[node], boxes.ends[node]
    first = NOBODY
    if child >= 0:
        first = min(firsts[child], firsts[child + 1])
    else:
        for place in range(begin, end):
            if remaining[boxes.order[place]] > 0:
                first = min(first, boxes.order[place])
    fresh = first != firsts[node]
    firsts[node] = first
    for attribute in range(points.shape[1]):
        low, high = NOBODY, -1
        if child >= 0:
            for below in range(child, child + 2):
                if alive[below] > 0:
                    low, high = min(low, boxes.low[below, attribute]), max(high, boxes.high[below, attribute])
        else:
            for place in range(begin, end):
                if remaining[boxes.order[place]] > 0:
                    code = points[boxes.order[place], attribute]
                    low, high = min(low, code), max(high, code)
        fresh |= low != boxes.low[node, attribute] or high != boxes.high[node, attribute]
        boxes.low[node, attribute], boxes.high[node, attribute] = low, high
    return fresh


@inner
def _strike(point, points, left):
    """Strikes off a point that has no records left."""
    node, fresh = left.roster.homes[point], True
    while node >= 0:
        left.roster.alive[node] -= 1
        fresh = fresh and _fit(node, points, left)
        node = left.roster.parents[node]


@kernel
def average(tallies, costs):
    """The average of records of which so many have each leaf: the raw value nearest to the mean of a numeric attribute,
    the commonest of any other."""
    middle = np.zeros(len(costs.sizes), np.int32)
    for attribute in range(len(costs.sizes)):
        base, size = costs.leaves[attribute], costs.sizes[attribute]
        first = 1 if costs.missing[attribute] else 0
        tally = tallies[base : base + size]
        middle[attribute] = np.argmax(tally)
        records = tally[first:].sum()
        if costs.interval[attribute] and records > 0:
            total = 0.0
            for leaf in range(first, size):
                total += tally[leaf] * costs.values[base + leaf]
            mean = total / records
            middle[attribute] = first + np.argmin(np.abs(costs.values[base + first : base + size] - mean))
    return middle


@inner
def _bounds(costs, point, box_low, box_high, child, far):
    """The least squared distance of a point from any of two boxes, or the greatest where it is asked `far` they are.

    The squared distance of two points is the sum of the squared costs of the attributes.
    """
    first = second = 0.0
    for node in range(child, child + 2):
        total = 0.0
        for attribute in range(len(point)):
            code, low, high = point[attribute], box_low[node, attribute], box_high[node, attribute]
            if far:
                here = max(
                    cost(costs, attribute, min(code, low), max(code, low)),
                    cost(costs, attribute, min(code, high), max(code, high)),
                )
            else:
                here = cost(costs, attribute, min(code, high), max(code, low))
            total += here**2
        first, second = second, total
    return first, second


@inner
def _apart(costs, point, points, order, begin, end, limit, totals):
    """Fills in the squared distance of a point from each of the points `order[begin:end]`, or something above the
    limit where it is above it."""
    for place in range(begin, end):
        total = 0.0
        for attribute in range(len(point)):
            code = points[order[place], attribute]
            total += cost(costs, attribute, min(point[attribute], code), max(point[attribute], code)) ** 2
            if total > limit:
                break
        totals[place - begin] = total


@inner
def _gather(origin, far, points, left, costs, wanted, names, distances):
    """The points nearest to one, nearest first, or farthest from it, farthest first, where it is asked `far`; of those
    equally near, what stands first comes first. There are as many as have the `wanted` number of records together."""
    boxes, walk, firsts, here = left.roster.boxes, left.walk, left.firsts, left.walk.costs
    remaining, sign = left.remaining, -1.0 if far else 1.0  # far is near with the sign turned round
    count, records, limit = 0, 0, np.inf
    start(walk)
    while True:
        node = pop(walk, boxes, left.roster.alive, 0, limit, len(boxes.order))
        if node < 0:
            return count
        child = boxes.left[node]
        if walk.bounds[walk.depth[0]] == limit and firsts[node] > names[count - 1]:
            continue
        if child >= 0:
            first, second = _bounds(costs, origin, boxes.low, boxes.high, child, far)
            push(walk, child, sign * first, sign * second)
            continue
        begin, end = boxes.begins[node], boxes.ends[node]
        _apart(costs, origin, points, boxes.order, begin, end, np.inf if far else limit, here)
        for place in range(begin, end):
            point, distance = boxes.order[place], sign * here[place - begin]
            if remaining[point] == 0 or distance > limit or (distance == limit and point > names[count - 1]):
                continue
            slot = count
            while slot > 0 and (
                distances[slot - 1] > distance or (distances[slot - 1] == distance and names[slot - 1] > point)
            ):
                distances[slot], names[slot] = distances[slot - 1], names[slot - 1]
                slot -= 1
            distances[slot], names[slot] = distance, point
            count, records = count + 1, records + remaining[point]
            while records - remaining[names[count - 1]] >= wanted:
                count, records = count - 1, records - remaining[names[count - 1]]
            if records >= wanted:
                limit = distances[count - 1]


@kernel
def maximum_distance(points, counts, left, costs, least, spare, flag):
    """Makes clusters as MDAV does until at most `spare` records are left, or too few for two clusters."""
    starts = np.cumsum(counts) - counts
    room = max(least, EXTREMES) + 1
    names, distances, extremes = np.empty(room, np.int32), np.empty(room), np.empty(room, np.int32)
    remaining, owners, rest, cluster = left.remaining, left.owners, left.rest[0], left.clusters[0]
    middle, following, known = average(left.tallies, costs), 0, 0
    while rest >= 2 * least and rest > spare and not flag[0]:
        # The average rarely moves: what is farthest from it then is among those that were.
        now = average(left.tallies, costs)
        while following < known and remaining[extremes[following]] == 0:
            following += 1
        if following == known or (now != middle).any():
            middle, following = now, 0
            known = _gather(middle, True, points, left, costs, min(rest, EXTREMES), extremes, distances)
        origin = points[extremes[following]]
        for turn in range(2 if rest >= 3 * least else 1):
            if turn == 1:
                _gather(origin, True, points, left, costs, 1, names, distances)
                origin = points[names[0]]
            count = _gather(origin, False, points, left, costs, least, names, distances)
            need = least
            for slot in range(count):
                point = names[slot]
                joining = min(need, remaining[point])
                first = starts[point] + counts[point] - remaining[point]
                owners[first : first + joining] = cluster
                remaining[point] -= joining
                need -= joining
                for attribute in range(points.shape[1]):
                    left.tallies[costs.leaves[attribute] + points[point, attribute]] -= joining
                if remaining[point] == 0:
                    _strike(point, points, left)
            rest -= least
            cluster += 1
    left.rest[0], left.clusters[0] = rest, cluster
