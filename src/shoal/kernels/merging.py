"""Merging clusters with the neighbours that they fit best."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import span, union
from shoal.kernels.standing_ranges import Standing, best_range, move, standing, strike

ROUNDING = 1e-9
"""More than rounding errs, so that a sum that was stopped early never looks cheaper."""


class Ranges(NamedTuple):
    """By cluster: least and greatest codes, size, and what each of its records pays."""

    low: Any
    high: Any
    sizes: Any
    paid: Any


class Mergers(NamedTuple):
    """The mergers of one round: `standing` are the clusters that have not gone, `into` has the cluster that each one
    went to, `fresh` says which neither went nor grew, `added` what a broken one's merger adds to the loss."""

    ranges: Ranges
    standing: Standing
    into: Any
    fresh: Any
    added: Any


@kernel
def ranges(low, high, sizes, costs):
    """Clusters with what they pay."""
    paid = np.empty(len(sizes))
    for cluster in range(len(sizes)):
        paid[cluster] = span(costs, low[cluster], high[cluster])
    return Ranges(low, high, sizes, paid)


@kernel
def mergers(clusters, boxes, ends, costs):
    """None yet; `boxes` is a tree over the low codes of the clusters, `ends` one over their low and high codes."""
    count = len(clusters.sizes)
    return Mergers(
        clusters, standing(boxes, ends, clusters.low, clusters.high, clusters.sizes, clusters.paid, costs),
        np.arange(count).astype(np.int32), np.ones(count, np.bool_), np.zeros(count),
    )  # fmt: skip


@inner
def _widen(cluster, low, high, clusters):
    for attribute in range(len(low)):
        clusters.low[cluster, attribute] = min(clusters.low[cluster, attribute], low[attribute])
        clusters.high[cluster, attribute] = max(clusters.high[cluster, attribute], high[attribute])


@kernel
def merge(broken, mergers, costs, by_union, dearest, flag):
    """Each broken cluster that no other joined in this round merges with the one it fits best.

    A merger that adds more than `dearest` for each of its records is not made. `by_union` says what fits best: the
    union that costs each record least, or the merger that adds least to the loss of all records of both.
    """
    mergers, costs = borrowed((mergers, costs))
    clusters = mergers.ranges
    for cluster in broken:
        if flag[0]:
            break
        if not mergers.fresh[cluster]:
            continue
        low, high, size = clusters.low[cluster], clusters.high[cluster], clusters.sizes[cluster]
        own = size * clusters.paid[cluster]
        other = best_range(cluster, low, high, size, own, by_union, mergers.standing, costs)
        if other < 0:
            continue
        both = union(costs, low, high, clusters.low[other], clusters.high[other], np.inf)
        apart = own + clusters.sizes[other] * clusters.paid[other]
        mergers.added[cluster] = both * (size + clusters.sizes[other]) - apart
        if mergers.added[cluster] > dearest * size:
            continue
        mergers.into[cluster] = other
        mergers.fresh[cluster], mergers.fresh[other] = False, False
        strike(cluster, mergers.standing, costs)
        clusters.sizes[other] += size
        clusters.paid[other] = both
        _widen(other, low, high, clusters)
        move(other, clusters.low[other], clusters.high[other], clusters.sizes[other], both, mergers.standing, costs)


@kernel
def follow(into):
    """Where each cluster ends up when the one that it went to goes on."""
    for cluster in range(len(into)):
        while into[into[cluster]] != into[cluster]:
            into[cluster] = into[into[cluster]]


class Leftovers(NamedTuple):
    """Records without a cluster that have one sensitive value: `counts` says how many records of it each cluster has,
    and it may make up one part in `wanted` of a cluster at most; with 0 every cluster is open."""

    rows: Any
    counts: Any
    wanted: Any


@kernel
def place_leftovers(leftovers, owners, tuples, points, clusters, costs, flag):
    """Each leftover joins the open cluster to which it adds least loss; what finds none stays without."""
    leftovers, owners, tuples = borrowed((leftovers, owners, tuples))
    points, clusters, costs = borrowed((points, clusters, costs))
    for row in leftovers.rows:
        if flag[0]:
            break
        point = points[tuples[row]]
        best, chosen = np.inf, np.int64(-1)
        for cluster in range(len(clusters.sizes)):
            size, paid = clusters.sizes[cluster], clusters.sizes[cluster] * clusters.paid[cluster]
            if (leftovers.counts[cluster] + 1) * leftovers.wanted > size + 1:
                continue
            here = union(costs, clusters.low[cluster], clusters.high[cluster], point, point, (best + paid) / (size + 1))
            score = here * (size + 1) - paid
            if score < best - ROUNDING:
                best, chosen = score, cluster
        if chosen < 0:
            continue
        owners[row] = chosen
        leftovers.counts[chosen] += 1
        clusters.sizes[chosen] += 1
        _widen(chosen, point, point, clusters)
        clusters.paid[chosen] = span(costs, clusters.low[chosen], clusters.high[chosen])
