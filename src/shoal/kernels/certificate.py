"""Prices of points, so that no set of records that could be a class is worth more than it costs."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.cost import cost


class Family(NamedTuple):
    """Points in groups: group `g` holds the points `order[starts[g]:starts[g + 1]]`, and whoever publishes some of them
    alike pays `bases[g]` or more for each, and the range that they span in one attribute, by which they are ordered."""

    order: Any
    starts: Any
    bases: Any


class SweptAttribute(NamedTuple):
    """The attribute whose ranges are looked at one by one, -1 for none, and the code of each point in it."""

    attribute: Any
    codes: Any


@inner
def _length(costs, axis, low, high):
    """What a range of the axis costs."""
    if axis.attribute < 0:
        return 0.0
    return cost(costs, axis.attribute, low, high)


@inner
def _steps(family, group, axis, firsts):
    """Where the points of a group with equal codes begin; returns how many such runs there are."""
    begin, end = family.starts[group], family.starts[group + 1]
    runs = 0
    for place in range(begin, end):
        if place == begin or axis.codes[family.order[place]] != axis.codes[family.order[place - 1]]:
            firsts[runs] = place
            runs += 1
    firsts[runs] = end
    return runs


@kernel
def cheapest(family, axis, costs, counts, least, dearest, prices, flag):
    """Lowers each point's price to the cost of the cheapest range with `least` records that it lies in.

    A group whose base is at least `dearest` changes nothing: no price is above that.
    """
    firsts = np.empty(len(family.order) + 1, np.int64)
    for group in range(len(family.bases)):
        if flag[0]:
            return
        base = family.bases[group]
        if base >= dearest:
            continue
        runs = _steps(family, group, axis, firsts)
        left, records = 0, 0
        # Of the ranges with a point, the cheapest ends there, or holds no more than `least` without its last run.
        for right in range(runs):
            before = records
            for place in range(firsts[right], firsts[right + 1]):
                records += counts[family.order[place]]
            if records < least:
                continue
            while True:
                fewer = records
                for place in range(firsts[left], firsts[left + 1]):
                    fewer -= counts[family.order[place]]
                # Before the last run joined, the range from `left` was too small: it is as small as can be.
                whole = before < least
                low, high = axis.codes[family.order[firsts[left]]], axis.codes[family.order[firsts[right]]]
                here = base + _length(costs, axis, low, high)
                if whole or fewer < least:
                    for place in range(firsts[left] if whole else firsts[right], firsts[right + 1]):
                        if here < prices[family.order[place]]:
                            prices[family.order[place]] = here
                if fewer < least:
                    break
                before -= records - fewer
                records = fewer
                left += 1


@inner
def _take(price, count, top, worth):
    """Takes up to `count` records of one price among the dearest ones; returns what those are worth together."""
    last = len(top) - 1
    for _ in range(count):
        if price <= top[last]:
            break
        worth += price - top[last]
        place = last
        while place > 0 and top[place - 1] < price:
            top[place] = top[place - 1]
            place -= 1
        top[place] = price
    return worth


@kernel
def headroom(family, axis, costs, counts, least, most, prices, room, flag):
    """Lowers each point's `room`, the factor by which its price may grow, to what every range with it allows.

    A range allows what its records cost together over what the dearest `least` of them are worth. Factors above `most`
    are not told apart.
    """
    firsts = np.empty(len(family.order) + 1, np.int64)
    ratios = np.empty(len(family.order), np.float64)
    allowed = np.empty(len(family.order), np.float64)
    top = np.empty(least, np.float64)
    for group in range(len(family.bases)):
        if flag[0]:
            return
        base, dearest, records = family.bases[group], 0.0, 0
        for place in range(family.starts[group], family.starts[group + 1]):
            records += counts[family.order[place]]
            if prices[family.order[place]] > dearest:
                dearest = prices[family.order[place]]
        if records < least or base >= most * dearest:
            continue
        runs = _steps(family, group, axis, firsts)
        for run in range(runs):
            allowed[run] = most
        for left in range(runs):
            for place in range(least):
                top[place] = 0.0
            worth, records, end = 0.0, 0, left
            low = axis.codes[family.order[firsts[left]]]
            for right in range(left, runs):
                paid = base + _length(costs, axis, low, axis.codes[family.order[firsts[right]]])
                if paid >= most * dearest:
                    break
                for place in range(firsts[right], firsts[right + 1]):
                    point = family.order[place]
                    records += counts[point]
                    worth = _take(prices[point], counts[point], top, worth)
                ratios[right] = least * paid / worth if records >= least and worth > 0.0 else most
                end = right + 1
            # What a range allows holds for everything in it: from its right end back to its left one.
            least_yet = most
            for run in range(end - 1, left - 1, -1):
                if ratios[run] < least_yet:
                    least_yet = ratios[run]
                if least_yet < allowed[run]:
                    allowed[run] = least_yet
        for run in range(runs):
            for place in range(firsts[run], firsts[run + 1]):
                if allowed[run] < room[family.order[place]]:
                    room[family.order[place]] = allowed[run]
