"""The adjustment stage of one-pass k-means: makes clusters of any sizes into clusters of at least k."""

from __future__ import annotations

import numpy as np

from shoal.algorithms._records import Records
from shoal.core.grouping import Codes


def adjusted(records: Records, owners: Codes, generator: np.random.Generator) -> Codes:
    """Clusters above k give up the records farthest from their centre; these go, in random order, each to the
    closest cluster below k, and when none is below k, to the closest cluster.

    Centres are taken once before records leave, and move when records join.
    """
    from shoal.kernels import centres as kernel
    from shoal.kernels.index import homes_of, parents_of

    least = records.policy.least
    owners = owners.copy()
    centres = kernel.centre_points(owners, records.tuples, records.points, int(owners.max()) + 1, records.space)
    low, high, _, _, sizes = centres
    kernel.surplus(owners, records.tuples, records.points, low, high, sizes, records.space, least)
    free = generator.permutation(np.flatnonzero(owners < 0))
    tree = records.index(low)
    homes, parents = homes_of(*tree[:4]), parents_of(tree[3])
    kernel.hand_out(free, owners, records.tuples, records.points, centres, tree, homes, parents, records.space, least)
    return owners
