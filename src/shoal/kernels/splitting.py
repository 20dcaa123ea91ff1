"""Splitting a cluster around its two farthest members."""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import pair
from shoal.kernels.index import joined
from shoal.kernels.sorting import order_of

EXHAUSTIVE = 256


@inner(borrowing=True)
def _farthest_from(origin, begin, end, members, points, tuples, costs):
    best, chosen, last = -1.0, begin, -1
    for place in range(begin, end):
        if tuples[members[place]] != last:  # a record like the one before is as far
            last = tuples[members[place]]
            here = pair(costs, points[tuples[members[origin]]], points[last])
            if here > best:
                best, chosen = here, place
    return chosen, best


@inner(borrowing=True)
def _farthest_pair(begin, end, members, points, tuples, costs):
    """The two farthest members; in big clusters the farthest from the first, and the farthest from that one."""
    if end - begin > EXHAUSTIVE:
        one, _ = _farthest_from(begin, begin, end, members, points, tuples, costs)
        other, best = _farthest_from(one, begin, end, members, points, tuples, costs)
        return one, other, best
    one, other, best, last = begin, begin, -1.0, -1
    for place in range(begin, end):
        if tuples[members[place]] != last:
            last = tuples[members[place]]
            partner, here = _farthest_from(place, place, end, members, points, tuples, costs)
            if here > best:
                one, other, best = place, partner, here
    return one, other, best


@inner(borrowing=True)
def _range(begin, end, members, points, tuples, low, high):
    """Takes the least and the greatest codes of some members."""
    for attribute in range(len(low)):
        low[attribute] = high[attribute] = points[tuples[members[begin]], attribute]
        for place in range(begin + 1, end):
            code = points[tuples[members[place]], attribute]
            if code < low[attribute]:
                low[attribute] = code
            elif code > high[attribute]:
                high[attribute] = code


@inner
def _top_up(begin, middle, end, least, members, points, tuples, costs):
    """A half that is too small takes those of the other half that cost it least; returns where the halves meet."""
    low, high = np.empty(points.shape[1], points.dtype), np.empty(points.shape[1], points.dtype)
    while middle - begin < least or end - middle < least:
        first = middle - begin < least
        _range(begin if first else middle, middle if first else end, members, points, tuples, low, high)
        best, chosen = np.inf, -1
        for place in range(middle, end) if first else range(begin, middle):
            here = joined(costs, low, high, points[tuples[members[place]]], best)
            if here < best:
                best, chosen = here, place
        edge = middle if first else middle - 1
        members[chosen], members[edge] = members[edge], members[chosen]
        middle += 1 if first else -1
    return middle


@kernel
def bisect(owners, frozen, tuples, points, costs, least, once, flag):
    """Splits every cluster of twice `least` or more in two, and, unless `once`, the halves again, in place.

    Each member goes to the nearer of the two farthest ones; a half below `least` takes the members of the other one
    that cost it least. Clusters of equal records and of `frozen` ones are not split. Cluster numbers have no gaps; one
    half keeps the number. Returns the number of clusters.
    """
    members = order_of(owners)
    begins, ends = np.empty(len(owners), np.int64), np.empty(len(owners), np.int64)
    clusters = 0
    for place in range(len(members)):
        owner = owners[members[place]]
        if owner < 0:
            continue
        if owner == clusters:
            begins[clusters] = place
            clusters += 1
        ends[owner] = place + 1
    cluster, last = 0, clusters
    while cluster < (last if once else clusters) and not flag[0]:
        begin, end = begins[cluster], ends[cluster]
        one, other, best = 0, 0, 0.0
        if end - begin >= 2 * least and not frozen[members[begin]]:
            one, other, best = _farthest_pair(begin, end, members, points, tuples, costs)
        if best <= 0.0:
            cluster += 1
            continue
        here, there = points[tuples[members[one]]], points[tuples[members[other]]]
        leaning = np.empty(end - begin, np.float64)
        nearer = 0
        for place in range(begin, end):
            point = points[tuples[members[place]]]
            leaning[place - begin] = pair(costs, here, point) - pair(costs, there, point)
            if leaning[place - begin] <= 0:
                nearer += 1
        order = order_of(leaning)
        for place in range(end - begin):
            order[place] = members[begin + order[place]]
        for place in range(begin, end):
            members[place] = order[place - begin]
        middle = _top_up(begin, begin + nearer, end, least, members, points, tuples, costs)
        ends[cluster] = middle
        begins[clusters], ends[clusters] = middle, end
        clusters += 1
        cluster += 1 if once else 0
    for cluster in range(clusters):
        for place in range(begins[cluster], ends[cluster]):
            owners[members[place]] = cluster
    return clusters
