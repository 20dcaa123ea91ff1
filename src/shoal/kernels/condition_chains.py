"""Rows of a chain, one column further: what large populations are counted with."""

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def further(numbers, weights, codes, factors, nexts, size):
    """The rows with their numbers on the next level, of which there are `size`. Each row counts what the factor of its
    code leaves of it; those of which nothing is left go. Equal numbers become one, in ascending order, unless there
    are so many numbers that it is not worth it; whether they did is told too."""
    count = 0
    for row in range(len(numbers)):
        if factors[codes[numbers[row]]] > 0:
            count += 1
    if size <= 4 * count:
        totals = np.zeros(size, np.float64)
        for row in range(len(numbers)):
            factor = factors[codes[numbers[row]]]
            if factor > 0:
                totals[nexts[numbers[row]]] += weights[row] * factor
        count = 0
        for number in range(size):
            if totals[number] != 0:
                count += 1
        merged, left = np.empty(count, np.int32), np.empty(count, np.float64)
        count = 0
        for number in range(size):
            if totals[number] != 0:
                merged[count], left[count] = number, totals[number]
                count += 1
        return merged, left, True
    merged, left = np.empty(count, np.int32), np.empty(count, np.float64)
    count = 0
    for row in range(len(numbers)):
        factor = factors[codes[numbers[row]]]
        if factor > 0:
            merged[count], left[count] = nexts[numbers[row]], weights[row] * factor
            count += 1
    return merged, left, False
