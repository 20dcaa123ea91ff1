"""What ranges of leaves cost: the notion that every local recoding shares."""

from numba import njit


@njit(cache=True, nogil=True)
def cost(space, attribute, low, high):
    """The cost of one attribute of a set of records whose least and greatest leaves are `low` and `high`."""
    offset = space.offsets[attribute]
    if offset >= 0:
        return space.tables[offset + low * space.sizes[attribute] + high]
    if low == high:
        return 0.0
    if space.interval[attribute]:
        if space.missing[attribute] and low == 0:
            return 1.0
        base = space.leaves[attribute]
        return min(1.0, (space.values[base + high] - space.values[base + low]) / space.spans[attribute])
    place, size = space.rows[attribute], space.sizes[attribute]
    while space.tree[place + low] != space.tree[place + high]:
        place += size
    return space.charges[place + low]


@njit(cache=True, nogil=True)
def pair(space, left, right):
    """The distance of two records: the cost of publishing them alike."""
    total = 0.0
    for attribute in range(len(left)):
        total += cost(space, attribute, min(left[attribute], right[attribute]), max(left[attribute], right[attribute]))
    return total


@njit(cache=True, nogil=True)
def span(space, low, high):
    """The cost, for each of its records, of a set whose least and greatest leaves are given."""
    total = 0.0
    for attribute in range(len(low)):
        total += cost(space, attribute, low[attribute], high[attribute])
    return total


@njit(cache=True, nogil=True)
def union(space, low, high, other_low, other_high, limit):
    """The cost of two sets together; stops early, with what it has, once that exceeds `limit`."""
    total = 0.0
    for attribute in range(len(low)):
        total += cost(
            space, attribute, min(low[attribute], other_low[attribute]), max(high[attribute], other_high[attribute])
        )
        if total > limit:
            break
    return total
