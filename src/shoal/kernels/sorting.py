"""A stable order of values. It compiles in a fraction of the time that the library's own sorts take."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def order_of(values):
    """The places of values in ascending order; equal ones stay in the order in which they stand."""
    count = len(values)
    order = np.empty(count, np.int64)
    spare = np.empty(count, np.int64)
    for place in range(count):
        order[place] = place
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle = begin + width
            if middle > count:
                middle = count
            end = begin + 2 * width
            if end > count:
                end = count
            left, right = begin, middle
            for place in range(begin, end):
                if left < middle and (right == end or not values[order[right]] < values[order[left]]):
                    spare[place] = order[left]
                    left += 1
                else:
                    spare[place] = order[right]
                    right += 1
        order, spare = spare, order
        width *= 2
    return order
