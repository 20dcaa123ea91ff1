"""Clusters with moving centres: one-pass k-means, and the adjustment of cluster sizes.

A cluster's centre is, in an attribute published by its values, the raw value nearest to the mean, and in any other the
range of its leaves, which stands for their closest common ancestor. A record's distance from it is the cost of both
together.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.index import Walk, joined, start, walk_through
from shoal.kernels.moving_ranges import Ranged, fit, move, next_ranges, ranged, strike
from shoal.kernels.sorting import first_from, order_of


class Centres(NamedTuple):
    """By cluster: the codes of its centre, the sums and numbers of the values that are not missing, and its size."""

    low: Any
    high: Any
    sums: Any
    filled: Any
    sizes: Any


class Gathering(NamedTuple):
    """Clusters that records join, and where the centres of those that are open lie."""

    centres: Centres
    ranges: Ranged
    walk: Walk


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
def gathering(centres, boxes, least):
    """Clusters that records may join, those below `least` first; `boxes` is a tree over the low codes of centres."""
    ranges = ranged(boxes, centres.low, centres.high, centres.sizes < least)
    return Gathering(centres, ranges, walk_through(boxes))


@inner
def _closest(point, ranges, walk, costs):
    """The open cluster whose centre is closest to a record."""
    boxes, kept, totals = ranges.roster.boxes, ranges.kept, walk.costs
    order, begins, ends = boxes.order, boxes.begins, boxes.ends
    best, chosen = np.inf, -1
    start(walk)
    while True:
        node = next_ranges(walk, ranges, costs, point, point, best)
        if node < 0:
            return chosen
        for place in range(begins[node], ends[node]):
            if kept[place] and totals[place - begins[node]] < best:
                best, chosen = totals[place - begins[node]], order[place]


@kernel
def join(free, owners, tuples, points, clusters, costs, least, flag):
    """Each free record, in the given order, joins the open cluster with the closest centre, which moves at once.

    A cluster that has `least` records closes; when all are closed, all open for good.
    """
    clusters, costs, owners, tuples, points = borrowed((clusters, costs, owners, tuples, points))
    centres, ranges = clusters.centres, clusters.ranges
    alive, boxes = ranges.roster.alive, ranges.roster.boxes
    for row in free:
        if flag[0]:
            break
        if alive[0] == 0:
            ranges.kept[:] = True
            alive[:] = boxes.ends - boxes.begins
            fit(ranges)
        point = points[tuples[row]]
        cluster = _closest(point, ranges, clusters.walk, costs)
        before = centres.sizes[cluster]
        owners[row] = cluster
        _enter(cluster, point, costs, centres)
        move(cluster, centres.low[cluster], centres.high[cluster], ranges)
        if before < least and centres.sizes[cluster] == least:
            strike(cluster, ranges)
