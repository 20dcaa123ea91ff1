"""A tree of boxes over points, in which nearest and cheapest points are found without looking at all of them.

Leaves of a hierarchy stand in the order of a walk through it, so of all leaves in a range the one next to a given
leaf has the closest common ancestor with it: a box of leaf ranges bounds distances from below in every attribute.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.sorting import insert, order_of

NEVER = np.iinfo(np.int32).max


class Boxes(NamedTuple):
    """The tree: node `n` holds the points `order[begins[n]:ends[n]]`, all between `low[n]` and `high[n]`.

    `left[n]` is the first of its two children, which come after it and one after the other; -1: a bucket without any.
    """

    order: Any
    begins: Any
    ends: Any
    left: Any
    low: Any
    high: Any


class Roster(NamedTuple):
    """A tree whose points can be struck off, and whose boxes can be stretched: `alive` has the points that are left
    under each node, `homes` the bucket of each point, `parents` the node above each node, -1 for the root."""

    boxes: Boxes
    homes: Any
    parents: Any
    alive: Any


class Walk(NamedTuple):
    """A walk through a tree: the nodes that are still to be visited, a bound for each, in `depth[0]` how many, and room
    for the costs of the points in a bucket."""

    stack: Any
    bounds: Any
    depth: Any
    costs: Any


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
def walk_through(boxes):
    """Room for walks through a tree, one after the other."""
    room = len(boxes.left) + 1
    fullest = 0
    for node in range(len(boxes.left)):
        if boxes.left[node] < 0:
            fullest = max(fullest, boxes.ends[node] - boxes.begins[node])
    return Walk(np.empty(room, np.int32), np.empty(room, np.float64), np.zeros(1, np.int64), np.empty(fullest))


@inner
def start(walk):
    """Sets a walk to the root."""
    walk.stack[0], walk.bounds[0], walk.depth[0] = 0, -np.inf, 1


@inner(inline="always")
def pop(walk, boxes, marks, closed, limit, ties):
    """The next node with a bound below `limit`, -1 when there is none.

    Nodes that are marked as `closed` are passed over. A bound that equals the limit is good enough for nodes that
    begin before place `ties`.
    """
    depth = walk.depth[0]
    chosen = -1
    while depth > 0 and chosen < 0:
        depth -= 1
        node, here = walk.stack[depth], walk.bounds[depth]
        if (here < limit or (here == limit and boxes.begins[node] < ties)) and marks[node] != closed:
            chosen = node
    walk.depth[0] = depth
    return chosen


@inner(inline="always")
def push(walk, child, first, second):
    """Has both children of a node visited next, the one with the lower bound first."""
    near = 0 if first <= second else 1
    depth = walk.depth[0]
    walk.stack[depth], walk.bounds[depth] = child + 1 - near, max(first, second)
    walk.stack[depth + 1], walk.bounds[depth + 1] = child + near, min(first, second)
    walk.depth[0] = depth + 2


@inner
def near_bucket(walk, boxes, marks, closed, costs, low, high, limit, ties):
    """The next bucket with points that a set of records might take in at a cost below `limit`, -1 when there is none.

    `low` and `high` are the set's least and greatest leaves; `pop` says what the others mean.
    """
    box_low, box_high = boxes.low, boxes.high
    while True:
        node = pop(walk, boxes, marks, closed, limit, ties)
        if node < 0 or boxes.left[node] < 0:
            return node
        child = boxes.left[node]
        first, second = _bounds(costs, low, high, box_low, box_high, child, limit)
        push(walk, child, first, second)


@inner
def _median(codes):
    """The code such that codes up to it make the most even halves; there are at least two different codes."""
    order = order_of(codes)
    count = len(order)
    middle = codes[order[count // 2]]
    below = above = count // 2
    while below > 0 and codes[order[below - 1]] == middle:
        below -= 1
    while above < count and codes[order[above]] == middle:
        above += 1
    if below > 0 and (above == count or abs(2 * below - count) <= abs(2 * above - count)):
        return codes[order[below - 1]]
    return middle


@kernel
def build(points, costs, bucket, flag):
    """The tree over points, cut at each node along its costliest attribute, into buckets of so many at most."""
    count, dimensions = points.shape
    capacity = 2 * count + 1
    order = np.empty(count, np.int32)
    for place in range(count):
        order[place] = place
    spare = np.empty(count, np.int32)
    begins = np.zeros(capacity, np.int32)
    ends = np.zeros(capacity, np.int32)
    left = np.full(capacity, -1, np.int32)
    low = np.zeros((capacity, dimensions), np.int32)
    high = np.zeros((capacity, dimensions), np.int32)
    ends[0] = count
    nodes, at = 1, 0
    while at < nodes and not flag[0]:
        begin, end = begins[at], ends[at]
        for attribute in range(dimensions):
            least, greatest = points[order[begin], attribute], points[order[begin], attribute]
            for place in range(begin + 1, end):
                code = points[order[place], attribute]
                least, greatest = min(least, code), max(greatest, code)
            low[at, attribute], high[at, attribute] = least, greatest
        if end - begin > bucket:
            widest, width = -1, 0.0
            for attribute in range(dimensions):
                here = cost(costs, attribute, low[at, attribute], high[at, attribute])
                if low[at, attribute] < high[at, attribute] and (widest < 0 or here > width):
                    widest, width = attribute, here
            if widest >= 0:
                codes = np.empty(end - begin, np.int32)
                for place in range(begin, end):
                    codes[place - begin] = points[order[place], widest]
                threshold = _median(codes)
                front, back = begin, 0
                for place in range(begin, end):
                    if points[order[place], widest] <= threshold:
                        order[front] = order[place]
                        front += 1
                    else:
                        spare[back] = order[place]
                        back += 1
                for place in range(back):
                    order[front + place] = spare[place]
                left[at] = nodes
                begins[nodes], ends[nodes] = begin, front
                begins[nodes + 1], ends[nodes + 1] = front, end
                nodes += 2
        at += 1
    return Boxes(order, begins[:nodes], ends[:nodes], left[:nodes], low[:nodes], high[:nodes])


@inner
def roster(boxes):
    """A tree with all its points, and boxes of its own."""
    homes = np.empty(len(boxes.order), np.int32)
    parents = np.full(len(boxes.left), -1, np.int32)
    for node in range(len(boxes.left)):
        child = boxes.left[node]
        if child >= 0:
            parents[child], parents[child + 1] = node, node
        else:
            for place in range(boxes.begins[node], boxes.ends[node]):
                homes[boxes.order[place]] = node
    own = Boxes(boxes.order, boxes.begins, boxes.ends, boxes.left, boxes.low.copy(), boxes.high.copy())
    return Roster(own, homes, parents, boxes.ends - boxes.begins)


@inner
def retire(point, roster):
    """Strikes a point off."""
    node = roster.homes[point]
    while node >= 0:
        roster.alive[node] -= 1
        node = roster.parents[node]


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
            nearer, farther = _bounds(costs, low, high, boxes.low, boxes.high, child, limit)
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


@inner
def _bounds(costs, low, high, box_low, box_high, child, limit):
    """What `bound` says of two boxes, one row after the other. Rows of their own would be counted by whoever holds
    them, which takes longer than all the rest."""
    first = second = 0.0
    for node in range(child, child + 2):
        total = 0.0
        for attribute in range(len(low)):
            begin = min(low[attribute], box_high[node, attribute])
            end = max(high[attribute], box_low[node, attribute])
            total += cost(costs, attribute, begin, end)
            if total > limit:
                break
        first, second = second, total
    return first, second


@inner
def joined(costs, low, high, point, limit):
    """The cost of a set of records together with one point; stops once that exceeds `limit`."""
    total = 0.0
    for attribute in range(len(low)):
        code = point[attribute]
        total += cost(costs, attribute, min(low[attribute], code), max(high[attribute], code))
        if total > limit:
            break
    return total


@inner
def join(costs, low, high, points, names, begin, end, limit, totals):
    """Fills in `totals` what `joined` says of each of the points `names[begin:end]`: many at a time, because a call
    takes longer than what it does."""
    for place in range(begin, end):
        total = 0.0
        for attribute in range(len(low)):
            code = points[names[place], attribute]
            total += cost(costs, attribute, min(low[attribute], code), max(high[attribute], code))
            if total > limit:
                break
        totals[place - begin] = total


@kernel
def nearest(points, boxes, costs, neighbours, distances, first, last, flag):
    """For the points `first:last`, the nearest ones, nearest first, ties by place in the tree's order: as many as
    `neighbours` has room for. A point is its own nearest."""
    wanted = neighbours.shape[1]
    walk, marks = walk_through(boxes), np.ones(len(boxes.left), np.uint8)
    for row in range(first, last):
        if flag[0]:
            break
        query = points[row]
        best, names = distances[row], neighbours[row]
        for place in range(wanted):
            best[place], names[place] = np.inf, -1
        start(walk)
        while True:
            node = near_bucket(walk, boxes, marks, 0, costs, query, query, best[wanted - 1], 0)
            if node < 0:
                break
            begin, end = boxes.begins[node], boxes.ends[node]
            join(costs, query, query, points, boxes.order, begin, end, best[wanted - 1], walk.costs)
            for place in range(begin, end):
                distance = walk.costs[place - begin]
                if distance < best[wanted - 1]:
                    insert(distance, boxes.order[place], best, names, wanted - 1)
