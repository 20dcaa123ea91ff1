"""Growing clusters member by member (greedy k-member, two-phase clustering)."""

import numpy as np
from numba import njit

from shoal.kernels.cost import cost, pair
from shoal.kernels.index import bound, descend, homes_of, joined, parents_of, retire


@njit(cache=True, nogil=True)
def _cheapest(points, remaining, tree, alive, space, low, high, stack, bounds):
    """The point with records left that costs least in a cluster, and the cost of the cluster with it."""
    order, begins, ends, left, box_low, box_high = tree
    best, chosen = np.inf, -1
    stack[0], bounds[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] >= best or alive[node] == 0:
            continue
        if left[node] < 0:
            for place in range(begins[node], ends[node]):
                point = order[place]
                if remaining[point] > 0:
                    here = joined(space, low, high, points[point], best)
                    if here < best:
                        best, chosen = here, point
            continue
        child = left[node]
        first = bound(space, low, high, box_low[child], box_high[child], best)
        second = bound(space, low, high, box_low[child + 1], box_high[child + 1], best)
        top = descend(stack, bounds, top, child, first, second)
    return chosen, best


@njit(cache=True, nogil=True)
def _reach(space, point, box_low, box_high):
    """The most that a point of a box can be away from a point."""
    total = 0.0
    for attribute in range(len(point)):
        code = point[attribute]
        total += max(
            cost(space, attribute, min(code, box_low[attribute]), max(code, box_low[attribute])),
            cost(space, attribute, min(code, box_high[attribute]), max(code, box_high[attribute])),
        )
    return total


@njit(cache=True, nogil=True)
def _farthest(points, remaining, tree, alive, space, origin, stack, bounds):
    """The point with records left that is farthest from one."""
    order, begins, ends, left, box_low, box_high = tree
    best, chosen = -1.0, -1
    stack[0], bounds[0], top = 0, np.inf, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] <= best or alive[node] == 0:
            continue
        if left[node] < 0:
            for place in range(begins[node], ends[node]):
                point = order[place]
                if remaining[point] > 0:
                    here = pair(space, points[origin], points[point])
                    if here > best:
                        best, chosen = here, point
            continue
        child = left[node]
        first = _reach(space, points[origin], box_low[child], box_high[child])
        second = _reach(space, points[origin], box_low[child + 1], box_high[child + 1])
        far = 0 if first >= second else 1
        stack[top], bounds[top] = child + 1 - far, min(first, second)
        stack[top + 1], bounds[top + 1] = child + far, max(first, second)
        top += 2
    return chosen


@njit(cache=True, nogil=True)
def grow(points, counts, tree, space, least, start, relaxed):
    """Clusters of records, one after the other, as greedy k-member makes them.

    A cluster begins with the record farthest from where the last one began, and takes the record that adds least
    loss until it has `least`. When `relaxed` it goes on as long as the next record adds no more than the
    cluster already pays for each. Fewer than `least` records may be left over; their cluster is -1.

    Returns the cluster of each record, records in the order of the points, and the number of clusters.
    """
    order, begins, ends, left, _, _ = tree
    stack, bounds = np.empty(len(left) + 1, np.int32), np.empty(len(left) + 1, np.float64)
    parents, homes, alive = parents_of(left), homes_of(order, begins, ends, left), ends - begins
    remaining = counts.copy()
    firsts = np.cumsum(counts) - counts
    owners = np.full(counts.sum(), -1, np.int32)
    rest, clusters, origin = counts.sum(), 0, start
    low, high = points[start].copy(), points[start].copy()
    while rest >= least:
        origin = _farthest(points, remaining, tree, alive, space, origin, stack, bounds)
        low[:], high[:] = points[origin], points[origin]
        size, paid, point, after = 0, 0.0, origin, 0.0
        while True:
            # Equal records join together: once one of them is in, the others add nothing to the range.
            taken = min(remaining[point], max(least - size, 1))
            if relaxed and size >= least:
                taken = remaining[point]
            first = firsts[point] + counts[point] - remaining[point]
            owners[first : first + taken] = clusters
            remaining[point] -= taken
            size, rest, paid = size + taken, rest - taken, after
            for attribute in range(len(low)):
                low[attribute] = min(low[attribute], points[point, attribute])
                high[attribute] = max(high[attribute], points[point, attribute])
            if remaining[point] == 0:
                retire(point, homes, parents, alive)
            if rest == 0 or (size >= least and not relaxed):
                break
            point, after = _cheapest(points, remaining, tree, alive, space, low, high, stack, bounds)
            if size >= least:
                added = (size + 1) * after - size * paid
                if added > paid:
                    break
        clusters += 1
    return owners, clusters
