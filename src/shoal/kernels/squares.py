"""Microaggregation by squared error: MDAV and the shortest path over records in an order."""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import insert, value_of_rank


@inner
def apart(left, right):
    """The squared Euclidean distance of two points."""
    total = 0.0
    for column in range(len(left)):
        total += (left[column] - right[column]) ** 2
    return total


@inner
def _farthest(origin, points, alive):
    best, chosen = -1.0, -1
    for record in alive:
        here = apart(origin, points[record])
        if here > best:
            best, chosen = here, record
    return chosen


@inner
def _take_nearest(origin, points, alive, least, group, owners):
    """Puts the nearest records to a point into a group."""
    distances = np.empty(len(alive))
    for place, record in enumerate(alive):
        distances[place] = apart(origin, points[record])
    bound = value_of_rank(distances.copy(), least - 1)
    left = least
    for place, record in enumerate(alive):
        if distances[place] < bound:
            owners[record] = group
            left -= 1
    for place, record in enumerate(alive):
        if left > 0 and distances[place] == bound:
            owners[record] = group
            left -= 1


@kernel
def maximum_distance(points, owners, groups, least, spare, flag):
    """Makes groups of `least` records as MDAV does, numbered from `groups` on, until at most `spare` records are left,
    or too few for two groups; returns how many groups there are. A record without a group has a negative owner."""
    alive = np.flatnonzero(owners < 0)
    while len(alive) >= 2 * least and len(alive) > spare and not flag[0]:
        middle = np.zeros(points.shape[1])
        for record in alive:
            middle += points[record]
        first = _farthest(middle / len(alive), points, alive)
        second = _farthest(points[first], points, alive)
        _take_nearest(points[first], points, alive, least, groups, owners)
        groups += 1
        twice = len(alive) >= 3 * least
        alive = alive[owners[alive] < 0]
        if twice:
            if owners[second] >= 0:
                second = _farthest(points[first], points, alive)
            _take_nearest(points[second], points, alive, least, groups, owners)
            groups += 1
            alive = alive[owners[alive] < 0]
    return groups


@kernel
def shortest_path(points, order, least, owners):
    """The groups of `least` to 2 · `least` - 1 records, consecutive in an order, with the least squared error; for one
    column in ascending order no other groups have less (Hansen and Mukherjee, 2003)."""
    count, columns = points.shape
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    begins = np.zeros(count + 1, np.int64)
    middle = np.empty(columns)
    for begin in range(count):
        if best[begin] == np.inf:
            continue
        # The mean and the error of a group that grows record by record (Welford), which cancels nothing.
        middle[:] = 0.0
        error = 0.0
        for size in range(1, min(2 * least - 1, count - begin) + 1):
            record = order[begin + size - 1]
            for column in range(columns):
                step = points[record, column] - middle[column]
                middle[column] += step / size
                error += step * (points[record, column] - middle[column])
            if size >= least and best[begin] + error < best[begin + size]:
                best[begin + size] = best[begin] + error
                begins[begin + size] = begin
    group, end = 0, count
    while end > 0:
        for place in range(begins[end], end):
            owners[order[place]] = group
        end = begins[end]
        group += 1


@kernel
def nearest(points, near, begin, end, flag):
    """Fills in, for the records from `begin` to `end`, the nearest other records, nearest first."""
    wanted = near.shape[1]
    distances = np.empty(wanted)
    for record in range(begin, end):
        if flag[0]:
            return
        count = 0
        for other in range(len(points)):
            if other == record:
                continue
            here = apart(points[record], points[other])
            if count < wanted or here < distances[count - 1]:
                insert(here, other, distances, near[record], min(count, wanted - 1))
                count = min(count + 1, wanted)
