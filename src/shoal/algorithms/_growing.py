"""Greedy k-member growth of clusters, as far as k-member and two-phase clustering share it."""

from __future__ import annotations

from shoal.algorithms._records import Records, portions
from shoal.core.grouping import Codes
from shoal.core.run import Run


def grown(records: Records, start: int, run: Run, *, relaxed: bool = False) -> tuple[Codes, int]:
    """The cluster of each record, -1 for those that are too few for another one, and how many clusters there are.

    `start` is the distinct tuple that the first cluster begins far from; `relaxed` ones may grow beyond the least size.
    """
    from shoal.kernels.members import grow, seeded

    growth = seeded(records.counts, records.index(records.points, run), start)
    for _, end in portions(len(records), run, "growing clusters"):
        grow(
            records.points, records.counts, growth, records.costs, records.policy.least, relaxed, len(records) - end,
            run.flag,
        )  # fmt: skip
    return growth.owners, int(growth.clusters[0])
