"""How much of a class can be published at most, however it is split: what bounds a search when a class breaks a model.

Every level here that can break by growing survives merging: the parts of a class that are published satisfy the model
together, too. So none of them, whatever the split, can hold more records than the largest choice from the class's own
counts that keeps the bound, and that choice is found for each class on its own.

Shares. Earth Mover's Distances are sums over sets of values (single values; the values below a node of the hierarchy;
the first or the last ranks) of what a share exceeds the table's by. When `m` records stay, a set that has `c` of the
class's records and a share `p` of the table can hold `min(c, p·m)` of them without any excess, and whatever else stays
is excess somewhere. With `h` the shares of all sets together, the distance is within `t` only if
`Σ min(c, p·m) ≥ (1 - t)·h·m`. The difference of both sides is concave in `m` and 0 at 0, so it has one root, and
Newton's method from the whole class comes down to it without ever passing it: each iterate is a bound already.

Water levels. For the others, the best choice with a given greatest count cuts all counts off there: that leaves most
records, the highest entropy and the largest tail. Cutting lower can only help, so the highest whole number that keeps
the bound is found by bisection.
"""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.levels import (
    DISTINCT,
    ENTROPY,
    EQUAL,
    FREQUENCY,
    ORDERED,
    RECURSIVE,
    TREE,
    by_class,
    fill,
    put_in_order,
)

_ROUNDING = 1e-11
_ROUNDS = 100
_NEAR = 0.25
"""Newton's method stops where a round brings less than this share of a record: what comes after it hardly matters."""


@inner
def _hurdle(measure, bound, least):
    """What a class takes of which `least` records can stay, by the single values alone: its counts, each cut off at the
    cap of its value, add up to so much even if the other levels of a hierarchy have no excess at all."""
    if measure.kind == ORDERED:
        return np.zeros(len(measure.priors)), 0.0
    tree = measure.kind == TREE
    heights = len(measure.nodes) if tree else 1
    caps = np.empty(len(measure.priors))
    for value in range(len(caps)):
        caps[value] = least * (measure.masses[0, measure.nodes[0, value]] if tree else measure.priors[value])
    return caps, ((1.0 - bound - _ROUNDING) * heights - (heights - 1)) * least


@inner(forceinline=True)
def _sets(begin, end, values, counts, measure, records, shares):
    """How many records of the class each set has, and its share of the table: the values on their own, or those below
    each node of a hierarchy, level by level. Sets without a record are left out. Returns how many sets there are."""
    used = 0
    if measure.kind == EQUAL:
        for entry in range(begin, end):
            records[used], shares[used] = counts[entry], measure.priors[values[entry]]
            used += 1
        return used
    for level in range(len(measure.nodes)):
        before, own = measure.nodes[level, values[begin]], 0
        for entry in range(begin, end):
            node = measure.nodes[level, values[entry]]
            if node != before:
                records[used], shares[used] = own, measure.masses[level, before]
                used += 1
                before, own = node, 0
            own += counts[entry]
        records[used], shares[used] = own, measure.masses[level, before]
        used += 1
    return used


@inner(forceinline=True)
def _few(records, shares, used, staying):
    """The records of the sets that have too few for their share of `staying` records, and the shares of the others."""
    fixed, free = 0.0, 0.0
    for at in range(used):
        few = records[at] < staying * shares[at]
        fixed += records[at] if few else 0.0
        free += 0.0 if few else shares[at]
    return fixed, free


@inner
def _passed(cumulated, first, last, share):
    """The first place from `first` to `last` whose cumulated share is above a share."""
    while first < last:
        middle = (first + last) // 2
        if cumulated[middle] > share:
            last = middle
        else:
            first = middle + 1
    return first


@inner
def _first_and_last(begin, end, values, counts, ranks, cumulated, sums, staying):
    """The same of the sets of the first ranks and of those of the last ranks.

    Between two values that the class has, its own cumulated count is constant and the table's share rises.
    """
    fixed, free = 0.0, 0.0
    steps = len(cumulated) - 1
    size = 0
    for entry in range(begin, end):
        size += counts[entry]
    own, first = 0, 0
    for entry in range(begin, end + 1):
        last = ranks[values[entry]] if entry < end else steps
        few = _passed(cumulated, first, last, own / staying)
        fixed += own * (last - few)
        free += sums[few] - sums[first]
        many = _passed(cumulated, first, last, 1.0 - (size - own) / staying)
        fixed += (size - own) * (many - first)
        free += (last - many) - (sums[last] - sums[many])
        first = last
        if entry < end:
            own += counts[entry]
    return fixed, free


@inner(forceinline=True)
def _by_shares(begin, end, size, values, counts, measure, bound, least, records, shares):
    """How many records of a class of `size` can stay within a distance: all of them unless the class is surely farther
    away, and 0 when they are fewer than `least`."""
    ordered = measure.kind == ORDERED
    heights, used = 1, 0
    if ordered:
        heights = measure.masses.shape[1] - 1
    elif measure.kind == TREE:
        heights = len(measure.nodes)
    # A little less, so that rounding never says that fewer can stay than do.
    needed = (1.0 - bound - _ROUNDING) * heights
    staying = float(min(least, size))
    if not ordered:
        used = _sets(begin, end, values, counts, measure, records, shares)
    for again in range(_ROUNDS):
        if ordered:
            fixed, free = _first_and_last(
                begin, end, values, counts, measure.nodes[0], measure.masses[0], measure.masses[1], staying
            )
        else:
            fixed, free = _few(records, shares, used, staying)
        enough = fixed + staying * free >= needed * staying
        if again == 0:
            if not enough:
                return 0
            staying = float(size)
            continue
        if enough and again == 1:
            return size
        if enough:
            break
        before, staying = staying, min(fixed / (needed - free), staying)
        if before - staying < _NEAR:
            break
    return min(int(staying * (1.0 + _ROUNDING) + 1e-6), size - 1)


