"""Clusters with moving centres: one-pass k-means, and the adjustment of cluster sizes.

A cluster's centre is, in an attribute published by its values, the raw value nearest to the mean, and in any other the
range of its leaves, which stands for their closest common ancestor. A record's distance from it is the cost of both
together.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.index import joined
from shoal.kernels.moving_centres import Moving, close, closest, move, moving, open_all
from shoal.kernels.sorting import first_from, order_of


class Centres(NamedTuple):
    """By cluster: the codes of its centre, the sums and numbers of the values that are not missing, and its size."""

    low: Any
    high: Any
    sums: Any
    filled: Any
    sizes: Any


class Gathering(NamedTuple):
    """Clusters that records join, where the centres of those that are open lie, and the cluster that the last record of
    each tuple joined; -1: none has."""

    centres: Centres
    places: Moving
    joined: Any


@inner
def _enter(cluster, point, costs, centres):
    """Takes one record into a cluster and moves its centre."""
    low, high, filled = centres.low[cluster], centres.high[cluster], centres.filled[cluster]
    for attribute in range(len(point)):
        code = point[attribute]
        if costs.interval[attribute]:
            if costs.missing[attribute] and code == 0:
                if filled[attribute] == 0:
                    low[attribute], high[attribute] = 0, 0
                continue
            base = costs.leaves[attribute]
            centres.sums[cluster, attribute] += costs.values[base + code]
            filled[attribute] += 1
            mean = centres.sums[cluster, attribute] / filled[attribute]
            first = base + (1 if costs.missing[attribute] else 0)
            last = base + costs.sizes[attribute]
            place = first_from(mean, costs.values, first, last)
            if place == last or (place > first and mean - costs.values[place - 1] <= costs.values[place] - mean):
                place -= 1
            low[attribute], high[attribute] = place - base, place - base
        elif centres.sizes[cluster] == 0:
            low[attribute], high[attribute] = code, code
        else:
            low[attribute] = min(low[attribute], code)
            high[attribute] = max(high[attribute], code)
    centres.sizes[cluster] += 1


@kernel
def centre_points(owners, tuples, points, clusters, costs):
    """The centres of clusters; records with a negative owner do not count."""
    dimensions = points.shape[1]
    centres = Centres(
        np.zeros((clusters, dimensions), np.int32), np.zeros((clusters, dimensions), np.int32),
        np.zeros((clusters, dimensions)), np.zeros((clusters, dimensions), np.int64), np.zeros(clusters, np.int64),
    )  # fmt: skip
    for row in range(len(tuples)):
        if owners[row] >= 0:
            _enter(owners[row], points[tuples[row]], costs, centres)
    return centres


@kernel
def surplus(owners, tuples, points, centres, costs, least):
    """Takes the farthest records out of every cluster above `least`; their owner becomes -1. Centres stay."""
    distances = np.empty(len(owners))
    for row in range(len(owners)):
        distances[row] = joined(costs, centres.low[owners[row]], centres.high[owners[row]], points[tuples[row]], np.inf)
    by_distance = order_of(-distances)
    for row in by_distance:
        if centres.sizes[owners[row]] > least:
            centres.sizes[owners[row]] -= 1
            owners[row] = -1


@kernel
def gathering(centres, boxes, least, tuples):
    """Clusters that records of so many tuples may join, those below `least` first; `boxes` is a tree over the low codes
    of centres."""
    places = moving(boxes, centres.low, centres.high, centres.sizes < least)
    return Gathering(centres, places, np.full(tuples, -1, np.int32))


@kernel
def join(free, owners, tuples, points, clusters, costs, least, flag):
    """Each free record, in the given order, joins the open cluster with the closest centre, which moves at once.

    A cluster that has `least` records closes; when all are closed, all open for good.
    """
    clusters, costs, owners, tuples, points = borrowed((clusters, costs, owners, tuples, points))
    centres, places, last = clusters.centres, clusters.places, clusters.joined
    alive = places.roster.alive
    for row in free:
        if flag[0]:
            break
        if alive[0] == 0:
            open_all(places)
        point = points[tuples[row]]
        cluster = closest(point, last[tuples[row]], places, costs)
        before = centres.sizes[cluster]
        owners[row], last[tuples[row]] = cluster, cluster
        _enter(cluster, point, costs, centres)
        move(cluster, centres.low[cluster], centres.high[cluster], places)
        if before < least and centres.sizes[cluster] == least:
            close(cluster, places)
