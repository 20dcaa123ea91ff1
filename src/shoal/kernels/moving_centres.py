"""Centres in a tree that move, close and open, of which the one closest to a record is found."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner
from shoal.kernels.cost import cost
from shoal.kernels.index import Roster, Walk, retire, roster, start, stretch, walk_through

NEVER = np.iinfo(np.int32).max


class Moving(NamedTuple):
    """Centres that stand in a tree by their first leaves, and may move: the one at place `p` of the tree's order
    reaches from `low[p]` to `high[p]`, and is open as long as it is `kept[p]`; `places` has the place of each.

    Those open under node `n` begin at `latest[n]` or before, and end at `earliest[n]` or after: a record costs as much
    with any of them as with these two leaves, or more. The boxes of the roster hold all centres.
    """

    roster: Roster
    low: Any
    high: Any
    kept: Any
    places: Any
    latest: Any
    earliest: Any
    walk: Walk


@inner
def moving(boxes, low, high, kept):
    """Centres in a tree over their first leaves; those that are not `kept` are closed."""
    order, nodes, attributes = boxes.order, len(boxes.left), low.shape[1]
    places = np.empty(len(order), np.int32)
    for place in range(len(order)):
        places[order[place]] = place
    centres = Moving(
        roster(boxes), low[order], high[order], np.ones(len(order), np.bool_), places,
        np.empty((nodes, attributes), np.int32), np.empty((nodes, attributes), np.int32), walk_through(boxes),
    )  # fmt: skip
    for name in range(len(order)):
        stretch(name, low[name], high[name], centres.roster)
        if not kept[name]:
            centres.kept[places[name]] = False
            retire(name, centres.roster)
    _fit(centres)
    return centres


@inner
def _fit(centres):
    """Finds for every node where the open centres under it begin at the latest and end at the earliest."""
    for node in range(len(centres.latest) - 1, -1, -1):
        _fit_node(node, centres)


@inner(borrowing=True)
def _fit_node(node, centres):
    """Does that for one node, after those below it; whether anything is new."""
    child, latest, earliest = centres.roster.boxes.left[node], centres.latest, centres.earliest
    begin, end = centres.roster.boxes.begins[node], centres.roster.boxes.ends[node]
    low, high, kept, fresh = centres.low, centres.high, centres.kept, False
    for attribute in range(latest.shape[1]):
        late, early = -1, NEVER
        if child >= 0:
            late = max(latest[child, attribute], latest[child + 1, attribute])
            early = min(earliest[child, attribute], earliest[child + 1, attribute])
        else:
            for place in range(begin, end):
                if kept[place]:
                    late, early = max(late, low[place, attribute]), min(early, high[place, attribute])
        fresh |= late != latest[node, attribute] or early != earliest[node, attribute]
        latest[node, attribute], earliest[node, attribute] = late, early
    return fresh


@inner
def _fit_above(name, centres):
    """Does that for the bucket of a centre and the nodes above it, as far as anything is new."""
    node, parents = centres.roster.homes[name], centres.roster.parents
    while node >= 0 and _fit_node(node, centres):
        node = parents[node]


@inner
def move(name, low, high, centres):
    """Has a centre reach from and to other leaves."""
    place, moved = centres.places[name], False
    for attribute in range(len(low)):
        moved |= centres.low[place, attribute] != low[attribute] or centres.high[place, attribute] != high[attribute]
        centres.low[place, attribute], centres.high[place, attribute] = low[attribute], high[attribute]
    if moved:
        stretch(name, low, high, centres.roster)
        _fit_above(name, centres)


@inner
def close(name, centres):
    """Closes a centre."""
    centres.kept[centres.places[name]] = False
    retire(name, centres.roster)
    _fit_above(name, centres)


@inner
def open_all(centres):
    """Opens every centre."""
    centres.kept[:] = True
    centres.roster.alive[:] = centres.roster.boxes.ends - centres.roster.boxes.begins
    _fit(centres)


@inner(borrowing=True)
def _apart(place, point, centres, costs):
    """What a record costs with the centre at a place: added up to the end, which takes less time than asking after each
    attribute whether to stop."""
    low, high, total = centres.low, centres.high, 0.0
    for attribute in range(len(point)):
        code = point[attribute]
        total += cost(costs, attribute, min(code, low[place, attribute]), max(code, high[place, attribute]))
    return total


@inner(inline="always", borrowing=True)
def _bounds(child, point, first, last, costs):
    """The least costs of a record with what begins at `first` or before and ends at `last` or after: of a node and of
    the one after it, side by side."""
    before = after = 0.0
    for attribute in range(len(point)):
        code = point[attribute]
        before += cost(costs, attribute, min(code, first[child, attribute]), max(code, last[child, attribute]))
        after += cost(costs, attribute, min(code, first[child + 1, attribute]), max(code, last[child + 1, attribute]))
    return before, after


@inner(borrowing=True)
def closest(point, hint, centres, costs):
    """The open centre closest to a record, of several the one that is visited first. A `hint` is a centre that may be
    close, -1: none is known. It says how far to look, and changes nothing about what is found."""
    walk, boxes, alive, kept = centres.walk, centres.roster.boxes, centres.roster.alive, centres.kept
    stack, bounds, left = walk.stack, walk.bounds, boxes.left
    latest, earliest = centres.latest, centres.earliest
    limit, chosen = np.inf, -1
    if hint >= 0 and kept[centres.places[hint]]:
        # Whatever costs as little as the hint itself is still looked for.
        limit = np.nextafter(_apart(centres.places[hint], point, centres, costs), np.inf)
    start(walk)
    depth = walk.depth[0]
    while depth > 0:
        depth -= 1
        node, child = stack[depth], left[stack[depth]]
        if not bounds[depth] < limit:
            continue
        if child < 0:
            for place in range(boxes.begins[node], boxes.ends[node]):
                if kept[place]:
                    total = _apart(place, point, centres, costs)
                    if total < limit:
                        limit, chosen = total, boxes.order[place]
            continue
        if alive[child] == 0 or alive[child + 1] == 0:
            stack[depth] = child if alive[child] > 0 else child + 1  # with the same bound
            depth += 1
            continue
        before, after = _bounds(child, point, latest, earliest, costs)
        if before < limit and after < limit:
            # Where a record is between the ends of boxes, the nearer one is visited first.
            nearer, farther = _bounds(child, point, boxes.high, boxes.low, costs)
            swapped = nearer > farther
            stack[depth], bounds[depth] = (child, before) if swapped else (child + 1, after)
            depth += 1
            stack[depth], bounds[depth] = (child + 1, after) if swapped else (child, before)
            depth += 1
        elif before < limit or after < limit:
            stack[depth], bounds[depth] = (child, before) if before < limit else (child + 1, after)
            depth += 1
    return chosen
