"""Bundles: groups of records, one of each of some values, that lose little together."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowed
from shoal.kernels.compilation import kernel
from shoal.kernels.cost import cost, span

ROUNDING = 1e-9


class Pools(NamedTuple):
    """The records of each value: those of value `v` are `records[starts[v]:starts[v] + sizes[v]]`, and `points` has the
    tuple of each. What is taken changes places with the last one and counts no more."""

    records: Any
    points: Any
    starts: Any
    sizes: Any


@kernel
def bundle(pools, widths, costs, looked, owners, first, seed, flag):
    """Class `first + t` gets one record of each of the first `widths[t]` values, for every t; widths never grow.

    The record of the first value is the one farthest from the last class, each other one adds least to the loss. At
    most so many records of a pool are `looked` at, drawn at random where it has more.
    """
    np.random.seed(seed)
    pools, costs, owners = borrowed((pools, costs, owners))
    records, points, starts, sizes = pools
    attributes = points.shape[1]
    low, high = np.zeros(attributes, np.int32), np.zeros(attributes, np.int32)
    firsts = np.zeros(attributes + 1, np.int64)
    for at in range(attributes):
        firsts[at + 1] = firsts[at] + costs.sizes[at]
    leaves = firsts[attributes]
    noted = np.empty(leaves if leaves <= looked * attributes else 0)
    for which in range(len(widths)):
        if flag[0]:
            return
        for value in range(widths[which]):
            start, size = starts[value], sizes[value]
            chosen, best = start, np.inf
            paid = span(costs, low, high) if value else 0.0
            looks = min(size, looked)
            # Where more leaves are looked at than there are, what each one costs is found once.
            noting = leaves <= looks * attributes
            if noting:
                for at in range(attributes):
                    for code in range(costs.sizes[at]):
                        noted[firsts[at] + code] = cost(costs, at, min(low[at], code), max(high[at], code))
            for look in range(looks):
                place = start + (look if size <= looked else np.random.randint(size))
                worth = 0.0
                if noting:
                    # Unsigned, for numba asks of any other place whether it counts from the end.
                    for at in range(attributes):
                        worth += noted[np.uint64(firsts[at] + points[place, at])]
                else:
                    for at in range(attributes):
                        code = points[place, at]
                        worth += cost(costs, at, min(low[at], code), max(high[at], code))
                if value == 0:
                    worth = -worth if which else 0.0
                if worth < best:
                    chosen, best = place, worth
                    if value and best <= paid + ROUNDING:
                        break  # it adds nothing
            last = start + size - 1
            owners[records[chosen]] = first + which
            records[chosen], records[last] = records[last], records[chosen]
            sizes[value] -= 1
            for at in range(attributes):
                code = points[chosen, at]
                points[chosen, at], points[last, at] = points[last, at], code
                low[at] = code if value == 0 else min(low[at], code)
                high[at] = code if value == 0 else max(high[at], code)
