"""Earth Mover's Distance between the sensitive values of each class and those of the whole table, in closed form.

Both look only at the values that a class has, so that a class costs the same however many values the table has.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ordered(starts, ranks, shares, priors):
    """With neighbouring ranks at distance 1/(m - 1), `m` the number of ranks: the mean absolute difference of the
    cumulated shares.

    Between two values that a class has, its own cumulated share is constant and the table's rises: a search finds
    where it passes, and prefix sums give what lies on either side.
    """
    distances = np.zeros(len(starts) - 1)
    steps = len(priors) - 1
    if steps < 1:
        return distances
    cumulated = np.cumsum(priors)[:steps]
    sums = np.zeros(steps + 1)
    sums[1:] = np.cumsum(cumulated)
    for owner in range(len(distances)):
        own, moved = 0.0, 0.0
        first = 0
        for entry in range(starts[owner], starts[owner + 1] + 1):
            last = ranks[entry] if entry < starts[owner + 1] else steps
            passed = first + np.searchsorted(cumulated[first:last], own)
            moved += own * (passed - first) - (sums[passed] - sums[first])
            moved += sums[last] - sums[passed] - own * (last - passed)
            first = last
            if entry < starts[owner + 1]:
                own += shares[entry]
        if starts[owner] < starts[owner + 1]:
            distances[owner] = moved / steps
    return distances


@njit(cache=True, nogil=True)
def hierarchical(starts, values, shares, priors, codes):
    """With two leaves as far apart as the level of their closest common ancestor is high: the mean over the levels
    below the top of half the sum of the differences there.

    At an inner node, what its children have too much fills what they have too little; what is moved at the nodes
    of a level is by how much the surplus of the level below exceeds the surplus of that level, and the sum of those
    differences, each times its level, telescopes. `codes[j]` is the node of each leaf at level `j`.
    """
    height = len(codes) - 1
    masses = np.zeros((height, len(priors)))
    for level in range(height):
        for leaf in range(len(priors)):
            masses[level, codes[level, leaf]] += priors[leaf]
    distances = np.zeros(len(starts) - 1)
    for owner in range(len(distances)):
        surplus = 0.0
        for level in range(height):
            own = 0.0
            for entry in range(starts[owner], starts[owner + 1]):
                own += shares[entry]
                node = codes[level, values[entry]]
                if entry + 1 == starts[owner + 1] or codes[level, values[entry + 1]] != node:
                    surplus += max(own - masses[level, node], 0.0)
                    own = 0.0
        distances[owner] = surplus / height
    return distances
