"""A tree of boxes over points in space: what is near a point is found without looking at all points."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import value_of_rank

BUCKET = 32
"""Points that are looked at one after the other."""


class PointTree(NamedTuple):
    """Node `n` holds `points[begins[n]:ends[n]]`, all between `low[n]` and `high[n]`.

    `left[n]` is the first of its two children, which come after it and one after the other; 0: a bucket.
    """

    points: Any
    begins: Any
    ends: Any
    left: Any
    low: Any
    high: Any


@kernel
def tree_of(points, flag):
    """The tree over points, cut at the middle of each node along its widest side. More than `BUCKET` points are in one
    bucket only where they are all the same."""
    count, columns = points.shape
    order, spare, values = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    for place in range(count):
        order[place] = place
    room = 2 * count + 1
    begins, ends, left = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64)
    low, high = np.empty((room, columns)), np.empty((room, columns))
    ends[0] = count
    nodes, at = 1, 0
    while at < nodes and not flag[0]:
        begin, end = begins[at], ends[at]
        widest, width = 0, 0.0
        for column in range(columns):
            least, greatest = np.inf, -np.inf
            for place in range(begin, end):
                value = points[order[place], column]
                least, greatest = min(least, value), max(greatest, value)
            low[at, column], high[at, column] = least, greatest
            if greatest - least > width:
                widest, width = column, greatest - least
        if end - begin > BUCKET and width > 0:
            for place in range(begin, end):
                values[place] = points[order[place], widest]
            middle = value_of_rank(values[begin:end], (end - begin) // 2)
            # Those at the middle go up, unless none would stay below.
            lower = low[at, widest] == middle
            below, above = begin, 0
            for place in range(begin, end):
                value = points[order[place], widest]
                if value < middle or (lower and value == middle):
                    order[below] = order[place]
                    below += 1
                else:
                    spare[above] = order[place]
                    above += 1
            for place in range(above):
                order[below + place] = spare[place]
            if begin < below < end:
                left[at] = nodes
                begins[nodes], ends[nodes], begins[nodes + 1], ends[nodes + 1] = begin, below, below, end
                nodes += 2
        at += 1
    placed = np.empty((count, columns))
    for place in range(count):
        for column in range(columns):
            placed[place, column] = points[order[place], column]
    return PointTree(placed, begins[:nodes], ends[:nodes], left[:nodes], low[:nodes], high[:nodes])


@inner
def _squares(tree, node, point):
    """The least and the greatest square of a distance between a point and anything in a box. Rounded in the same way as
    the squares of points, so that none lies outside."""
    least = greatest = 0.0
    for column in range(len(point)):
        below, above = tree.low[node, column] - point[column], point[column] - tree.high[node, column]
        near, far = max(below, above, 0.0), max(-below, -above)
        least += near * near
        greatest += far * far
    return least, greatest


@inner
def ties(tree, point, least, most, walk):
    """How many points of a tree have a distance to a point whose square is from `least` to `most`; -1 where one is
    nearer. `walk` has room for the nodes."""
    walk[0], depth, count = 0, 1, 0
    while depth:
        depth -= 1
        node = walk[depth]
        near, far = _squares(tree, node, point)
        if far < least:
            return -1
        if near > most:
            continue
        begin, end, child = tree.begins[node], tree.ends[node], tree.left[node]
        if near >= least and far <= most:
            count += end - begin
        elif child:
            # The nearer one is the next.
            other = _squares(tree, child, point)[0] <= _squares(tree, child + 1, point)[0]
            walk[depth], walk[depth + 1] = child + other, child + 1 - other
            depth += 2
        else:
            for place in range(begin, end):
                here = 0.0
                for column in range(len(point)):
                    here += (tree.points[place, column] - point[column]) ** 2
                if here < least:
                    return -1
                count += here <= most
    return count
