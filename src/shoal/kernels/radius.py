"""Clusters of at least so many records whose radius is small (r-gather)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import pair
from shoal.kernels.index import join


class NearCentres(NamedTuple):
    """Which points lie within a radius of which centres: centre `c` has the entries `starts[c]` to `starts[c + 1]`,
    each a point, how far it is, and how many of its records are `dealt` to the centre. The entries of point `p` are
    `by_point[firsts[p]]` and so on."""

    starts: Any
    points: Any
    owners: Any
    apart: Any
    dealt: Any
    firsts: Any
    by_point: Any


@kernel
def reach(points, counts, neighbours, costs, least):
    """The greatest distance from any point to the last of the nearest `least` records, its own among them;
    `neighbours` has the nearest points of each, nearest first."""
    greatest = 0.0
    for point in range(len(points)):
        records = counts[point]
        for place in range(neighbours.shape[1]):
            other = neighbours[point, place]
            if records >= least or other < 0:
                break
            if other != point:
                records += counts[other]
                greatest = max(greatest, pair(costs, points[point], points[other]))
    return greatest


@kernel
def centres_of(points, costs, radius, order, flag):
    """Points such that each point is within the radius of one of them and none of another: in some order, each one
    that no earlier one covers."""
    covered, centres = np.zeros(len(points), np.bool_), np.empty(len(points), np.int64)
    uncovered, apart = np.arange(len(points)), np.empty(len(points))
    count, left = 0, len(points)
    for point in order:
        if covered[point] or flag[0]:
            continue
        centres[count] = point
        count += 1
        join(costs, points[point], points[point], points, uncovered, 0, left, radius, apart)
        farther = 0
        for place in range(left):
            other = uncovered[place]
            if apart[place] <= radius:
                covered[other] = True
            else:
                uncovered[farther] = other
                farther += 1
        left = farther
    return centres[:count].copy()


@kernel
def links_of(points, costs, radius, centres, flag):
    """All pairs of a centre and a point within the radius."""
    starts, room = np.zeros(len(centres) + 1, np.int64), 4 * len(points)
    found, apart, count = np.empty(room, np.int64), np.empty(room), 0
    everybody, distances = np.arange(len(points)), np.empty(len(points))
    for number in range(len(centres)):
        if flag[0]:
            break
        centre = points[centres[number]]
        join(costs, centre, centre, points, everybody, 0, len(points), radius, distances)
        if count + len(points) > room:
            room = 2 * room + len(points)
            more, farther = np.empty(room, np.int64), np.empty(room)
            more[:count], farther[:count] = found[:count], apart[:count]
            found, apart = more, farther
        for point in range(len(points)):
            if distances[point] <= radius:
                found[count], apart[count] = point, distances[point]
                count += 1
        starts[number + 1] = count
    firsts, owners = np.zeros(len(points) + 1, np.int64), np.empty(count, np.int64)
    for number in range(len(centres)):
        for entry in range(starts[number], starts[number + 1]):
            owners[entry] = number
            firsts[found[entry] + 1] += 1
    firsts = np.cumsum(firsts)
    fill, by_point = firsts.copy(), np.empty(count, np.int64)
    for entry in range(count):
        by_point[fill[found[entry]]] = entry
        fill[found[entry]] += 1
    return NearCentres(
        starts, found[:count].copy(), owners, apart[:count].copy(), np.zeros(count, np.int64), firsts, by_point
    )


@inner
def _find(links, free, wanted, need, gives, takes, queue):
    """Finds up to `need` records for a centre: free ones within its radius, or those of another centre that finds
    others in their place. Returns how many."""
    gives[:] = -1
    queue[0] = wanted
    head, tail = 0, 1
    while head < tail:
        centre = queue[head]
        head += 1
        for entry in range(links.starts[centre], links.starts[centre + 1]):
            point = links.points[entry]
            if free[point] > 0:
                amount, at = min(free[point], need), centre
                while at != wanted:
                    amount = min(amount, links.dealt[takes[at]])
                    at = links.owners[gives[at]]
                links.dealt[entry] += amount
                free[point] -= amount
                at = centre
                while at != wanted:
                    links.dealt[takes[at]] -= amount
                    links.dealt[gives[at]] += amount
                    at = links.owners[gives[at]]
                return amount
            for place in range(links.firsts[point], links.firsts[point + 1]):
                taken = links.by_point[place]
                other = links.owners[taken]
                if links.dealt[taken] > 0 and other != wanted and gives[other] < 0:
                    gives[other], takes[other], queue[tail] = entry, taken, other
                    tail += 1
    return 0


@kernel
def deal(links, counts, least, flag):
    """Deals `least` records to every centre, each within its radius; returns whether there are so many. Which records
    are free then is left in `links.dealt`: those of a point that no centre has."""
    centres = len(links.starts) - 1
    free, queue = counts.copy(), np.empty(centres, np.int64)
    gives, takes = np.empty(centres, np.int64), np.empty(centres, np.int64)
    for centre in range(centres):
        need = least
        while need > 0 and not flag[0]:
            amount = _find(links, free, centre, need, gives, takes, queue)
            if amount == 0:
                return False
            need -= amount
    return not flag[0]


@kernel
def clusters_of(links, counts):
    """The centre of each record, records in the order of the points: the one that it was dealt to, else the nearest."""
    owners = np.empty(counts.sum(), np.int32)
    record = 0
    for point in range(len(counts)):
        left, nearest = counts[point], -1
        for place in range(links.firsts[point], links.firsts[point + 1]):
            entry = links.by_point[place]
            if nearest < 0 or links.apart[entry] < links.apart[nearest]:
                nearest = entry
            for _ in range(links.dealt[entry]):
                owners[record] = links.owners[entry]
                record += 1
            left -= links.dealt[entry]
        for _ in range(left):
            owners[record] = links.owners[nearest]
            record += 1
    return owners


@kernel
def farthest(points, counts, costs, centres, owners):
    """The greatest distance of a record to the centre of its cluster."""
    greatest, record = 0.0, 0
    for point in range(len(points)):
        for _ in range(counts[point]):
            greatest = max(greatest, pair(costs, points[point], points[centres[owners[record]]]))
            record += 1
    return greatest