@inner
def _keeps(ascending, used, level, kind, number, bound):
    """Whether counts cut off at a level keep the bound."""
    if kind == RECURSIVE:
        tail = 0
        for place in range(used - int(bound) + 1):
            tail += min(ascending[place], level)
        return tail > 0 and level / tail < number
    size, weighed = 0, 0.0
    for place in range(used):
        count = min(ascending[place], level)
        size += count
        weighed += count * np.log(count)
    if kind == FREQUENCY:
        return size >= bound * level
    return np.log(size) - weighed / size >= np.log(bound) - _ROUNDING


@inner
def _by_water_level(ascending, used, kind, number, bound):
    """How many records of a class can stay when its counts are cut off, where the whole class breaks the bound."""
    low, high = 0, ascending[used - 1]
    while high - low > 1:
        middle = (low + high) // 2
        if _keeps(ascending, used, middle, kind, number, bound):
            low = middle
        else:
            high = middle
    staying = 0
    if kind == ENTROPY and low > 0:
        # The best choice need not be cut off at a whole number: all of them have fewer records than the next one.
        for place in range(used):
            staying += min(ascending[place], high)
        return staying - 1
    for place in range(used):
        staying += min(ascending[place], low)
    return staying


@kernel
def fewest(measure, bound):
    """How many records every class has that keeps the bound: with fewer it has too few values.

    Within a distance `t` of the table, the sets that a class has records in hold a share `1 - t` of the table or more;
    `n` records are in `n` sets at most, and at best in the largest ones.
    """
    kind = measure.kind
    if kind in (DISTINCT, ENTROPY, FREQUENCY, RECURSIVE):
        return int(np.ceil(bound - _ROUNDING))
    if kind != EQUAL and kind != TREE:
        return 1
    heights = len(measure.nodes) if kind == TREE else 1
    width = measure.masses.shape[1] if kind == TREE else len(measure.priors)
    largest = np.zeros(width)
    for level in range(heights):
        shares = np.sort(measure.masses[level] if kind == TREE else measure.priors)
        for place in range(width):
            largest[place] += shares[width - 1 - place]
    needed, records = (1.0 - bound - _ROUNDING) * heights, 0
    while records < width and needed > 0:
        needed -= largest[records]
        records += 1
    return max(records, 1)


@inner
def _within(starts, values, counts, measure, bound, least):
    """What `judged` says, of distances: levels are asked for only where the shares do not tell that they are too
    high."""
    classes = len(starts) - 1
    holds = np.zeros(classes, np.bool_)
    keepable = np.zeros(classes, np.int64)
    widest = 0
    for owner in range(classes):
        widest = max(widest, starts[owner + 1] - starts[owner])
    caps, hurdle = _hurdle(measure, bound, least)
    room = widest * (len(measure.nodes) if measure.kind == TREE else 1)
    records, shares = np.empty(room), np.empty(room)
    sizes, levels, scratch = np.empty(1, np.int64), np.empty(1), np.empty(widest, np.int64)
    for owner in range(classes):
        begin, end = starts[owner], starts[owner + 1]
        size, capped = 0, 0.0
        for entry in range(begin, end):
            size += counts[entry]
            capped += min(float(counts[entry]), caps[values[entry]])
        # Most classes cannot even keep the fewest records that a class must have.
        if capped < hurdle and size >= least:
            continue
        most = _by_shares(begin, end, size, values, counts, measure, bound, least, records, shares)
        if most == size:
            sizes[0], levels[0] = size, 0.0
            fill(starts[owner : owner + 2], values, counts, sizes, measure, scratch, levels)
            holds[owner] = levels[0] <= bound
            most -= not holds[owner]
        keepable[owner] = most if most >= least else 0
    return holds, keepable


@kernel
def judged(starts, values, counts, measure, bound, least):
    """For each class whether its level keeps the bound, and how many of its records can be published at most, however
    it is split, in classes of `least` records or more: all of them when it does."""
    kind = measure.kind
    if kind in (EQUAL, TREE, ORDERED):
        return _within(starts, values, counts, measure, bound, least)
    levels = by_class(starts, values, counts, measure)
    holds = levels >= bound
    keepable = np.zeros(len(levels), np.int64)
    widest = 0
    for owner in range(len(levels)):
        widest = max(widest, starts[owner + 1] - starts[owner])
    ascending = np.empty(widest, np.int64)
    for owner in range(len(levels)):
        begin, end = starts[owner], starts[owner + 1]
        most = 0
        for entry in range(begin, end):
            most += counts[entry]
        if not holds[owner]:
            size, most = most, 0
            if kind in (ENTROPY, FREQUENCY, RECURSIVE):
                if end - begin >= bound:
                    for entry in range(begin, end):
                        ascending[entry - begin] = counts[entry]
                    put_in_order(ascending, 0, end - begin)
                    most = _by_water_level(ascending, end - begin, kind, measure.number, bound)
            elif kind != DISTINCT:
                most = size
            most = min(most, size - 1)
        keepable[owner] = most if most >= least else 0
    return holds, keepable
