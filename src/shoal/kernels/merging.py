"""Merging clusters with the neighbours that they fit best."""

import numpy as np
from numba import njit

from shoal.kernels.cost import span, union
from shoal.kernels.index import bound, descend, homes_of, parents_of, retire, stretch

ROUNDING = 1e-9
"""More than rounding errs, so that a sum that was stopped early never looks cheaper."""


@njit(cache=True, nogil=True)
def _fitting(cluster, low, high, sizes, paid, tree, box_low, box_high, alive, gone, space, by_union, stack, bounds):
    """The cluster to merge one with, -1 when there is no other: the one whose union costs each record least
    (`by_union`), or the one with which the merger adds least to the loss of all records of both."""
    order, begins, ends, left, _, _ = tree
    best, chosen = np.inf, -1
    size, own = sizes[cluster], sizes[cluster] * paid[cluster]
    stack[0], bounds[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        least = bounds[top] if by_union else size * bounds[top] - own
        if least >= best or alive[node] == 0:
            continue
        if left[node] < 0:
            for place in range(begins[node], ends[node]):
                other = order[place]
                if other == cluster or gone[other]:
                    continue
                theirs = sizes[other] * paid[other]
                limit = best if by_union else (best + own + theirs) / (size + sizes[other])
                here = union(space, low[cluster], high[cluster], low[other], high[other], limit)
                score = here if by_union else here * (size + sizes[other]) - own - theirs
                if score < best - ROUNDING:
                    best, chosen = score, other
            continue
        child = left[node]
        first = bound(space, low[cluster], high[cluster], box_low[child], box_high[child], np.inf)
        second = bound(space, low[cluster], high[cluster], box_low[child + 1], box_high[child + 1], np.inf)
        top = descend(stack, bounds, top, child, first, second)
    return chosen


@njit(cache=True, nogil=True)
def merge(broken, low, high, sizes, tree, space, by_union, dearest):
    """One round: each broken cluster that no other joined in this round merges with the one it fits best.

    `tree` is an index over `low`. Returns the new cluster of each cluster, and what each broken one's merger adds to
    the loss; a merger that adds more than `dearest` for each of its records is not made.
    """
    clusters = len(sizes)
    into = np.arange(clusters).astype(np.int32)
    gone, fresh = np.zeros(clusters, np.bool_), np.ones(clusters, np.bool_)
    added = np.zeros(len(broken))
    homes, parents = homes_of(tree[0], tree[1], tree[2], tree[3]), parents_of(tree[3])
    box_low, box_high, alive = tree[4].copy(), tree[5].copy(), tree[2] - tree[1]
    stack, bounds = np.empty(len(alive) + 1, np.int32), np.empty(len(alive) + 1, np.float64)
    paid = np.empty(clusters)
    for cluster in range(clusters):
        paid[cluster] = span(space, low[cluster], high[cluster])
        stretch(cluster, low, high, homes[cluster], parents, box_low, box_high)
    for place in range(len(broken)):
        cluster = broken[place]
        if not fresh[cluster]:
            continue
        other = _fitting(
            cluster, low, high, sizes, paid, tree, box_low, box_high, alive, gone, space, by_union, stack, bounds
        )
        if other < 0:
            continue
        both = union(space, low[cluster], high[cluster], low[other], high[other], np.inf)
        apart = sizes[cluster] * paid[cluster] + sizes[other] * paid[other]
        added[place] = both * (sizes[cluster] + sizes[other]) - apart
        if added[place] > dearest * sizes[cluster]:
            continue
        gone[cluster], fresh[cluster], fresh[other] = True, False, False
        retire(cluster, homes, parents, alive)
        into[cluster] = other
        sizes[other] += sizes[cluster]
        paid[other] = both
        for attribute in range(low.shape[1]):
            low[other, attribute] = min(low[other, attribute], low[cluster, attribute])
            high[other, attribute] = max(high[other, attribute], high[cluster, attribute])
        stretch(other, low, high, homes[other], parents, box_low, box_high)
    for cluster in range(clusters):
        while into[into[cluster]] != into[cluster]:
            into[cluster] = into[into[cluster]]
    return into, added


@njit(cache=True, nogil=True)
def place_leftovers(owners, tuples, points, low, high, sizes, space):
    """Each record without a cluster joins the one to which it adds least loss."""
    clusters = len(sizes)
    paid = np.empty(clusters)
    for cluster in range(clusters):
        paid[cluster] = span(space, low[cluster], high[cluster])
    for row in range(len(owners)):
        if owners[row] >= 0:
            continue
        point = points[tuples[row]]
        best, chosen = np.inf, -1
        for cluster in range(clusters):
            limit = (best + sizes[cluster] * paid[cluster]) / (sizes[cluster] + 1)
            here = union(space, low[cluster], high[cluster], point, point, limit)
            score = here * (sizes[cluster] + 1) - sizes[cluster] * paid[cluster]
            if score < best - ROUNDING:
                best, chosen = score, cluster
        owners[row] = chosen
        sizes[chosen] += 1
        for attribute in range(len(point)):
            low[chosen, attribute] = min(low[chosen, attribute], point[attribute])
            high[chosen, attribute] = max(high[chosen, attribute], point[attribute])
        paid[chosen] = span(space, low[chosen], high[chosen])
