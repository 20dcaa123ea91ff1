"""Ranges in a tree that move and go, of which those are found that a set of records might take in at little cost."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.cost import cost
from shoal.kernels.index import Roster, costs_with_boxes, pop, retire, roster

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


@inner(inline="always")
def next_ranges(walk, ranges, costs, low, high, limit):
    """The next bucket with ranges that a set might take in at a cost below `limit`, -1 when there is none.

    What lies nearer by the boxes is visited first, as `near_bucket` does, and what the ranges themselves put too far is
    passed over.
    """
    boxes, alive, latest, earliest = ranges.roster.boxes, ranges.roster.alive, ranges.latest, ranges.earliest
    left, stack, bounds = boxes.left, walk.stack, walk.bounds
    while True:
        node = pop(walk, boxes, alive, 0, limit, 0)
        if node < 0 or left[node] < 0:
            break
        child, depth = left[node], walk.depth[0]
        first = _apart(costs, low, high, latest, earliest, child, limit) if alive[child] > 0 else np.inf
        second = _apart(costs, low, high, latest, earliest, child + 1, limit) if alive[child + 1] > 0 else np.inf
        if first < limit and second < limit:
            nearer, farther = costs_with_boxes(costs, low, high, boxes.low, boxes.high, child, limit)
            swapped = nearer > farther
            stack[depth], bounds[depth] = (child, first) if swapped else (child + 1, second)
            stack[depth + 1], bounds[depth + 1] = (child + 1, second) if swapped else (child, first)
            walk.depth[0] = depth + 2
        elif first < limit or second < limit:
            stack[depth], bounds[depth] = (child, first) if first < limit else (child + 1, second)
            walk.depth[0] = depth + 1
    return node


@inner
def _apart(costs, low, high, latest, earliest, node, limit):
    """What a set costs at least together with any of the ranges under a node; stops once that exceeds `limit`."""
    total = 0.0
    for attribute in range(len(low)):
        begin = min(low[attribute], latest[node, attribute])
        total += cost(costs, attribute, begin, max(high[attribute], earliest[node, attribute]))
        if total > limit:
            break
    return total
