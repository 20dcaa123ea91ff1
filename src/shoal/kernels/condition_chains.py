"""Rows of a chain, one column further: what large populations are counted with."""

import numpy as np

from shoal.kernels.compilation import kernel

SMALL = 2048
"""Rows that it is not worth to merge, unless there are hardly more numbers."""


@kernel
def further(numbers, weights, codes, factors, nexts, size):
    """The rows with their numbers on the next level, of which there are `size`. Each row counts what the factor of its
    code leaves of it; those of which nothing is left go. Equal numbers become one, in ascending order, unless there
    are so many numbers that it is not worth it; whether they did is told too."""
    # Hardly a branch: which rows are left is hard to foresee.
    count = 0
    for row in range(len(numbers)):
        count += factors[codes[numbers[row]]] > 0
    if size <= 4 * count or (count > SMALL and size <= 64 * count):
        totals = np.zeros(size, np.float64)
        for row in range(len(numbers)):
            totals[nexts[numbers[row]]] += weights[row] * factors[codes[numbers[row]]]
        most = min(size, count)
        merged, left = np.empty(most + 1, np.int32), np.empty(most + 1, np.float64)
        count = 0
        for number in range(size):
            merged[count], left[count] = number, totals[number]
            count += totals[number] != 0
        return merged[:count], left[:count], True
    merged, left = np.empty(count + 1, np.int32), np.empty(count + 1, np.float64)
    count = 0
    for row in range(len(numbers)):
        factor = factors[codes[numbers[row]]]
        merged[count], left[count] = nexts[numbers[row]], weights[row] * factor
        count += factor > 0
    return merged[:count], left[:count], False


@kernel
def shares_of_groups(numbers, weights, groups, sizes):
    """The share of the records of each group that some rows are; an empty group counts as one of one record."""
    shares = np.zeros(len(sizes), np.float64)
    for row in range(len(numbers)):
        shares[groups[numbers[row]]] += weights[row]
    for group in range(len(sizes)):
        shares[group] /= max(sizes[group], 1.0)
    return shares


@kernel
def histograms_of_groups(factors, starts, leaves, weights, values):
    """How many records have each of `values` leaves, once for each row of `factors`, which say how much of each group
    is left. A group has the rows from its start to that of the next one."""
    counts = np.zeros((values, len(factors)), np.float64)
    left = np.empty(len(factors), np.float64)
    for group in range(len(starts) - 1):
        for each in range(len(factors)):
            left[each] = factors[each, group]
        for row in range(starts[group], starts[group + 1]):
            leaf, weight = leaves[row], weights[row]
            for each in range(len(factors)):
                counts[leaf, each] += weight * left[each]
    return np.ascontiguousarray(counts.T)
