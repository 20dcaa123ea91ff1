"""Growing clusters member by member (greedy k-member, two-phase clustering)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost, span
from shoal.kernels.index import Roster, Walk, near_bucket, pop, push, retire, roster, start, walk_through
from shoal.kernels.sorting import insert

ROUNDING = 1e-9
EXACT, NEIGHBOURS, RECORD, LOSS, SIZE = range(5)
"""When a cluster that has enough records takes another one: never; while that adds no more loss than so many times what
the record would pay among its own nearest; while the record itself pays no more than that; while no record pays more
than so many times what it did; up to so many times as many records."""


class Growth(NamedTuple):
    """How far the clusters have grown: `placed` has the points in the order of the tree, `remaining` how many records
    of each point are left, `owners` the cluster of each record (-1: none yet; records in the order of the points),
    `origin[0]` where the last cluster began, and `clusters[0]` and `rest[0]` how many clusters and how many records
    without one there are."""

    roster: Roster
    walk: Walk
    placed: Any
    remaining: Any
    owners: Any
    origin: Any
    clusters: Any
    rest: Any


@kernel
def seeded(points, counts, boxes, origin):
    """No clusters yet; the first one begins as far from a point as can be."""
    records = counts.sum()
    return Growth(
        roster(boxes), walk_through(boxes), points[boxes.order], counts.copy(), np.full(records, -1, np.int32),
        np.full(1, origin, np.int64), np.zeros(1, np.int64), np.full(1, records, np.int64),
    )  # fmt: skip


@inner
def _cheapest(growth, costs, low, high):
    """The point with records left that costs least in a cluster, and the cost of the cluster with it."""
    boxes, alive, here = growth.roster.boxes, growth.roster.alive, growth.walk.costs
    best, chosen = np.inf, -1
    start(growth.walk)
    while True:
        node = near_bucket(growth.walk, boxes, growth.placed, alive, 0, costs, low, high, best, 0)
        if node < 0:
            return chosen, best
        begin, end = boxes.begins[node], boxes.ends[node]
        for place in range(begin, end):
            if here[place - begin] < best and growth.remaining[boxes.order[place]] > 0:
                best, chosen = here[place - begin], boxes.order[place]


@inner
def _farthest(point, growth, costs):
    """The point with records left that is farthest from one."""
    boxes, alive, walk, placed = growth.roster.boxes, growth.roster.alive, growth.walk, growth.placed
    box_low, box_high, dimensions = boxes.low, boxes.high, len(point)
    best, chosen = -1.0, -1
    start(walk)
    while True:
        # Far is near with the sign turned round.
        node = pop(walk, boxes, alive, 0, -best, 0)
        if node < 0:
            return chosen
        child = boxes.left[node]
        if child >= 0:
            first = second = 0.0
            for at in range(child, child + 2):
                first, second = second, 0.0
                for attribute in range(dimensions):
                    code, least, greatest = point[attribute], box_low[at, attribute], box_high[at, attribute]
                    second += max(
                        cost(costs, attribute, min(code, least), max(code, least)),
                        cost(costs, attribute, min(code, greatest), max(code, greatest)),
                    )
            push(walk, child, -first, -second)
            continue
        for place in range(boxes.begins[node], boxes.ends[node]):
            here = 0.0
            for attribute in range(dimensions):
                code = placed[place, attribute]
                here += cost(costs, attribute, min(point[attribute], code), max(point[attribute], code))
            if here > best and growth.remaining[boxes.order[place]] > 0:
                best, chosen = here, boxes.order[place]


@inner
def _alone(point, points, growth, costs, others):
    """The cost of a record together with the so many others without a cluster that are nearest to it."""
    boxes, alive, query = growth.roster.boxes, growth.roster.alive, points[point]
    best, names = np.full(others, np.inf), np.full(others, point)
    start(growth.walk)
    while others > 0:
        node = near_bucket(growth.walk, boxes, growth.placed, alive, 0, costs, query, query, best[others - 1], 0)
        if node < 0:
            break
        begin, end = boxes.begins[node], boxes.ends[node]
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
    points, counts, growth, costs = borrowed((points, counts, growth, costs))
    rule, room = relaxing
    remaining, owners = growth.remaining, growth.owners
    firsts = np.cumsum(counts) - counts
    rest, clusters, origin = growth.rest[0], growth.clusters[0], growth.origin[0]
    low, high = points[origin].copy(), points[origin].copy()
    while rest >= max(least, spare + 1) and not flag[0]:
        origin = _farthest(points[origin], growth, costs)
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
            point, after = _cheapest(growth, costs, low, high)
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
