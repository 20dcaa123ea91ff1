"""Earth Mover's Distance between the sensitive values of each class and those of the whole table, in closed form."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ordered(starts, ranks, shares, priors):
    """With neighbouring ranks at distance 1/(m - 1), `m` the number of ranks: the mean of the absolute surplus."""
    distances = np.zeros(len(starts) - 1)
    surplus = np.empty(len(priors))
    for owner in range(len(distances)):
        surplus[:] = -priors
        for entry in range(starts[owner], starts[owner + 1]):
            surplus[ranks[entry]] += shares[entry]
        carried = 0.0
        moved = 0.0
        for rank in range(len(priors) - 1):
            carried += surplus[rank]
            moved += abs(carried)
        if len(priors) > 1 and starts[owner] < starts[owner + 1]:
            distances[owner] = moved / (len(priors) - 1)
    return distances


@njit(cache=True, nogil=True)
def hierarchical(starts, values, shares, priors, codes):
    """With two leaves as far apart as the level of their closest common ancestor is high.

    At every inner node what its children have too much fills what they have too little; the rest goes up.
    `codes[j]` is the node of each leaf at level `j`.
    """
    height = len(codes) - 1
    leaves = len(priors)
    distances = np.zeros(len(starts) - 1)
    surplus = np.empty(leaves)
    gained = np.empty(leaves)
    lacking = np.empty(leaves)
    firsts = np.empty((height + 1, leaves), np.int64)
    nodes = np.empty(height + 1, np.int64)
    for level in range(height + 1):
        nodes[level] = 0
        for leaf in range(leaves):
            if leaf == 0 or codes[level, leaf] != codes[level, leaf - 1]:
                firsts[level, nodes[level]] = leaf
                nodes[level] += 1
    for owner in range(len(distances)):
        if starts[owner] == starts[owner + 1]:
            continue
        surplus[:] = -priors
        for entry in range(starts[owner], starts[owner + 1]):
            surplus[values[entry]] += shares[entry]
        moved = 0.0
        for level in range(1, height + 1):
            gained[: nodes[level]] = 0.0
            lacking[: nodes[level]] = 0.0
            for child in range(nodes[level - 1]):
                parent = codes[level, firsts[level - 1, child]]
                if surplus[child] > 0:
                    gained[parent] += surplus[child]
                else:
                    lacking[parent] -= surplus[child]
            for node in range(nodes[level]):
                moved += min(gained[node], lacking[node]) * level / height
                surplus[node] = gained[node] - lacking[node]
        distances[owner] = moved
    return distances
