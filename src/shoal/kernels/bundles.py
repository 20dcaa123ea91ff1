"""Bundles: groups of records, one of each of some values, that lose little together."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.cost import span
from shoal.kernels.index import joined

ROUNDING = 1e-9


class Pools(NamedTuple):
    """The records of each value: those of value `v` are `records[starts[v]:starts[v] + sizes[v]]`. What is taken
    changes places with the last one and counts no more."""

    records: Any
    starts: Any
    sizes: Any


@kernel
def bundle(pools, widths, points, tuples, costs, looked, owners, first, seed, flag):
    """Class `first + t` gets one record of each of the first `widths[t]` values, for every t; widths never grow.

    The record of the first value is the one farthest from the last class, each other one adds least to the loss. At
    most so many records of a pool are `looked` at, drawn at random where it has more.
    """
    np.random.seed(seed)
    attributes = points.shape[1]
    low, high = np.zeros(attributes, np.int32), np.zeros(attributes, np.int32)
    for which in range(len(widths)):
        if flag[0]:
            return
        for value in range(widths[which]):
            start, size = pools.starts[value], pools.sizes[value]
            chosen, best = start, np.inf
            looks = min(size, looked)
            paid = span(costs, low, high) if value else 0.0
            for look in range(looks):
                place = start + (look if size <= looked else np.random.randint(size))
                point = points[tuples[pools.records[place]]]
                worth = joined(costs, low, high, point, best if value else np.inf)
                if value == 0:
                    worth = -worth if which else 0.0
                if worth < best:
                    chosen, best = place, worth
                    if value and best <= paid + ROUNDING:
                        break  # it adds nothing
            record, last = pools.records[chosen], start + size - 1
            pools.records[chosen] = pools.records[last]
            pools.records[last] = record
            pools.sizes[value] -= 1
            owners[record] = first + which
            for at in range(attributes):
                code = points[tuples[record], at]
                low[at] = code if value == 0 else min(low[at], code)
                high[at] = code if value == 0 else max(high[at], code)
