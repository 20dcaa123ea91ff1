"""Fitting: which boxes of leaf ranges hold a point, without looking at all of them.

Boxes stand in a tree: every node bounds the boxes below it, so a point that is outside of a node is in none of them. A
negative coordinate of a point is one that nobody knows; it fits everywhere.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import order_of

BUCKET = 8


class BoxTree(NamedTuple):
    """Node `n` has the boxes `order[begins[n]:ends[n]]`, all between `low[n]` and `high[n]`; its children are `left[n]`
    and the next one, and a bucket has none (-1). `lows` and `highs` are the boxes themselves, in the order of the
    tree."""

    order: Any
    begins: Any
    ends: Any
    left: Any
    low: Any
    high: Any
    lows: Any
    highs: Any


@kernel
def tree_of(lows, highs):
    """The tree of boxes, which has attributes as rows."""
    attributes, count = lows.shape
    room = 4 * (count // BUCKET + 1) + 3
    order = np.arange(count)
    begins, ends = np.zeros(room, np.int64), np.zeros(room, np.int64)
    left = np.full(room, -1, np.int64)
    low, high = np.zeros((attributes, room), np.int32), np.zeros((attributes, room), np.int32)
    ends[0] = count
    used, node = 1, 0
    while node < used:
        begin, end = begins[node], ends[node]
        widest, at = -1, 0
        for attribute in range(attributes):
            least, most = np.int32(2**31 - 1), np.int32(-1)
            first, last = np.int64(2**62), np.int64(-1)
            for place in range(begin, end):
                box = order[place]
                least, most = min(least, lows[attribute, box]), max(most, highs[attribute, box])
                middle = np.int64(lows[attribute, box]) + highs[attribute, box]
                first, last = min(first, middle), max(last, middle)
            low[attribute, node], high[attribute, node] = least, most
            if last - first > widest:
                widest, at = last - first, attribute
        if end - begin > BUCKET and widest > 0:
            inside = order[begin:end].copy()
            middles = np.empty(len(inside), np.int64)
            for place in range(len(inside)):
                middles[place] = np.int64(lows[at, inside[place]]) + highs[at, inside[place]]
            order[begin:end] = inside[order_of(middles)]
            half = (begin + end) // 2
            left[node] = used
            begins[used], ends[used] = begin, half
            begins[used + 1], ends[used + 1] = half, end
            used += 2
        node += 1
    # What is compared one after the other stands side by side.
    own_lows, own_highs = np.empty((count, attributes), np.int32), np.empty((count, attributes), np.int32)
    for place in range(count):
        for attribute in range(attributes):
            own_lows[place, attribute] = lows[attribute, order[place]]
            own_highs[place, attribute] = highs[attribute, order[place]]
    return BoxTree(order, begins, ends, left, low[:, :used].T.copy(), high[:, :used].T.copy(), own_lows, own_highs)


@inner(inline="always")
def _inside(low, high, at, point):
    for attribute in range(len(point)):
        code = point[attribute]
        if code >= 0 and (code < low[at, attribute] or code > high[at, attribute]):
            return False
    return True


@kernel
def holding_boxes(tree, points, begin, end, counts, boxes, used, flag):
    """Writes the boxes that hold each of the points from `begin` to `end` to `boxes`, from place `used` on, and how
    many they are to `counts`. Ends before the first point whose boxes find no room; returns that point, or `end`, and
    the place after the last box."""
    stack = np.empty(len(tree.left) + 1, np.int64)
    here = np.empty(len(points), np.int32)
    room = len(boxes)
    for point in range(begin, end):
        if flag[0]:
            return point, used
        for attribute in range(len(points)):
            here[attribute] = points[attribute, point]
        depth, place_after = 1, used
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if not _inside(tree.low, tree.high, node, here):
                continue
            if tree.left[node] >= 0:
                stack[depth], stack[depth + 1] = tree.left[node] + 1, tree.left[node]
                depth += 2
                continue
            for place in range(tree.begins[node], tree.ends[node]):
                if _inside(tree.lows, tree.highs, place, here):
                    if place_after == room:
                        return point, used
                    boxes[place_after] = tree.order[place]
                    place_after += 1
        counts[point] = place_after - used
        used = place_after
    return end, used


@kernel
def first_boxes(tree, ranks, points):
    """Of the boxes that hold each point, whose coordinates are all known, the one that ranks first; -1: none does."""
    stack = np.empty(len(tree.left) + 1, np.int64)
    here = np.empty(len(points), np.int32)
    boxes = np.full(points.shape[1], -1, np.int32)
    for point in range(points.shape[1]):
        for attribute in range(len(points)):
            here[attribute] = points[attribute, point]
        depth, best = 1, len(ranks)
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if not _inside(tree.low, tree.high, node, here):
                continue
            if tree.left[node] >= 0:
                stack[depth], stack[depth + 1] = tree.left[node] + 1, tree.left[node]
                depth += 2
                continue
            for place in range(tree.begins[node], tree.ends[node]):
                box = tree.order[place]
                if ranks[box] < best and _inside(tree.lows, tree.highs, place, here):
                    best, boxes[point] = ranks[box], box
    return boxes
