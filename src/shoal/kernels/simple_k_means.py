"""k-means as WEKA's SimpleKMeans does it, to the last rounding: distances added up attribute by attribute, in order.

`rows` has numbers and, where an attribute is `nominal`, the places of names. Numbers are compared after scaling to the
range of the table; names are equal or one apart.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.index import Boxes, Walk, push, start, walk_through
from shoal.kernels.sorting import value_of_rank

FARTHEST = 2147483647.0  # WEKA begins at the greatest int

BUCKET = 16
"""Centres in the lowest nodes of a tree, at least."""
TRIED = 64
"""Records after which a tree has to have spared most of its centres."""
SPARED = 4
"""Where there are many attributes, a tree spares little. One in which more than one centre in so many is looked at
takes longer than looking at all of them side by side."""


@kernel
def scaled(points, nominal, low, width):
    """Points as they are compared, a row for each attribute."""
    columns = np.empty((len(nominal), len(points)))
    for attribute in range(len(nominal)):
        for point in range(len(points)):
            value = points[point, attribute]
            if not nominal[attribute]:
                value = (value - low[attribute]) / width[attribute] if width[attribute] > 0 else 0.0
            columns[attribute, point] = value
    return columns


class CentreTree(NamedTuple):
    """Some centres in a tree of boxes, and a walk through it: a row of `columns` has an attribute of the centres in the
    tree's order, `firsts[n]` is the first of the centres under node `n`, and `looks` says for how many records it was
    gone through and at how many centres that looked."""

    boxes: Boxes
    walk: Walk
    columns: Any
    firsts: Any
    looks: Any


@inner
def _tree(centres, names, nominal, bucket, flag):
    """A tree over the centres of some names, with so many in its lowest nodes; cut at each node along an attribute of
    names, as long as there are several, else along the widest one."""
    count, dimensions = len(names), len(nominal)
    capacity = 2 * count + 1
    order, spare, values = names.copy(), np.empty(count, np.int64), np.empty(count)
    begins, ends = np.zeros(capacity, np.int32), np.zeros(capacity, np.int32)
    left, firsts = np.full(capacity, -1, np.int32), np.empty(capacity, np.int64)
    low, high = np.empty((capacity, dimensions)), np.empty((capacity, dimensions))
    ends[0] = count
    nodes, at = 1, 0
    while at < nodes and not flag[0]:
        begin, end = begins[at], ends[at]
        firsts[at] = order[begin] if begin < end else centres.shape[1]  # names stay in their order
        widest, width = -1, 0.0
        for attribute in range(dimensions):
            least, greatest = np.inf, -np.inf
            for place in range(begin, end):
                value = centres[attribute, order[place]]
                least, greatest = min(least, value), max(greatest, value)
            low[at, attribute], high[at, attribute] = least, greatest
            extent = greatest - least + (1.0 if nominal[attribute] and least < greatest else 0.0)
            if extent > width:
                widest, width = attribute, extent
        if end - begin > bucket and widest >= 0:
            for place in range(begin, end):
                values[place] = centres[widest, order[place]]
            middle = value_of_rank(values[begin:end], (end - begin) // 2)
            below = up_to = 0
            for place in range(begin, end):
                value = centres[widest, order[place]]
                below += value < middle
                up_to += value <= middle
            closed = below == 0 or (up_to < end - begin and abs(2 * up_to - end + begin) < abs(2 * below - end + begin))
            front, back = begin, 0
            for place in range(begin, end):
                name = order[place]
                if centres[widest, name] < middle or (closed and centres[widest, name] == middle):
                    order[front] = name
                    front += 1
                else:
                    spare[back] = name
                    back += 1
            for place in range(back):
                order[front + place] = spare[place]
            if begin < front < end:
                left[at] = nodes
                begins[nodes], ends[nodes] = begin, front
                begins[nodes + 1], ends[nodes + 1] = front, end
                nodes += 2
        at += 1
    columns = np.empty((dimensions, count))
    for attribute in range(dimensions):
        for place in range(count):
            columns[attribute, place] = centres[attribute, order[place]]
    boxes = Boxes(order, begins[:nodes], ends[:nodes], left[:nodes], low[:nodes], high[:nodes])
    return CentreTree(boxes, walk_through(boxes), columns, firsts, np.zeros(2, np.int64))


@inner
def _tree_for(queries, centres, names, nominal, flag):
    """A tree in which so many records look for their nearest centre: a few do not repay a fine one."""
    return _tree(centres, names, nominal, max(BUCKET, len(names) // (queries + 1)), flag)


@inner(borrowing=True)
def _is_wasted(tree):
    """Whether a tree spares too few looks."""
    records, looks = tree.looks
    return tree.boxes.left[0] >= 0 and records >= TRIED and SPARED * looks > records * len(tree.boxes.order)


@inner(inline="always", borrowing=True)
def _bounds(record, child, boxes, nominal):
    """The least squared distances of a record from the box of a node and that of the one after it, side by side."""
    first = second = 0.0
    for attribute in range(len(nominal)):
        value = record[attribute]
        here = max(boxes.low[child, attribute] - value, value - boxes.high[child, attribute], 0.0)
        there = max(boxes.low[child + 1, attribute] - value, value - boxes.high[child + 1, attribute], 0.0)
        if nominal[attribute]:
            here, there = 1.0 if here > 0.0 else 0.0, 1.0 if there > 0.0 else 0.0
        first += here * here
        second += there * there
    return first, second


@inner(borrowing=True)
def _nearest(record, tree, nominal, best, nearest, square):
    """The nearest centre to a record, the first of equally near ones, of those in a tree and the one that is known:
    its distance, its name and its squared distance."""
    boxes, walk, firsts = tree.boxes, tree.walk, tree.firsts
    stack, bounds, squares = walk.stack, walk.bounds, walk.costs
    start(walk)
    tree.looks[0] += 1
    while walk.depth[0] > 0:
        walk.depth[0] -= 1
        node, bound = stack[walk.depth[0]], bounds[walk.depth[0]]
        # What rounds to the same distance is as near.
        if bound > square * (1 + 1e-12) or (bound >= square and firsts[node] > nearest):
            continue
        child = boxes.left[node]
        if child >= 0:
            first, second = _bounds(record, child, boxes, nominal)
            push(walk, child, first, second)
            continue
        begin, end = boxes.begins[node], boxes.ends[node]
        tree.looks[1] += end - begin
        _squares(record, tree.columns, begin, end, nominal, squares)
        for place in range(end - begin):
            if squares[place] <= square * (1 + 1e-12):
                distance = np.sqrt(squares[place])
                name = boxes.order[begin + place]
                if distance < best or (distance == best and name < nearest):
                    best, nearest, square = distance, name, squares[place]
    return best, nearest, square


@kernel
def assign(records, centres, moved, nominal, owners, flag):
    """Gives every record the first of its nearest centres; all points are `scaled`.

    `owners` has the nearest centre of each record before some of them `moved`, or -1. Where that one did not, only
    those that moved can be nearer.
    """
    everywhere = 0
    for owner in owners:
        everywhere += owner < 0 or moved[owner]
    moving = _tree_for(len(owners), centres, np.flatnonzero(moved), nominal, flag)
    resting = _tree_for(everywhere, centres, np.flatnonzero(~moved), nominal, flag)
    record, squares, at = np.empty(len(nominal)), np.empty(1), 0
    while at < len(owners) and not flag[0]:
        at = _assign_from(at, records, centres, moved, nominal, owners, moving, resting, record, squares, flag)
        if _is_wasted(moving):
            moving = _tree(centres, np.flatnonzero(moved), nominal, len(moved), flag)
        if _is_wasted(resting):
            resting = _tree(centres, np.flatnonzero(~moved), nominal, len(moved), flag)


@inner(borrowing=True)
def _assign_from(at, records, centres, moved, nominal, owners, moving, resting, record, squares, flag):
    """Does that for the records from a place on, up to one after which a tree is wasted: the place after it."""
    last = owners[at - 1] if at else 0
    for row in range(at, len(owners)):
        if flag[0]:
            return row
        for attribute in range(len(nominal)):
            record[attribute] = records[attribute, row]
        best, nearest, square = FARTHEST, 0, FARTHEST * FARTHEST
        # Whatever is known to be near saves looking at what is farther: so does what is nearest to the record before.
        for turn in range(2):
            name = last if turn else owners[row]
            if name >= 0:
                _squares(record, centres, name, name + 1, nominal, squares)
                distance = np.sqrt(squares[0])
                if distance < best or (distance == best and name < nearest):
                    best, nearest, square = distance, name, squares[0]
        if owners[row] < 0 or moved[owners[row]]:
            best, nearest, square = _nearest(record, resting, nominal, best, nearest, square)
        best, nearest, square = _nearest(record, moving, nominal, best, nearest, square)
        owners[row] = last = nearest
        if _is_wasted(moving) or _is_wasted(resting):
            return row + 1
    return len(owners)


@inner(borrowing=True)
def _squares(record, centres, begin, end, nominal, squares):
    """The squared distances of a record from some centres: attribute by attribute for all centres, which processors do
    for several at a time."""
    squares[: end - begin] = 0.0
    for attribute in range(len(nominal)):
        value, column = record[attribute], centres[attribute, begin:end]
        if nominal[attribute]:
            for place in range(end - begin):
                squares[place] += 1.0 if column[place] != value else 0.0
        else:
            for place in range(end - begin):
                difference = value - column[place]
                squares[place] += difference * difference


@kernel
def means(rows, owners, clusters, nominal, values):
    """The mean of each cluster's numbers and the most frequent of its names, the first of equals; and its size."""
    sizes = np.zeros(clusters, np.int64)
    centres = np.zeros((clusters, len(nominal)))
    for record in range(len(rows)):
        sizes[owners[record]] += 1
        for attribute in range(len(nominal)):
            if not nominal[attribute]:
                centres[owners[record], attribute] += rows[record, attribute]
    for attribute in range(len(nominal)):
        if nominal[attribute]:
            counts = np.zeros((clusters, values[attribute]), np.int64)
            for record in range(len(rows)):
                counts[owners[record], int(rows[record, attribute])] += 1
            for cluster in range(clusters):
                centres[cluster, attribute] = np.argmax(counts[cluster])
        else:
            for cluster in range(clusters):
                if sizes[cluster]:
                    centres[cluster, attribute] /= sizes[cluster]
    return centres, sizes
