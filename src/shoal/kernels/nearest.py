"""Groups of records and those nearest to them, by the squares of their differences in numbers."""

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.sorting import value_of_rank


@inner
def _summed(terms, begin, count, lanes):
    """A sum as numpy takes it, to the last bit: in eight lanes, and of more than 128 terms by halves."""
    if count > 128:
        half = count // 2 - count // 2 % 8
        return _summed(terms, begin, half, lanes) + _summed(terms, begin + half, count - half, lanes)
    done, total = 0, 0.0
    if count >= 8:
        lanes[:] = 0.0
        done = count - count % 8
        for place in range(done):
            lanes[place % 8] += terms[begin + place]
        total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    for place in range(done, count):
        total += terms[begin + place]
    return total


@kernel
def nearest_groups(points, left, k, owners, flag):
    """Makes groups of k as long as so many points are left: the first of them and the k - 1 nearest to it, of equally
    near ones those that stand first. Writes the group of each point to `owners`, where no group is -1.

    `left` has the points in the order in which they begin groups, and is overwritten.
    """
    count, group, columns = len(left), 0, points.shape[1]
    squares, lanes, apart = np.empty(columns), np.zeros(8), np.empty(count)
    while count >= k and not flag[0]:
        for place in range(count):
            for column in range(columns):
                difference = points[left[place], column] - points[left[0], column]
                squares[column] = difference * difference
            here = _summed(squares, 0, columns, lanes)
            apart[place] = here if here == here else np.inf
        farthest = value_of_rank(apart[:count].copy(), k - 1)
        last = k
        for place in range(count):
            last -= apart[place] < farthest
        rest = 0
        for place in range(count):
            if apart[place] < farthest:
                owners[left[place]] = group
            elif apart[place] == farthest and last > 0:
                owners[left[place]] = group
                last -= 1
            else:
                left[rest] = left[place]
                rest += 1
        count, group = rest, group + 1
