"""Rows of a chain, one column further: what large populations are counted with."""

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def further(numbers, weights, codes, factors, nexts, size):
    """The rows with their numbers on the next level, of which there are `size`. Each row counts what the factor of its
    code leaves of it; those of which nothing is left go. Equal numbers become one, in ascending order, unless there
    are so many numbers that it is not worth it; whether they did is told too."""
    kept = 0
    for row in range(len(numbers)):
        if factors[codes[numbers[row]]] > 0:
            kept += 1
    if size <= 4 * kept:
        totals = np.zeros(size, np.float64)
        for row in range(len(numbers)):
            factor = factors[codes[numbers[row]]]
            if factor > 0:
                totals[nexts[numbers[row]]] += weights[row] * factor
        kept = 0
        for number in range(size):
            if totals[number] != 0:
                kept += 1
        found, left = np.empty(kept, np.int32), np.empty(kept, np.float64)
        kept = 0
        for number in range(size):
            if totals[number] != 0:
                found[kept], left[kept] = number, totals[number]
                kept += 1
        return found, left, True
    found, left = np.empty(kept, np.int32), np.empty(kept, np.float64)
    kept = 0
    for row in range(len(numbers)):
        factor = factors[codes[numbers[row]]]
        if factor > 0:
            found[kept], left[kept] = nexts[numbers[row]], weights[row] * factor
            kept += 1
    return found, left, False
