"""Cutting partitions of points along one attribute (Mondrian)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost
from shoal.kernels.sorting import order_of


class Points(NamedTuple):
    """Points with the records that they stand for, and their numbers before any were moved."""

    codes: Any
    weights: Any
    identities: Any


class CutPartitions(NamedTuple):
    """Partition `p` holds the points `begins[p]:ends[p]`; the attributes whose bits are set in `tried[p]` were tried.

    A cut fills in `counts`, how many sides there are (0: it cannot be cut), and along which attribute in `chosen`.
    """

    begins: Any
    ends: Any
    tried: Any
    counts: Any
    chosen: Any


class Moves(NamedTuple):
    """Room to move points in: where points are moved to, the side of each point, and where the sides end: side `s` of
    partition `p` ends before `bounds[begins[p] + s]`."""

    spare: Points
    side: Any
    bounds: Any


# Loops stand where slices and library calls would be shorter: those take the compiler several times as long, and the
# first run of a fresh installation waits for it.


@inner
def _cleared(tally, count):
    """Sets the first tallies to zero."""
    for place in range(count):
        tally[place] = 0


@inner
def _column(points, begin, end, attribute):
    """The codes of some points in one attribute."""
    codes = np.empty(end - begin, np.int32)
    for row in range(begin, end):
        codes[row - begin] = points.codes[row, attribute]
    return codes


@inner
def _ancestor(attribute, low, high, costs):
    """Where the row of the tree matrix begins that holds the closest common ancestor of two leaves."""
    offset = costs.rows[attribute]
    size = costs.sizes[attribute]
    while costs.tree[offset + low] != costs.tree[offset + high]:
        offset += size
    return offset


@inner
def _threshold(points, begin, end, attribute, low, high, least, missing_first, tally):
    """The code such that codes up to it go left, with the most even sides; -1 when no cut leaves enough on both."""
    reach = high - low + 1
    _cleared(tally, reach)
    total = 0
    for row in range(begin, end):
        tally[points.codes[row, attribute] - low] += points.weights[row]
        total += points.weights[row]
    if missing_first and low == 0 and tally[0] >= least and total - tally[0] >= least:
        return 0
    best, left, smaller = -1, 0, -1
    for step in range(reach - 1):
        left += tally[step]
        side = left if left < total - left else total - left
        if tally[step] > 0 and side >= least and side > smaller:
            best, smaller = low + step, side
    return best


@inner
def _scattered_threshold(points, begin, end, attribute, least):
    """The same for few points over a wide range of codes, by sorting."""
    codes = _column(points, begin, end, attribute)
    order = order_of(codes)
    total = 0
    for row in range(begin, end):
        total += points.weights[row]
    best, left, smaller = -1, 0, -1
    for place in range(len(order) - 1):
        left += points.weights[begin + order[place]]
        code = codes[order[place]]
        side = left if left < total - left else total - left
        if code != codes[order[place + 1]] and side >= least and side > smaller:
            best, smaller = code, side
    return best


@inner
def _sides(points, begin, end, attribute, low, high, least, costs, tally, side):
    """Gives every point of the partition its side; returns the number of sides, 0 when there is no allowable cut.

    An interval attribute is cut in two. A hierarchical one falls apart into the children of its node; children
    that are too small stay together at the node.
    """
    if costs.interval[attribute]:
        if high - low > 4 * (end - begin) + 64:
            threshold = _scattered_threshold(points, begin, end, attribute, least)
        else:
            threshold = _threshold(points, begin, end, attribute, low, high, least, costs.missing[attribute], tally)
        if threshold < 0:
            return 0
        for row in range(begin, end):
            side[row] = 0 if points.codes[row, attribute] <= threshold else 1
        return 2
    offset = _ancestor(attribute, low, high, costs) - costs.sizes[attribute]
    first = costs.tree[offset + low]
    children = costs.tree[offset + high] - first + 1
    _cleared(tally, children)
    for row in range(begin, end):
        tally[costs.tree[offset + points.codes[row, attribute]] - first] += points.weights[row]
    rest, grown, least_grown = 0, 0, -1
    for child in range(children):
        if tally[child] >= least:
            grown += 1
            if least_grown < 0 or tally[child] < tally[least_grown]:
                least_grown = child
        else:
            rest += tally[child]
    joined = -1
    if 0 < rest < least:
        joined = least_grown
        grown -= 1
        rest += 1
    if grown + (1 if rest > 0 else 0) < 2:
        return 0
    at = 1 if rest > 0 else 0
    for child in range(children):
        if tally[child] >= least and child != joined:
            tally[child] = at
            at += 1
        else:
            tally[child] = 0
    for row in range(begin, end):
        side[row] = tally[costs.tree[offset + points.codes[row, attribute]] - first]
    return at


@inner
def _halves(points, begin, end, attribute, least, side):
    """A relaxed cut: half of the points on each side, equal values on either."""
    if (end - begin) // 2 < least:
        return 0
    order = order_of(_column(points, begin, end, attribute))
    half = (end - begin) // 2
    for place in range(len(order)):
        side[begin + order[place]] = 0 if place < half else 1
    return 2


@inner
def _move(points, begin, end, parts, tally, moves):
    """Reorders the points of a partition so that its sides stand one after the other."""
    codes, weights, identities = moves.spare
    side = moves.side
    _cleared(tally, parts + 1)
    for row in range(begin, end):
        tally[side[row] + 1] += 1
    for part in range(parts):
        tally[part + 1] += tally[part]
        moves.bounds[begin + part] = begin + tally[part + 1]
    for row in range(begin, end):
        place = begin + tally[side[row]]
        tally[side[row]] += 1
        for attribute in range(codes.shape[1]):
            codes[place, attribute] = points.codes[row, attribute]
        weights[place] = points.weights[row]
        identities[place] = points.identities[row]
    for row in range(begin, end):
        for attribute in range(codes.shape[1]):
            points.codes[row, attribute] = codes[row, attribute]
        points.weights[row] = weights[row]
        points.identities[row] = identities[row]


@kernel
def cut(partitions, points, moves, costs, least, relaxed, flag):
    """Cuts each partition along its widest allowable attribute that was not tried, and reorders the points in place."""
    dimensions = points.codes.shape[1]
    largest = 0
    for attribute in range(dimensions):
        if costs.sizes[attribute] > largest:
            largest = costs.sizes[attribute]
    tally = np.empty(largest + 2, np.int64)
    low = np.empty(dimensions, np.int32)
    high = np.empty(dimensions, np.int32)
    widths = np.empty(dimensions, np.float64)
    for partition in range(len(partitions.begins)):
        if flag[0]:
            break
        begin, end = partitions.begins[partition], partitions.ends[partition]
        partitions.counts[partition] = 0
        for attribute in range(dimensions):
            low[attribute] = points.codes[begin, attribute]
            high[attribute] = points.codes[begin, attribute]
        total = 0
        for row in range(begin, end):
            total += points.weights[row]
            for attribute in range(dimensions):
                code = points.codes[row, attribute]
                low[attribute] = code if code < low[attribute] else low[attribute]
                high[attribute] = code if code > high[attribute] else high[attribute]
        if total < 2 * least:
            continue
        for attribute in range(dimensions):
            widths[attribute] = cost(costs, attribute, low[attribute], high[attribute])
            if partitions.tried[partition] >> np.uint64(attribute) & np.uint64(1):
                widths[attribute] = 0.0
        parts = 0
        while True:
            attribute = np.int64(0)
            for other in range(1, dimensions):
                if widths[other] > widths[attribute]:
                    attribute = other
            if widths[attribute] <= 0.0:
                break
            if relaxed and costs.interval[attribute]:
                parts = _halves(points, begin, end, attribute, least, moves.side)
            else:
                parts = _sides(
                    points, begin, end, attribute, low[attribute], high[attribute], least, costs, tally, moves.side
                )
            if parts > 0:
                break
            widths[attribute] = 0.0
        if parts > 0:
            partitions.counts[partition] = parts
            partitions.chosen[partition] = attribute
            _move(points, begin, end, parts, tally, moves)
