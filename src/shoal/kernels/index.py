"""A tree of boxes over points, in which nearest and cheapest points are found without looking at all of them.

Leaves of a hierarchy stand in the order of a walk through it, so of all leaves in a range the one next to a given
leaf has the closest common ancestor with it: a box of leaf ranges bounds distances from below in every attribute.
"""

import numpy as np
from numba import njit

from shoal.kernels.cost import cost


@njit(cache=True, nogil=True)
def descend(stack, bounds, top, child, first, second):
    """Puts both children of a node on the stack, the one with the lower bound to be taken first."""
    near = 0 if first <= second else 1
    stack[top], bounds[top] = child + 1 - near, max(first, second)
    stack[top + 1], bounds[top + 1] = child + near, min(first, second)
    return top + 2


@njit(cache=True, nogil=True)
def _median(codes):
    """The code such that codes up to it make the most even halves; there are at least two different codes."""
    ordered = np.sort(codes)
    middle = ordered[len(ordered) // 2]
    below = np.searchsorted(ordered, middle)
    above = np.searchsorted(ordered, middle + 1)
    if below > 0 and (above == len(ordered) or abs(2 * below - len(ordered)) <= abs(2 * above - len(ordered))):
        return ordered[below - 1]
    return middle


@njit(cache=True, nogil=True)
def build(points, space, bucket):
    """The tree: the order of the points, and for each node its points, its children (-1: none) and its box.

    A node's children come after it. Each node is cut along its costliest attribute.
    """
    count, dimensions = points.shape
    capacity = 2 * count + 1
    order = np.arange(count).astype(np.int32)
    spare = np.empty(count, np.int32)
    begins = np.zeros(capacity, np.int32)
    ends = np.zeros(capacity, np.int32)
    left = np.full(capacity, -1, np.int32)
    low = np.zeros((capacity, dimensions), np.int32)
    high = np.zeros((capacity, dimensions), np.int32)
    ends[0] = count
    nodes, at = 1, 0
    while at < nodes:
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
                here = cost(space, attribute, low[at, attribute], high[at, attribute])
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
                order[front:end] = spare[:back]
                left[at] = nodes
                begins[nodes], ends[nodes] = begin, front
                begins[nodes + 1], ends[nodes + 1] = front, end
                nodes += 2
        at += 1
    return order, begins[:nodes], ends[:nodes], left[:nodes], low[:nodes], high[:nodes]


@njit(cache=True, nogil=True)
def parents_of(left):
    """The parent of each node, -1 for the root."""
    parents = np.full(len(left), -1, np.int32)
    for node in range(len(left)):
        if left[node] >= 0:
            parents[left[node]] = node
            parents[left[node] + 1] = node
    return parents


@njit(cache=True, nogil=True)
def homes_of(order, begins, ends, left):
    """The lowest node of each point."""
    homes = np.empty(len(order), np.int32)
    for node in range(len(left)):
        if left[node] < 0:
            for place in range(begins[node], ends[node]):
                homes[order[place]] = node
    return homes


@njit(cache=True, nogil=True)
def retire(point, homes, parents, alive):
    """Takes a point off the counts of the nodes above it."""
    node = homes[point]
    while node >= 0:
        alive[node] -= 1
        node = parents[node]


@njit(cache=True, nogil=True)
def stretch(entry, low, high, home, parents, box_low, box_high):
    """Widens the boxes above an entry until they hold its range."""
    node = home
    while node >= 0:
        grown = False
        for attribute in range(low.shape[1]):
            if low[entry, attribute] < box_low[node, attribute]:
                box_low[node, attribute] = low[entry, attribute]
                grown = True
            if high[entry, attribute] > box_high[node, attribute]:
                box_high[node, attribute] = high[entry, attribute]
                grown = True
        if not grown:
            break
        node = parents[node]


@njit(cache=True, nogil=True)
def bound(space, low, high, box_low, box_high, limit):
    """The least cost of a set of records together with any point of a box; stops once that exceeds `limit`."""
    total = 0.0
    for attribute in range(len(low)):
        first, last = low[attribute], high[attribute]
        if box_high[attribute] < first:
            first = box_high[attribute]
        elif box_low[attribute] > last:
            last = box_low[attribute]
        total += cost(space, attribute, first, last)
        if total > limit:
            break
    return total


@njit(cache=True, nogil=True)
def joined(space, low, high, point, limit):
    """The cost of a set of records together with one point; stops once that exceeds `limit`."""
    total = 0.0
    for attribute in range(len(low)):
        code = point[attribute]
        total += cost(space, attribute, min(low[attribute], code), max(high[attribute], code))
        if total > limit:
            break
    return total


@njit(cache=True, nogil=True)
def nearest(queries, points, tree, space, wanted, found, distances, begin, end):
    """For the queries `begin:end`, the `wanted` nearest points, nearest first, ties by place in the tree's order."""
    order, begins, ends, left, low, high = tree
    stack, bounds = np.empty(len(left) + 1, np.int32), np.empty(len(left) + 1, np.float64)
    for row in range(begin, end):
        query = queries[row]
        best, names = distances[row], found[row]
        best[:] = np.inf
        names[:] = -1
        stack[0], bounds[0], top = 0, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if bounds[top] >= best[wanted - 1]:
                continue
            if left[node] < 0:
                for place in range(begins[node], ends[node]):
                    distance = joined(space, query, query, points[order[place]], best[wanted - 1])
                    if distance < best[wanted - 1]:
                        slot = wanted - 1
                        while slot > 0 and best[slot - 1] > distance:
                            best[slot], names[slot] = best[slot - 1], names[slot - 1]
                            slot -= 1
                        best[slot], names[slot] = distance, order[place]
                continue
            child = left[node]
            first = bound(space, query, query, low[child], high[child], best[wanted - 1])
            second = bound(space, query, query, low[child + 1], high[child + 1], best[wanted - 1])
            top = descend(stack, bounds, top, child, first, second)
