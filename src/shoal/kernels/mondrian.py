"""Cutting partitions of points along one attribute (Mondrian)."""

import numpy as np
from numba import njit

from shoal.kernels.cost import cost


@njit(cache=True, nogil=True)
def _ancestor(attribute, low, high, space):
    """Where the row of the tree matrix begins that holds the closest common ancestor of two leaves."""
    offset = space.rows[attribute]
    size = space.sizes[attribute]
    while space.tree[offset + low] != space.tree[offset + high]:
        offset += size
    return offset


@njit(cache=True, nogil=True)
def _threshold(points, weights, begin, end, attribute, low, high, least, missing_first, tally):
    """The code such that codes up to it go left, with the most even sides; -1 when no cut leaves enough on both."""
    reach = high - low + 1
    tally[:reach] = 0
    total = 0
    for row in range(begin, end):
        tally[points[row, attribute] - low] += weights[row]
        total += weights[row]
    if missing_first and low == 0 and tally[0] >= least and total - tally[0] >= least:
        return 0
    best, left, smaller = -1, 0, -1
    for step in range(reach - 1):
        left += tally[step]
        side = min(left, total - left)
        if tally[step] > 0 and side >= least and side > smaller:
            best, smaller = low + step, side
    return best


@njit(cache=True, nogil=True)
def _scattered_threshold(points, weights, begin, end, attribute, least):
    """The same for few points over a wide range of codes, by sorting."""
    codes = points[begin:end, attribute].copy()
    order = np.argsort(codes)
    total = weights[begin:end].sum()
    best, left, smaller = -1, 0, -1
    for place in range(len(order) - 1):
        left += weights[begin + order[place]]
        code = codes[order[place]]
        side = min(left, total - left)
        if code != codes[order[place + 1]] and side >= least and side > smaller:
            best, smaller = code, side
    return best


@njit(cache=True, nogil=True)
def _sides(points, weights, begin, end, attribute, low, high, least, space, tally, side):
    """Gives every point of the partition its side; returns the number of sides, 0 when there is no allowable cut.

    An interval attribute is cut in two. A hierarchical one falls apart into the children of its node; children
    that are too small stay together at the node.
    """
    if space.interval[attribute]:
        if high - low > 4 * (end - begin) + 64:
            threshold = _scattered_threshold(points, weights, begin, end, attribute, least)
        else:
            threshold = _threshold(
                points, weights, begin, end, attribute, low, high, least, space.missing[attribute], tally
            )
        if threshold < 0:
            return 0
        for row in range(begin, end):
            side[row] = 0 if points[row, attribute] <= threshold else 1
        return 2
    offset = _ancestor(attribute, low, high, space) - space.sizes[attribute]
    first = space.tree[offset + low]
    children = space.tree[offset + high] - first + 1
    tally[:children] = 0
    for row in range(begin, end):
        tally[space.tree[offset + points[row, attribute]] - first] += weights[row]
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
        side[row] = tally[space.tree[offset + points[row, attribute]] - first]
    return at


@njit(cache=True, nogil=True)
def _halves(points, begin, end, attribute, least, side):
    """A relaxed cut: half of the points on each side, equal values on either."""
    if (end - begin) // 2 < least:
        return 0
    order = np.argsort(points[begin:end, attribute], kind="mergesort")
    half = (end - begin) // 2
    for place in range(len(order)):
        side[begin + order[place]] = 0 if place < half else 1
    return 2


@njit(cache=True, nogil=True)
def cut(
    begins, ends, tried, points, weights, identities, least, relaxed, space, tally, spare, side, bounds, counts, chosen
):
    """Cuts each partition `begins[p]:ends[p]` along its widest allowable attribute that is not in `tried[p]`.

    Points are reordered in place so that the sides stand one after the other. `counts[p]` becomes the number of
    sides, 0 for a partition that cannot be cut; side `s` ends before `bounds[begins[p] + s]`.
    """
    dimensions = points.shape[1]
    spare_points, spare_weights, spare_identities = spare
    low = np.empty(dimensions, np.int32)
    high = np.empty(dimensions, np.int32)
    widths = np.empty(dimensions, np.float64)
    for partition in range(len(begins)):
        begin, end = begins[partition], ends[partition]
        counts[partition] = 0
        low[:] = points[begin]
        high[:] = points[begin]
        total = 0
        for row in range(begin, end):
            total += weights[row]
            for attribute in range(dimensions):
                code = points[row, attribute]
                if code < low[attribute]:
                    low[attribute] = code
                elif code > high[attribute]:
                    high[attribute] = code
        if total < 2 * least:
            continue
        for attribute in range(dimensions):
            widths[attribute] = cost(space, attribute, low[attribute], high[attribute])
            if tried[partition] >> np.uint64(attribute) & np.uint64(1):
                widths[attribute] = 0.0
        parts = 0
        while True:
            attribute = np.argmax(widths)
            if widths[attribute] <= 0.0:
                break
            if relaxed and space.interval[attribute]:
                parts = _halves(points, begin, end, attribute, least, side)
            else:
                parts = _sides(
                    points, weights, begin, end, attribute, low[attribute], high[attribute], least, space, tally, side
                )
            if parts > 0:
                break
            widths[attribute] = 0.0
        if parts == 0:
            continue
        counts[partition] = parts
        chosen[partition] = attribute
        tally[: parts + 1] = 0
        for row in range(begin, end):
            tally[side[row] + 1] += 1
        for part in range(parts):
            tally[part + 1] += tally[part]
            bounds[begin + part] = begin + tally[part + 1]
        for row in range(begin, end):
            place = begin + tally[side[row]]
            tally[side[row]] += 1
            spare_points[place] = points[row]
            spare_weights[place] = weights[row]
            spare_identities[place] = identities[row]
        points[begin:end] = spare_points[begin:end]
        weights[begin:end] = spare_weights[begin:end]
        identities[begin:end] = spare_identities[begin:end]
