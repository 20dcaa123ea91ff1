"""Greedy k-member growth of clusters, as far as k-member and two-phase clustering share it.

The search for the cheapest record takes longer the more records there are. So a table with very many distinct tuples is
cut into blocks, which grow side by side. What no cluster of its block had room for goes to any cluster of the table.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from shoal.algorithms._records import Records, portions
from shoal.core.blocks import Blocks
from shoal.core.grouping import Codes
from shoal.core.run import Run

BLOCK = 1 << 16
"""Distinct tuples in a block at most; a table of up to twice as many is not cut, so that it is solved as published."""


class Grown(NamedTuple):
    """The cluster of each record, -1 for those that are too few for another one; how many clusters there are; and in
    how many blocks they grew."""

    owners: Codes
    clusters: int
    blocks: int

    @property
    def facts(self) -> dict[str, int | bool]:
        """Whether the clusters are those of the method as it was published, or of one that saw a block at a time."""
        return {"exact": True} if self.blocks == 1 else {"exact": False, "blocks": self.blocks}


class Relaxing(NamedTuple):
    """How far clusters grow beyond the least size: the rule, a constant of `kernels.members`, and its factor. Clusters
    grow until they have a `share` of all records; the others are left over."""

    rule: int = 0
    room: float = 1.0
    share: float = 1.0


EXACTLY = Relaxing()


def grown(records: Records, start: int, run: Run, relaxing: Relaxing = EXACTLY) -> Grown:
    """Clusters of the least size, or larger ones where `relaxing` says so.

    `start` is the distinct tuple that the first cluster begins far from. The number of threads changes nothing.
    """
    if len(records.points) <= 2 * BLOCK:
        return _grown(records, start, run, relaxing)
    from shoal.kernels import threads

    blocks = Blocks.cut(records.points, records.costs, BLOCK, run)
    homes = blocks.of(records.points.T)[records.tuples]
    order = np.argsort(homes, kind="stable")
    edges = np.searchsorted(homes[order], np.arange(len(blocks) + 1))
    quiet, done = Run(within=run), iter(range(1, len(blocks) + 1))

    def work(number: int) -> Grown:
        inside = records.some(order[edges[number] : edges[number + 1]])
        growth = _grown(inside, start % len(inside.points), quiet, relaxing)
        run.report(next(done) / len(blocks), "growing clusters")
        return growth

    with ThreadPoolExecutor(threads.count()) as pool:
        parts = list(pool.map(work, range(len(blocks))))
    owners, clusters = np.empty(len(records), np.int32), 0
    for number, part in enumerate(parts):
        owners[order[edges[number] : edges[number + 1]]] = np.where(part.owners < 0, -1, part.owners + clusters)
        clusters += part.clusters
    return Grown(owners, clusters, len(blocks))


def _grown(records: Records, start: int, run: Run, relaxing: Relaxing) -> Grown:
    """The same in one piece."""
    from shoal.kernels.members import grow, seeded

    points, counts, least = records.points, records.counts, records.policy.least
    growth = seeded(points, counts, records.index(points, run), start)
    share, rule = relaxing.share, (relaxing.rule, relaxing.room)
    for _, end in portions(len(records), run, "growing clusters"):
        grow(points, counts, growth, records.costs, least, rule, len(records) - int(share * end), run.flag)
    return Grown(growth.owners, int(growth.clusters[0]), 1)
