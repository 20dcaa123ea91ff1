"""Linkage by distance: how often the nearest of the original records is a masked record's own."""

from shoal.kernels.compilation import kernel
from shoal.kernels.sorting import first_from
from shoal.kernels.squares import apart

SAME = 1e-12
"""How much farther, as a share, a record may be and still count as equally near."""


@kernel
def own_is_nearest(before, after, order, along, where, begin, end, chances, flag):
    """For the records from `begin` to `end`, the chance that a random one of the nearest originals is their own.

    `along` has the originals' places along one direction, lowest first, whose records `order` names, and `where` those
    of the masked records: no two records are nearer than their places, so the search ends where these are too far.
    """
    count = len(before)
    for record in range(begin, end):
        if flag[0]:
            return
        own = apart(before[record], after[record])
        middle = first_from(where[record], along, 0, count)
        ties, nearest = 0, True
        for step in (1, -1):
            place = middle if step == 1 else middle - 1
            while nearest and 0 <= place < count and (along[place] - where[record]) ** 2 <= own * (1 + SAME) + SAME:
                here = apart(before[order[place]], after[record])
                if order[place] == record:
                    ties += 1
                elif here < own * (1 - SAME) - SAME:
                    nearest = False
                elif here <= own * (1 + SAME) + SAME:
                    ties += 1
                place += step
        chances[record] = 1.0 / max(ties, 1) if nearest else 0.0
