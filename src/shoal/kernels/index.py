"""A tree of boxes over points, in which nearest and cheapest points are found without looking at all of them.

Leaves of a hierarchy stand in the order of a walk through it, so of all leaves in a range the one next to a given
leaf has the closest common ancestor with it: a box of leaf ranges bounds distances from below in every attribute.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.sorting import insert, order_of


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


@inner
def walk_through(boxes):
    """Room for walks through a tree, one after the other."""
    room = len(boxes.left) + 1
    fullest = 0
    for node in range(len(boxes.left)):
        if boxes.left[node] < 0:
            fullest = max(fullest, boxes.ends[node] - boxes.begins[node])
    return Walk(np.empty(room, np.int32), np.empty(room, np.float64), np.zeros(1, np.int64), np.empty(fullest))


@inner(borrowing=True)
def start(walk):
    """Sets a walk to the root."""
    walk.stack[0], walk.bounds[0], walk.depth[0] = 0, -np.inf, 1


@inner(inline="always", borrowing=True)
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


@inner(inline="always", borrowing=True)
def push(walk, child, first, second):
    """Has both children of a node visited next, the one with the lower bound first."""
    near = 0 if first <= second else 1
    depth = walk.depth[0]
    walk.stack[depth], walk.bounds[depth] = child + 1 - near, max(first, second)
    walk.stack[depth + 1], walk.bounds[depth + 1] = child + near, min(first, second)
    walk.depth[0] = depth + 2


@inner
def near_bucket(walk, boxes, points, marks, closed, costs, low, high, limit, ties):
    """The next bucket with points that a set of records might take in at a cost below `limit`, -1 when there is none;
    `walk.costs` then has the cost of the set with each of its points.

    `points` stand in the order of the tree, `low` and `high` are the set's least and greatest leaves; `pop` says what
    the others mean. It is one function, because a call with so many arrays takes longer than a sum of costs.
    """
    stack, bounds, totals = walk.stack, walk.bounds, walk.costs
    begins, left, box_low, box_high = boxes.begins, boxes.left, boxes.low, boxes.high
    depth, dimensions = walk.depth[0], len(low)
    while depth > 0:
        depth -= 1
        node, here = stack[depth], bounds[depth]
        if not (here < limit or (here == limit and begins[node] < ties)) or marks[node] == closed:
            continue
        child = left[node]
        if child < 0:
            walk.depth[0] = depth
            for place in range(begins[node], boxes.ends[node]):
                total = 0.0
                for attribute in range(dimensions):
                    code = points[place, attribute]
                    total += cost(costs, attribute, min(low[attribute], code), max(high[attribute], code))
                totals[place - begins[node]] = total
            return node
        nearer = farther = 0.0
        for at in range(child, child + 2):
            total = 0.0
            for attribute in range(dimensions):
                begin = min(low[attribute], box_high[at, attribute])
                total += cost(costs, attribute, begin, max(high[attribute], box_low[at, attribute]))
            nearer, farther = farther, total
        near, far = child, child + 1
        if nearer > farther:
            near, far, nearer, farther = far, near, farther, nearer
        if farther <= limit:
            stack[depth], bounds[depth] = far, farther
            depth += 1
        if nearer <= limit:
            stack[depth], bounds[depth] = near, nearer
            depth += 1
    walk.depth[0] = 0
    return -1


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
    """For the points at the places `first:last` of the tree's order, in which `points` stand, the nearest ones, nearest
    first, ties by place: as many as `neighbours` has room for. A point is its own nearest."""
    points, boxes, costs = borrowed((points, boxes, costs))
    neighbours, distances = borrowed((neighbours, distances))
    wanted = neighbours.shape[1]
    order, begins, ends = boxes.order, boxes.begins, boxes.ends
    walk, marks = walk_through(boxes), np.ones(len(boxes.left), np.uint8)
    totals = walk.costs
    for here in range(first, last):
        if flag[0]:
            break
        query, best, names = points[here], distances[order[here]], neighbours[order[here]]
        for place in range(wanted):
            best[place], names[place] = np.inf, -1
        start(walk)
        while True:
            node = near_bucket(walk, boxes, points, marks, 0, costs, query, query, best[wanted - 1], 0)
            if node < 0:
                break
            for place in range(begins[node], ends[node]):
                distance = totals[place - begins[node]]
                if distance < best[wanted - 1]:
                    insert(distance, order[place], best, names, wanted - 1)
