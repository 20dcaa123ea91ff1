"""Least and greatest code of each class."""

import numpy as np

from shoal.kernels.compilation import kernel

_HIGHEST = 2**31 - 1


@kernel
def extremes(index, column, classes):
    """For one attribute: the least and the greatest code in each class; rows with a negative class do not count."""
    low = np.empty(classes, np.int32)
    high = np.empty(classes, np.int32)
    for owner in range(classes):
        low[owner] = _HIGHEST
        high[owner] = -1
    for row in range(len(index)):
        owner = index[row]
        if owner >= 0:
            code = column[row]
            if code < low[owner]:
                low[owner] = code
            if code > high[owner]:
                high[owner] = code
    return low, high
