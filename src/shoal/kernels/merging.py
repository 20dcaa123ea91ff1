"""Merging clusters with the neighbours that they fit best."""

import numpy as np
from numba import njit

from shoal.kernels.cost import span, union

ROUNDING = 1e-9
"""More than rounding errs, so that a sum that was stopped early never looks cheaper."""


@njit(cache=True, nogil=True)
def fitting(cluster, low, high, sizes, paid, alive, space, by_union):
    """The cluster to merge one with, and what that adds to the loss; -1 when there is no other.

    It is the one whose union costs each record least (`by_union`), or the one to whose records and the cluster's
    own the merger adds least.
    """
    best, chosen = np.inf, -1
    size, own = sizes[cluster], sizes[cluster] * paid[cluster]
    for other in range(len(sizes)):
        if other == cluster or not alive[other]:
            continue
        theirs = sizes[other] * paid[other]
        limit = best if by_union else (best + own + theirs) / (size + sizes[other])
        here = union(space, low[cluster], high[cluster], low[other], high[other], limit)
        score = here if by_union else here * (size + sizes[other]) - own - theirs
        if score < best - ROUNDING:
            best, chosen = score, other
    if chosen < 0:
        return chosen, best
    here = union(space, low[cluster], high[cluster], low[chosen], high[chosen], np.inf)
    return chosen, here * (size + sizes[chosen]) - own - sizes[chosen] * paid[chosen]


@njit(cache=True, nogil=True)
def merge(broken, low, high, sizes, space, by_union, dearest):
    """One round: each broken cluster that no other joined in this round merges with the one it fits best.

    Returns the new cluster of each cluster, and what each broken one adds to the loss; a merger that adds more
    than `dearest` for each of its records is not made.
    """
    clusters = len(sizes)
    into = np.arange(clusters).astype(np.int32)
    alive, fresh = np.ones(clusters, np.bool_), np.ones(clusters, np.bool_)
    added = np.zeros(len(broken))
    paid = np.empty(clusters)
    for cluster in range(clusters):
        paid[cluster] = span(space, low[cluster], high[cluster])
    for place in range(len(broken)):
        cluster = broken[place]
        if not fresh[cluster]:
            continue
        other, added[place] = fitting(cluster, low, high, sizes, paid, alive, space, by_union)
        if other < 0 or added[place] > dearest * sizes[cluster]:
            continue
        alive[cluster], fresh[cluster], fresh[other] = False, False, False
        into[cluster] = other
        sizes[other] += sizes[cluster]
        for attribute in range(low.shape[1]):
            low[other, attribute] = min(low[other, attribute], low[cluster, attribute])
            high[other, attribute] = max(high[other, attribute], high[cluster, attribute])
        paid[other] = span(space, low[other], high[other])
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
