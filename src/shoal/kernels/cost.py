"""What ranges of leaves cost: the notion that every local recoding shares."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel


class Costs(NamedTuple):
    """For attribute `a`: `sizes[a]` leaves; where they are few, the cost of the leaves i to j is
    `tables[offsets[a] + i * sizes[a] + j]`, else `offsets[a]` is -1 and the cost follows from `values` (intervals) or
    from `tree` and `charges` (the node of each leaf at each level, and what that node costs)."""

    sizes: Any
    tables: Any
    offsets: Any
    interval: Any
    missing: Any
    values: Any
    leaves: Any
    spans: Any
    tree: Any
    charges: Any
    rows: Any


@kernel(borrowing=True)
def cost(costs, attribute, low, high):
    """The cost of one attribute of a set of records whose least and greatest leaves are `low` and `high`."""
    offset = costs.offsets[attribute]
    if offset >= 0:
        # Unsigned, for numba asks of any other place whether it counts from the end.
        return costs.tables[np.uint64(offset + low * costs.sizes[attribute] + high)]
    if low == high:
        return 0.0
    if costs.interval[attribute]:
        if costs.missing[attribute] and low == 0:
            return 1.0
        base = costs.leaves[attribute]
        return min(1.0, (costs.values[base + high] - costs.values[base + low]) / costs.spans[attribute])
    place, size = costs.rows[attribute], costs.sizes[attribute]
    while costs.tree[place + low] != costs.tree[place + high]:
        place += size
    return costs.charges[place + low]


@kernel(borrowing=True)
def pair(costs, left, right):
    """The distance of two records: the cost of publishing them alike."""
    total = 0.0
    for attribute in range(len(left)):
        total += cost(costs, attribute, min(left[attribute], right[attribute]), max(left[attribute], right[attribute]))
    return total


@kernel(borrowing=True)
def span(costs, low, high):
    """The cost, for each of its records, of a set whose least and greatest leaves are given."""
    total = 0.0
    for attribute in range(len(low)):
        total += cost(costs, attribute, low[attribute], high[attribute])
    return total


@inner(borrowing=True)
def union(costs, low, high, other_low, other_high, limit):
    """The cost of two sets together; stops early, with what it has, once that exceeds `limit`."""
    total = 0.0
    for attribute in range(len(low)):
        total += cost(
            costs, attribute, min(low[attribute], other_low[attribute]), max(high[attribute], other_high[attribute])
        )
        if total > limit:
            break
    return total
