"""Drawing clusters of different sensitive values from buckets, one for each value (bucket and l-member clustering)."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.cost import pair
from shoal.kernels.index import Roster, Walk, bound, joined, pop, push, roster, start, walk_through
from shoal.kernels.members import reach

EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
ENDLESS = np.iinfo(np.int64).max
"""More draws than there are, where no rule limits them."""
ANY = -2
"""The stamp of a draw for which it does not matter what was used."""


class Buckets(NamedTuple):
    """What is left to draw from.

    - A *kind* is the records with equal tuples and equal values: `points`, `values`, `firsts` (its first record), and
      how many of its records are `remaining`;
    - `left`: by value, how many of its records may still be drawn;
    - `roster`: a tree of boxes over the kinds; `masks`: for each node, a bit for each value (modulo 64) that is left
      under it;
    - `owners`: the cluster of each record, -1: none; `origin[0]`: the kind that the last cluster began with;
      `clusters[0]`: how many there are.
    """

    points: Any
    values: Any
    firsts: Any
    remaining: Any
    left: Any
    roster: Roster
    masks: Any
    walk: Walk
    owners: Any
    origin: Any
    clusters: Any


class Rule(NamedTuple):
    """Which values may be drawn: not those that were `used` at `stamp`, and of those with no more than `coming`
    records only as long as `tight[0]` is positive."""

    used: Any
    stamp: Any
    coming: Any
    tight: Any


class Shape(NamedTuple):
    """What clusters shall be: `rounds` of l different values each, then any values up to `sizes`. Without `hall`
    nothing is kept back for the clusters to come."""

    rounds: Any
    sizes: Any
    l: Any
    hall: Any


@njit(cache=True, nogil=True)
def _bit(value):
    return np.uint64(1) << np.uint64(value & 63)


@njit(cache=True, nogil=True)
def filled(points, values, counts, left, boxes, origin):
    """All records still to be drawn; the first cluster begins as far from a kind as can be."""
    tree = roster(boxes)
    masks = np.zeros(len(boxes.left), np.uint64)
    for node in range(len(masks) - 1, -1, -1):
        child = boxes.left[node]
        if child >= 0:
            masks[node] = masks[child] | masks[child + 1]
        else:
            for place in range(boxes.begins[node], boxes.ends[node]):
                masks[node] |= _bit(values[boxes.order[place]])
    return Buckets(
        points, values, np.cumsum(counts) - counts, counts.copy(), left.copy(), tree, masks, walk_through(boxes),
        np.full(counts.sum(), -1, np.int32), np.full(1, origin, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True, inline="always")
def _open(value, buckets, rule):
    left = buckets.left[value]
    return left > 0 and rule.used[value] != rule.stamp and (left > rule.coming or rule.tight[0] > 0)


@njit(cache=True, nogil=True)
def _open_mask(buckets, rule):
    """The bits of the values that may be drawn, perhaps with others."""
    if len(buckets.left) > 64 and rule.tight[0] > 0:
        return EVERY
    mask = NONE
    for value in range(len(buckets.left)):
        if _open(value, buckets, rule):
            mask |= _bit(value)
    return mask


@njit(cache=True, nogil=True)
def _cheapest(buckets, rule, costs, low, high):
    """The kind that may be drawn from and costs least in a cluster; -1 when there is none."""
    boxes, masks = buckets.roster.boxes, buckets.masks
    mask = _open_mask(buckets, rule)
    best, chosen = np.inf, -1
    start(buckets.walk)
    while True:
        node = pop(buckets.walk, boxes, masks, NONE, best, 0)
        if node < 0:
            return chosen
        child = boxes.left[node]
        if child >= 0:
            first, second = np.inf, np.inf
            if masks[child] & mask != NONE:
                first = bound(costs, low, high, boxes.low[child], boxes.high[child], best)
            if masks[child + 1] & mask != NONE:
                second = bound(costs, low, high, boxes.low[child + 1], boxes.high[child + 1], best)
            push(buckets.walk, child, first, second)
            continue
        for place in range(boxes.begins[node], boxes.ends[node]):
            kind = boxes.order[place]
            if buckets.remaining[kind] > 0 and _open(buckets.values[kind], buckets, rule):
                here = joined(costs, low, high, buckets.points[kind], best)
                if here < best:
                    best, chosen = here, kind


@njit(cache=True, nogil=True)
def _farthest(buckets, rule, costs, origin):
    """The kind that may be drawn from and is farthest from one; -1 when there is none."""
    boxes, masks, point = buckets.roster.boxes, buckets.masks, buckets.points[origin]
    mask = _open_mask(buckets, rule)
    best, chosen = -1.0, -1
    start(buckets.walk)
    while True:
        # Far is near with the sign turned round.
        node = pop(buckets.walk, boxes, masks, NONE, -best, 0)
        if node < 0:
            return chosen
        child = boxes.left[node]
        if child >= 0:
            first, second = np.inf, np.inf
            if masks[child] & mask != NONE:
                first = -reach(costs, point, boxes.low[child], boxes.high[child])
            if masks[child + 1] & mask != NONE:
                second = -reach(costs, point, boxes.low[child + 1], boxes.high[child + 1])
            push(buckets.walk, child, first, second)
            continue
        for place in range(boxes.begins[node], boxes.ends[node]):
            kind = boxes.order[place]
            if buckets.remaining[kind] > 0 and _open(buckets.values[kind], buckets, rule):
                here = pair(costs, point, buckets.points[kind])
                if here > best:
                    best, chosen = here, kind


@njit(cache=True, nogil=True)
def _next(size, buckets, rule, costs, low, high):
    """Draws the record with which a cluster goes on, or begins, and returns its kind; -1 when there is none."""
    if size > 0:
        kind = _cheapest(buckets, rule, costs, low, high)
    else:
        kind = _farthest(buckets, rule, costs, buckets.origin[0])
    if kind < 0:
        return kind
    point, value = buckets.points[kind], buckets.values[kind]
    if size == 0:
        buckets.origin[0] = kind
        low[:], high[:] = point, point
    for attribute in range(len(low)):
        low[attribute] = min(low[attribute], point[attribute])
        high[attribute] = max(high[attribute], point[attribute])
    if buckets.left[value] <= rule.coming:
        rule.tight[0] -= 1
    rule.used[value] = max(rule.used[value], rule.stamp)
    buckets.left[value] -= 1
    end = len(buckets.owners) if kind + 1 == len(buckets.firsts) else buckets.firsts[kind + 1]
    buckets.owners[end - buckets.remaining[kind]] = buckets.clusters[0]
    buckets.remaining[kind] -= 1
    if buckets.remaining[kind] == 0:
        _strike(kind, buckets)
    return kind


@njit(cache=True, nogil=True)
def _strike(kind, buckets):
    """Takes the value of a kind without records out of the masks above it where no other kind has it."""
    boxes, masks = buckets.roster.boxes, buckets.masks
    node = buckets.roster.homes[kind]
    mask = NONE
    for place in range(boxes.begins[node], boxes.ends[node]):
        other = boxes.order[place]
        if buckets.remaining[other] > 0:
            mask |= _bit(buckets.values[other])
    while mask != masks[node]:
        masks[node] = mask
        node = buckets.roster.parents[node]
        if node < 0:
            break
        child = boxes.left[node]
        mask = masks[child] | masks[child + 1]


@njit(cache=True, nogil=True)
def _slack(left, coming, l):
    """How many records of values that have no more than `coming` can be drawn so that as many rounds of l different
    values are possible (Hall): a round takes a value once, so of each value no more than `coming` count."""
    total = -coming * l
    for count in left:
        total += min(count, coming)
    return total


@njit(cache=True, nogil=True)
def draw(buckets, shape, costs, until, flag):
    """Draws clusters until there are so many; whether all of them could be finished. With `hall` they can.

    A cluster begins with the record farthest from where the last one began, and takes the one that adds least loss of
    all that may be drawn.
    """
    dimensions = buckets.points.shape[1]
    low, high = np.empty(dimensions, np.int32), np.empty(dimensions, np.int32)
    used = np.full(len(buckets.left), -1, np.int64)
    tight = np.full(1, ENDLESS, np.int64)
    coming = shape.rounds[buckets.clusters[0] :].sum()
    stamp = 0
    while buckets.clusters[0] < until and not flag[0]:
        cluster, size = buckets.clusters[0], 0
        for _ in range(shape.rounds[cluster]):
            coming -= 1
            stamp += 1
            if shape.hall:
                tight[0] = _slack(buckets.left, coming, shape.l)
            for _ in range(shape.l):
                if _next(size, buckets, Rule(used, stamp, coming, tight), costs, low, high) < 0:
                    return False
                size += 1
        while size < shape.sizes[cluster]:
            if _next(size, buckets, Rule(used, ANY, coming, tight), costs, low, high) < 0:
                return False
            size += 1
        buckets.clusters[0] += 1
    return True


@njit(cache=True, nogil=True)
def gather(buckets, least, l, costs, spare, flag):
    """Grows clusters by the record that adds least loss, whatever its value, until no value makes up more than 1/l of
    the cluster, which then has `least` records or more; ends when `spare` records are left. Returns whether the last
    cluster could be finished."""
    dimensions = buckets.points.shape[1]
    low, high = np.empty(dimensions, np.int32), np.empty(dimensions, np.int32)
    used, tight = np.full(len(buckets.left), -1, np.int64), np.full(1, ENDLESS, np.int64)
    rule = Rule(used, ANY, np.int64(0), tight)
    rest = buckets.left.sum()
    while rest > spare and not flag[0]:
        size, most = 0, 0
        counts = np.zeros(len(buckets.left), np.int64)
        while size < least or most * l > size:
            kind = _next(size, buckets, rule, costs, low, high)
            if kind < 0:
                return False
            size, rest = size + 1, rest - 1
            counts[buckets.values[kind]] += 1
            most = max(most, counts[buckets.values[kind]])
        buckets.clusters[0] += 1
    return True
