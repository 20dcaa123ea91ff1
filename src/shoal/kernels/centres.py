"""Clusters with moving centres: one-pass k-means, and the adjustment of cluster sizes.

A cluster's centre is, in an attribute published by its values, the raw value nearest to the mean, and in any other the
range of its leaves, which stands for their closest common ancestor. A record's distance from it is the cost of both
together.
"""

import numpy as np
from numba import njit

from shoal.kernels.index import bound, descend, joined, retire, stretch


@njit(cache=True, nogil=True)
def _enter(cluster, point, space, low, high, sums, filled, sizes):
    """Takes one record into a cluster and moves its centre."""
    for attribute in range(len(point)):
        code = point[attribute]
        if space.interval[attribute]:
            if space.missing[attribute] and code == 0:
                if filled[cluster, attribute] == 0:
                    low[cluster, attribute], high[cluster, attribute] = 0, 0
                continue
            base = space.leaves[attribute]
            sums[cluster, attribute] += space.values[base + code]
            filled[cluster, attribute] += 1
            mean = sums[cluster, attribute] / filled[cluster, attribute]
            first = base + (1 if space.missing[attribute] else 0)
            last = base + space.sizes[attribute]
            place = first + np.searchsorted(space.values[first:last], mean)
            if place == last or (place > first and mean - space.values[place - 1] <= space.values[place] - mean):
                place -= 1
            low[cluster, attribute], high[cluster, attribute] = place - base, place - base
        elif sizes[cluster] == 0:
            low[cluster, attribute], high[cluster, attribute] = code, code
        else:
            low[cluster, attribute] = min(low[cluster, attribute], code)
            high[cluster, attribute] = max(high[cluster, attribute], code)
    sizes[cluster] += 1


@njit(cache=True, nogil=True)
def _closest(point, low, high, open_, tree, box_low, box_high, alive, space, stack, bounds):
    """The open cluster whose centre is closest to a record."""
    order, begins, ends, left, _, _ = tree
    best, chosen = np.inf, -1
    stack[0], bounds[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] >= best or alive[node] == 0:
            continue
        if left[node] < 0:
            for place in range(begins[node], ends[node]):
                cluster = order[place]
                if open_[cluster]:
                    here = joined(space, low[cluster], high[cluster], point, best)
                    if here < best:
                        best, chosen = here, cluster
            continue
        child = left[node]
        first = bound(space, point, point, box_low[child], box_high[child], best)
        second = bound(space, point, point, box_low[child + 1], box_high[child + 1], best)
        top = descend(stack, bounds, top, child, first, second)
    return chosen


@njit(cache=True, nogil=True)
def one_pass(seeds, tuples, points, tree, homes, parents, space):
    """Every record joins the cluster with the closest centre, which moves at once; `seeds` are the first records.

    `tree` is an index over the seeds' points.
    """
    clusters, dimensions = len(seeds), points.shape[1]
    low, high = np.zeros((clusters, dimensions), np.int32), np.zeros((clusters, dimensions), np.int32)
    sums, filled = np.zeros((clusters, dimensions)), np.zeros((clusters, dimensions), np.int64)
    sizes = np.zeros(clusters, np.int64)
    owners = np.full(len(tuples), -1, np.int32)
    for cluster in range(clusters):
        owners[seeds[cluster]] = cluster
        _enter(cluster, points[tuples[seeds[cluster]]], space, low, high, sums, filled, sizes)
    box_low, box_high, alive = tree[4].copy(), tree[5].copy(), tree[2] - tree[1]
    open_ = np.ones(clusters, np.bool_)
    stack, bounds = np.empty(len(alive) + 1, np.int32), np.empty(len(alive) + 1, np.float64)
    for row in range(len(tuples)):
        if owners[row] < 0:
            point = points[tuples[row]]
            cluster = _closest(point, low, high, open_, tree, box_low, box_high, alive, space, stack, bounds)
            owners[row] = cluster
            _enter(cluster, point, space, low, high, sums, filled, sizes)
            stretch(cluster, low, high, homes[cluster], parents, box_low, box_high)
    return owners


@njit(cache=True, nogil=True)
def centre_points(owners, tuples, points, clusters, space):
    """Centres of clusters: low and high codes, sums and counts of values, sizes."""
    dimensions = points.shape[1]
    low, high = np.zeros((clusters, dimensions), np.int32), np.zeros((clusters, dimensions), np.int32)
    sums, filled = np.zeros((clusters, dimensions)), np.zeros((clusters, dimensions), np.int64)
    sizes = np.zeros(clusters, np.int64)
    for row in range(len(tuples)):
        _enter(owners[row], points[tuples[row]], space, low, high, sums, filled, sizes)
    return low, high, sums, filled, sizes


@njit(cache=True, nogil=True)
def surplus(owners, tuples, points, low, high, sizes, space, least):
    """Takes the farthest records out of every cluster above `least`; their owner becomes -1."""
    distances = np.empty(len(owners))
    for row in range(len(owners)):
        distances[row] = joined(space, low[owners[row]], high[owners[row]], points[tuples[row]], np.inf)
    by_distance = np.argsort(-distances, kind="mergesort")
    for row in by_distance:
        if sizes[owners[row]] > least:
            sizes[owners[row]] -= 1
            owners[row] = -1


@njit(cache=True, nogil=True)
def hand_out(free, owners, tuples, points, centres, tree, homes, parents, space, least):
    """Gives each free record, in the given order, to the closest cluster below `least`; when none is left, to the
    closest of all.

    `tree` is an index over the low codes of the centres; `centres` and `owners` change in place.
    """
    low, high, sums, filled, sizes = centres
    box_low, box_high, alive = tree[4].copy(), tree[5].copy(), tree[2] - tree[1]
    clusters = len(sizes)
    open_ = sizes < least
    for cluster in range(clusters):
        stretch(cluster, low, high, homes[cluster], parents, box_low, box_high)
        if not open_[cluster]:
            retire(cluster, homes, parents, alive)
    stack, bounds = np.empty(len(alive) + 1, np.int32), np.empty(len(alive) + 1, np.float64)
    for row in free:
        if alive[0] == 0:
            open_[:] = True
            alive[:] = tree[2] - tree[1]
        point = points[tuples[row]]
        cluster = _closest(point, low, high, open_, tree, box_low, box_high, alive, space, stack, bounds)
        before = sizes[cluster]
        owners[row] = cluster
        _enter(cluster, point, space, low, high, sums, filled, sizes)
        stretch(cluster, low, high, homes[cluster], parents, box_low, box_high)
        if before < least and sizes[cluster] == least:
            open_[cluster] = False
            retire(cluster, homes, parents, alive)
