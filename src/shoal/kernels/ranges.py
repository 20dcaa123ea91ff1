"""Least and greatest code of each class."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def extremes(index, column, classes):
    """For one attribute: the least and the greatest code in each class; rows with a negative class do not count."""
    low = np.full(classes, np.iinfo(np.int32).max, np.int32)
    high = np.full(classes, -1, np.int32)
    for row in range(len(index)):
        owner = index[row]
        if owner >= 0:
            low[owner] = min(low[owner], column[row])
            high[owner] = max(high[owner], column[row])
    return low, high
