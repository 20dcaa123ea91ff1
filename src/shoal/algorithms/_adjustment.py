"""Records that join clusters with moving centres, and the adjustment stage of one-pass k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._records import Records, portions
from shoal.core.grouping import Codes
from shoal.core.run import Run

ENDLESS = 2**62
"""More records than any cluster can have."""


def gathered(records: Records, owners: Codes, run: Run) -> None:
    """Every record without a cluster joins, in order, the one with the closest centre, which moves at once."""
    from shoal.kernels.centres import centre_points

    centres = centre_points(owners, records.tuples, records.points, int(owners.max()) + 1, records.costs)
    _hand_out(records, np.flatnonzero(owners < 0), owners, centres, ENDLESS, run, "gathering clusters")


def adjusted(records: Records, owners: Codes, generator: np.random.Generator, run: Run) -> Codes:
    """Clusters above k give up the records farthest from their centre; these go, in random order, each to the
    closest cluster below k, and when none is below k, to the closest cluster.

    Centres are taken once before records leave, and move when records join.
    """
    from shoal.kernels import centres as kernel

    least = records.policy.least
    owners = owners.copy()
    centres = kernel.centre_points(owners, records.tuples, records.points, int(owners.max()) + 1, records.costs)
    kernel.surplus(owners, records.tuples, records.points, centres, records.costs, least)
    free = generator.permutation(np.flatnonzero(owners < 0))
    _hand_out(records, free, owners, centres, least, run, "adjusting clusters")
    return owners


def _hand_out(
    records: Records, free: NDArray[np.int64], owners: Codes, centres: Any, least: int, run: Run, doing: str
) -> None:
    from shoal.kernels.centres import gathering, join

    clusters = gathering(centres, records.index(centres.low, run), least)
    for begin, end in portions(len(free), run, doing):
        join(free[begin:end], owners, records.tuples, records.points, clusters, records.costs, least, run.flag)
