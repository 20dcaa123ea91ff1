"""Growing clusters member by member (greedy k-member, two-phase clustering)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost, span
from shoal.kernels.index import Roster, Walk, join, near_bucket, pop, push, retire, roster, start, walk_through
from shoal.kernels.sorting import insert

ROUNDING = 1e-9
EXACT, NEIGHBOURS, RECORD, LOSS, SIZE = range(5)
"""When a cluster that has enough records takes another one: never; while that adds no more loss than so many times what
the record would pay among its own nearest; while the record itself pays no more than that; while no record pays more
than so many times what it did; up to so many times as many records."""


class Growth(NamedTuple):
    """How far the clusters have grown: `remaining` records of each point, `owners` of each record (-1: none yet;
    records in the order of the points), where the last cluster began in `origin[0]`, and in `clusters[0]` and `rest[0]`
    how many clusters and how many records without one there are."""

    roster: Roster
    walk: Walk
    remaining: Any
    owners: Any
    origin: Any
    clusters: Any
    rest: Any


@kernel
def seeded(counts, boxes, origin):
    """No clusters yet; the first one begins as far from a point as can be."""
    records = counts.sum()
    return Growth(
        roster(boxes), walk_through(boxes), counts.copy(), np.full(records, -1, np.int32),
        np.full(1, origin, np.int64), np.zeros(1, np.int64), np.full(1, records, np.int64),
    )  # fmt: skip


@inner
def _cheapest(points, growth, costs, low, high):
    """The point with records left that costs least in a cluster, and the cost of the cluster with it."""
    boxes, alive, here = growth.roster.boxes, growth.roster.alive, growth.walk.costs
    best, chosen = np.inf, -1
    start(growth.walk)
    while True:
        node = near_bucket(growth.walk, boxes, alive, 0, costs, low, high, best, 0)
        if node < 0:
            return chosen, best
        begin, end = boxes.begins[node], boxes.ends[node]
        join(costs, low, high, points, boxes.order, begin, end, best, here)
        for place in range(begin, end):
            if here[place - begin] < best and growth.remaining[boxes.order[place]] > 0:
                best, chosen = here[place - begin], boxes.order[place]


@inner
def reach(costs, point, box_low, box_high):
    """The most that a point of a box can be away from a point."""
    total = 0.0
    for attribute in range(len(point)):
        code = point[attribute]
        total += max(
            cost(costs, attribute, min(code, box_low[attribute]), max(code, box_low[attribute])),
            cost(costs, attribute, min(code, box_high[attribute]), max(code, box_high[attribute])),
        )
    return total


@inner
def _farthest(points, growth, costs, origin):
    """The point with records left that is farthest from one."""
    boxes, alive, here = growth.roster.boxes, growth.roster.alive, growth.walk.costs
    best, chosen = -1.0, -1
    start(growth.walk)
    while True:
        # Far is near with the sign turned round.
        node = pop(growth.walk, boxes, alive, 0, -best, 0)
        if node < 0:
            return chosen
        child = boxes.left[node]
        if child >= 0:
            first = reach(costs, points[origin], boxes.low[child], boxes.high[child])
            second = reach(costs, points[origin], boxes.low[child + 1], boxes.high[child + 1])
            push(growth.walk, child, -first, -second)
            continue
        begin, end = boxes.begins[node], boxes.ends[node]
        join(costs, points[origin], points[origin], points, boxes.order, begin, end, np.inf, here)
        for place in range(begin, end):
            if here[place - begin] > best and growth.remaining[boxes.order[place]] > 0:
                best, chosen = here[place - begin], boxes.order[place]


@inner
def _alone(point, points, growth, costs, others):
    """The cost of a record together with the so many others without a cluster that are nearest to it."""
    boxes, alive, query = growth.roster.boxes, growth.roster.alive, points[point]
    best, names = np.full(others, np.inf), np.full(others, point)
    start(growth.walk)
    while others > 0:
        node = near_bucket(growth.walk, boxes, alive, 0, costs, query, query, best[others - 1], 0)
        if node < 0:
            break
        begin, end = boxes.begins[node], boxes.ends[node]
        join(costs, query, query, points, boxes.order, begin, end, best[others - 1], growth.walk.costs)
        for place in range(begin, end):
            other, distance = boxes.order[place], growth.walk.costs[place - begin]
            for _ in range(min(growth.remaining[other] - (other == point), others)):
                if distance >= best[others - 1]:
                    break
                insert(distance, other, best, names, others - 1)
    low, high = query.copy(), query.copy()
    for other in names:
        for attribute in range(len(low)):
            low[attribute] = min(low[attribute], points[other, attribute])
            high[attribute] = max(high[attribute], points[other, attribute])
    return span(costs, low, high)


@kernel
def grow(points, counts, growth, costs, least, relaxing, spare, flag):
    """Grows clusters, one after the other, as greedy k-member does, until `spare` records or fewer than `least` are
    left.

    A cluster begins with the record farthest from where the last one began, and takes the record that adds least
    loss until it has `least`. It goes on as the rule of `relaxing` says, with its factor, as long as that leaves nobody
    or enough for another cluster.
    """
    rule, room = relaxing
    remaining, owners = growth.remaining, growth.owners
    firsts = np.cumsum(counts) - counts
    rest, clusters, origin = growth.rest[0], growth.clusters[0], growth.origin[0]
    low, high = points[origin].copy(), points[origin].copy()
    while rest >= max(least, spare + 1) and not flag[0]:
        origin = _farthest(points, growth, costs, origin)
        for attribute in range(len(low)):
            low[attribute] = high[attribute] = points[origin, attribute]
        size, paid, point, after, bound = 0, 0.0, origin, 0.0, 0.0
        while not flag[0]:
            # Equal records join together: once one of them is in, the others add nothing to the range.
            joining = min(remaining[point], max(least - size, 1))
            first = firsts[point] + counts[point] - remaining[point]
            for row in range(first, first + joining):
                owners[row] = clusters
            remaining[point] -= joining
            size, rest, paid = size + joining, rest - joining, after
            for attribute in range(len(low)):
                low[attribute] = min(low[attribute], points[point, attribute])
                high[attribute] = max(high[attribute], points[point, attribute])
            if remaining[point] == 0:
                retire(point, growth.roster)
            if rest == 0 or (size >= least and (rule == EXACT or 1 < rest <= least)):
                break
            if rule == SIZE and size >= room * least:
                break
            point, after = _cheapest(points, growth, costs, low, high)
            if size <= least:
                bound = room * paid
            if size >= least and rule == LOSS and after > bound + ROUNDING:
                break
            if size >= least and rule in (NEIGHBOURS, RECORD):
                charged = after if rule == RECORD else (size + 1) * after - size * paid
                if charged > room * _alone(point, points, growth, costs, least - 1) + ROUNDING:
                    break
        clusters += 1
    growth.rest[0], growth.clusters[0], growth.origin[0] = rest, clusters, origin
