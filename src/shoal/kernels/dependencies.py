"""How far columns depend on a partition of the rows; partitions are those of `kernels.partitions`."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def violations(order, starts, columns, asked, limit, tally, found, pairs):
    """For each column that is `asked` about, how many rows have to go so that it is constant in every class; as soon as
    that is more than `limit`, `limit + 1`, and two rows of a class that differ go to `pairs`. `tally` is zero and
    longer than the greatest code."""
    for which in range(len(asked)):
        if not asked[which]:
            continue
        column, broken = columns[which], 0
        for owner in range(len(starts) - 1):
            begin, end = starts[owner], starts[owner + 1]
            most = 0
            for place in range(begin, end):
                code = column[order[place]]
                tally[code] += 1
                most = max(most, tally[code])
            for place in range(begin, end):
                tally[column[order[place]]] = 0
            broken += end - begin - most
            if broken > limit:
                broken = limit + 1
                other = begin
                while column[order[other]] == column[order[begin]]:
                    other += 1
                pairs[which, 0], pairs[which, 1] = order[begin], order[other]
                break
        found[which] = broken


@njit(cache=True, nogil=True)
def varying(order, starts, column, owner_of, varies, shared):
    """Marks, by the code `owner_of` of their rows, the values some of whose classes are not constant in a column, and
    those that have a class of several rows at all."""
    for owner in range(len(starts) - 1):
        first = order[starts[owner]]
        value = owner_of[first]
        shared[value] = True
        if varies[value]:
            continue
        for place in range(starts[owner] + 1, starts[owner + 1]):
            if column[order[place]] != column[first]:
                varies[value] = True
                break


@njit(cache=True, nogil=True)
def agreements(columns, left, right):
    """For each pair of rows, the set of columns (a bit each) in which they agree."""
    masks = np.zeros(len(left), np.uint64)
    for position in range(len(columns)):
        bit = np.uint64(1) << np.uint64(position)
        column = columns[position]
        for pair in range(len(left)):
            if column[left[pair]] == column[right[pair]]:
                masks[pair] |= bit
    return masks
