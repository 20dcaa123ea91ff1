"""Ranges in a tree that move and go, of which those are found that a set of records might take in at little cost."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.cost import cost
from shoal.kernels.index import Roster, retire, roster

NEVER = np.iinfo(np.int32).max


class Ranged(NamedTuple):
    """Ranges that stand in a tree by their first leaves, and may move: the one at place `p` of the tree's order reaches
    from `low[p]` to `high[p]`, as long as it is `kept[p]`; `places` has the place of each.

    Those kept under node `n` begin at `latest[n]` or before, and end at `earliest[n]` or after: a set of records costs
    as much with any of them as with these two leaves, or more. The boxes of the roster hold all ranges.
    """

    roster: Roster
    low: Any
    high: Any
    kept: Any
    places: Any
    latest: Any
    earliest: Any


@inner
def stretch(point, low, high, roster):
    """Widens the boxes above a point until they hold a range."""
    node = roster.homes[point]
    while node >= 0:
        grown = False
        box_low, box_high = roster.boxes.low[node], roster.boxes.high[node]
        for attribute in range(len(low)):
            if low[attribute] < box_low[attribute]:
                box_low[attribute] = low[attribute]
                grown = True
            if high[attribute] > box_high[attribute]:
                box_high[attribute] = high[attribute]
                grown = True
        if not grown:
            break
        node = roster.parents[node]


@inner
def ranged(boxes, low, high, kept):
    """Ranges in a tree over their first leaves; those that are not `kept` are struck off."""
    order, nodes = boxes.order, len(boxes.left)
    places = np.empty(len(order), np.int32)
    for place in range(len(order)):
        places[order[place]] = place
    ranges = Ranged(
        roster(boxes), low[order], high[order], np.ones(len(order), np.bool_), places,
        np.empty((nodes, low.shape[1]), np.int32), np.empty((nodes, low.shape[1]), np.int32),
    )  # fmt: skip
    for name in range(len(order)):
        stretch(name, low[name], high[name], ranges.roster)
        if not kept[name]:
            ranges.kept[places[name]] = False
            retire(name, ranges.roster)
    fit(ranges)
    return ranges


@inner
def fit(ranges):
    """Finds for every node where the ranges under it begin at the latest and end at the earliest."""
    for node in range(len(ranges.latest) - 1, -1, -1):
        _fit_node(node, ranges)


@inner
def _fit_node(node, ranges):
    """Does that for one node, after those below it; whether anything is new."""
    child, latest, earliest = ranges.roster.boxes.left[node], ranges.latest, ranges.earliest
    begin, end = ranges.roster.boxes.begins[node], ranges.roster.boxes.ends[node]
    low, high, kept = ranges.low, ranges.high, ranges.kept
    fresh = False
    for attribute in range(latest.shape[1]):
        late, early = -1, NEVER
        if child >= 0:
            late = max(latest[child, attribute], latest[child + 1, attribute])
            early = min(earliest[child, attribute], earliest[child + 1, attribute])
        else:
            for place in range(begin, end):
                if kept[place]:
                    late = max(late, low[place, attribute])
                    early = min(early, high[place, attribute])
        fresh |= late != latest[node, attribute] or early != earliest[node, attribute]
        latest[node, attribute], earliest[node, attribute] = late, early
    return fresh


@inner
def _fit_above(name, ranges):
    """Does that for the bucket of a range and the nodes above it, as far as anything is new."""
    node, parents = ranges.roster.homes[name], ranges.roster.parents
    while node >= 0 and _fit_node(node, ranges):
        node = parents[node]


@inner
def move(name, low, high, ranges):
    """Has a range reach from and to other leaves."""
    place = ranges.places[name]
    for attribute in range(len(low)):
        ranges.low[place, attribute], ranges.high[place, attribute] = low[attribute], high[attribute]
    stretch(name, low, high, ranges.roster)
    _fit_above(name, ranges)


@inner
def strike(name, ranges):
    """Strikes a range off."""
    ranges.kept[ranges.places[name]] = False
    retire(name, ranges.roster)
    _fit_above(name, ranges)


@inner
def next_ranges(walk, ranges, costs, low, high, limit):
    """The next bucket with ranges that a set might take in at a cost below `limit`, -1 when there is none; `walk.costs`
    then has the cost of the set with each of those that are kept.

    What lies nearer by the boxes is visited first, as `near_bucket` does, and what the ranges themselves put too far is
    passed over.
    """
    stack, bounds, totals = walk.stack, walk.bounds, walk.costs
    boxes, alive, latest, earliest = ranges.roster.boxes, ranges.roster.alive, ranges.latest, ranges.earliest
    begins, left, box_low, box_high = boxes.begins, boxes.left, boxes.low, boxes.high
    lows, highs, kept = ranges.low, ranges.high, ranges.kept
    depth, dimensions = walk.depth[0], len(low)
    while depth > 0:
        depth -= 1
        node, child = stack[depth], left[stack[depth]]
        if not bounds[depth] < limit:
            continue
        if child < 0:
            walk.depth[0] = depth
            for place in range(begins[node], boxes.ends[node]):
                if not kept[place]:
                    continue
                total = 0.0
                for attribute in range(dimensions):
                    begin = min(low[attribute], lows[place, attribute])
                    total += cost(costs, attribute, begin, max(high[attribute], highs[place, attribute]))
                totals[place - begins[node]] = total
            return node
        bound, before = np.inf, np.inf
        for at in range(child, child + 2):
            bound, before = np.inf, bound
            if alive[at] > 0:
                bound = 0.0
                for attribute in range(dimensions):
                    begin = min(low[attribute], latest[at, attribute])
                    bound += cost(costs, attribute, begin, max(high[attribute], earliest[at, attribute]))
        if before < limit and bound < limit:
            nearer = farther = 0.0
            for at in range(child, child + 2):
                nearer, farther = farther, 0.0
                for attribute in range(dimensions):
                    begin = min(low[attribute], box_high[at, attribute])
                    farther += cost(costs, attribute, begin, max(high[attribute], box_low[at, attribute]))
            swapped = nearer > farther
            stack[depth], bounds[depth] = (child, before) if swapped else (child + 1, bound)
            depth += 1
            stack[depth], bounds[depth] = (child + 1, bound) if swapped else (child, before)
            depth += 1
        elif before < limit or bound < limit:
            stack[depth], bounds[depth] = (child, before) if before < limit else (child + 1, bound)
            depth += 1
    walk.depth[0] = 0
    return -1
