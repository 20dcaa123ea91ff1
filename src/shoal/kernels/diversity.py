"""Counts of the sensitive values of each class: sums over the rarer ones, and ties."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def tails(starts, counts, rank):
    """For each class, the sum of its counts but for the `rank - 1` greatest ones."""
    classes = len(starts) - 1
    found = np.zeros(classes, np.int64)
    spared = min(rank - 1, len(counts))
    top = np.empty(max(spared, 1), np.int64)
    for owner in range(classes):
        kept = 0
        tail = 0
        for entry in range(starts[owner], starts[owner + 1]):
            count = counts[entry]
            if kept == spared:
                if kept == 0 or count <= top[kept - 1]:
                    tail += count
                    continue
                tail += top[kept - 1]
                kept -= 1
            place = kept
            while place > 0 and top[place - 1] < count:
                top[place] = top[place - 1]
                place -= 1
            top[place] = count
            kept += 1
        found[owner] = tail
    return found


@njit(cache=True, nogil=True)
def ties(starts, counts):
    """For each class, the fewest of its values that have one count in common."""
    classes = len(starts) - 1
    found = np.zeros(classes, np.int64)
    for owner in range(classes):
        ordered = np.sort(counts[starts[owner] : starts[owner + 1]])
        fewest = len(ordered)
        run = 0
        for place in range(len(ordered)):
            run += 1
            if place + 1 == len(ordered) or ordered[place + 1] != ordered[place]:
                fewest = min(fewest, run)
                run = 0
        found[owner] = fewest
    return found
