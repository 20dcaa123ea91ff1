"""MDAV: clusters of exactly k records around those farthest from the average."""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.sorting import insert


@inner
def _apart(costs, left, right):
    """The squared distance of two points: the sum of the squared costs of the attributes."""
    total = 0.0
    for attribute in range(len(left)):
        low, high = min(left[attribute], right[attribute]), max(left[attribute], right[attribute])
        total += cost(costs, attribute, low, high) ** 2
    return total


@kernel
def average(points, counts, costs):
    """The average record: the raw value nearest to the mean of a numeric attribute, the commonest of any other."""
    dimensions = points.shape[1]
    middle = np.zeros(dimensions, np.int32)
    for attribute in range(dimensions):
        base, size = costs.leaves[attribute], costs.sizes[attribute]
        first = 1 if costs.missing[attribute] else 0
        tally = np.zeros(size, np.int64)
        for point in range(len(points)):
            tally[points[point, attribute]] += counts[point]
        middle[attribute] = np.argmax(tally)
        if costs.interval[attribute] and tally[first:].sum() > 0:
            total = 0.0
            for leaf in range(first, size):
                total += tally[leaf] * costs.values[base + leaf]
            mean = total / tally[first:].sum()
            middle[attribute] = first + np.argmin(np.abs(costs.values[base + first : base + size] - mean))
    return middle


@inner
def _farthest(origin, points, remaining, alive, costs):
    best, chosen = -1.0, -1
    for point in alive:
        if remaining[point] > 0:
            here = _apart(costs, origin, points[point])
            if here > best:
                best, chosen = here, point
    return chosen


@inner
def _gather(origin, points, remaining, alive, costs, least, near, distances):
    """The nearest points to one, nearest first, at most `least` of them; they have at least `least` records."""
    count = 0
    for point in alive:
        if remaining[point] > 0:
            here = _apart(costs, origin, points[point])
            if count < least or here < distances[count - 1]:
                insert(here, point, distances, near, min(count, least - 1))
                count = min(count + 1, least)
    return count


@kernel
def maximum_distance(points, counts, remaining, owners, cluster, costs, least, spare, flag):
    """Makes clusters as MDAV does, numbered from `cluster` on, until at most `spare` records are left, or too few for
    two clusters; returns how many clusters there are.

    `remaining` has the records of each point that are left, `owners` the cluster of each record, records in the
    order of the points; both change in place.
    """
    firsts = np.cumsum(counts) - counts
    near, distances = np.empty(least, np.int32), np.empty(least)
    rest = remaining.sum()
    alive = np.arange(len(points))
    while rest >= 2 * least and rest > spare and not flag[0]:
        alive = alive[remaining[alive] > 0]
        middle = average(points[alive], remaining[alive], costs)
        origin = points[_farthest(middle, points, remaining, alive, costs)].copy()
        for turn in range(2 if rest >= 3 * least else 1):
            if turn == 1:
                origin = points[_farthest(origin, points, remaining, alive, costs)].copy()
            count = _gather(origin, points, remaining, alive, costs, least, near, distances)
            need = least
            for slot in range(count):
                point = near[slot]
                joining = min(need, remaining[point])
                first = firsts[point] + counts[point] - remaining[point]
                owners[first : first + joining] = cluster
                remaining[point] -= joining
                need -= joining
            rest -= least
            cluster += 1
    return cluster
