"""Linkage by distance: how often the nearest of the original records is a masked record's own."""

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.point_tree import ties
from shoal.kernels.squares import apart

SAME = 1e-12
"""How much farther, as a share, a record may be and still count as equally near."""


@kernel
def own_is_nearest(tree, before, after, begin, end, chances, flag):
    """For the records from `begin` to `end`, the chance that a random one of the nearest originals, of which there is a
    tree, is their own."""
    stack = np.empty(len(tree.left) + 1, np.int64)
    for record in range(begin, end):
        if flag[0]:
            return
        own = apart(before[record], after[record])
        count = ties(tree, after[record], own * (1 - SAME) - SAME, own * (1 + SAME) + SAME, stack)
        chances[record] = 1.0 / max(count, 1) if count >= 0 else 0.0
