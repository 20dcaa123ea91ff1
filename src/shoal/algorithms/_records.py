"""Records: what every clustering of a table works on, and how a clustering becomes a recoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._effort import is_judged
from shoal.core.costs import Costs, loss_costs
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run

BUCKET = 12
"""Points in the lowest nodes of the index; more make it flatter, fewer make it finer."""

PORTIONS = 100
"""How often a long step tells how far it is, unless the portions would be too small."""

LEAST_PORTION = 512
"""Things in a portion at least; fewer take less time than starting threads does."""

SLICES = 4
"""Slices a thread: some take longer than others, and no thread waits long for the last one."""


def in_slices(work: Callable[[int, int], Any], first: int, last: int, few: int = LEAST_PORTION) -> list[Any]:
    """What work on slices of the things `first:last` gives, in as many threads as there are, or in one where there are
    few; what a slice does must not depend on where it begins."""
    from shoal.kernels import threads

    if last - first < few:
        return [work(first, last)]
    parts = SLICES * threads.count()
    edges = [first + (last - first) * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(threads.count()) as pool:
        return list(pool.map(work, edges[:-1], edges[1:]))


def in_portions(work: Callable[[int, int], Any], count: int, run: Run, doing: str) -> None:
    """Work on the portions of so many things, which as many threads as there are take one after the other; what a
    portion does must not depend on where it begins."""
    from shoal.kernels import threads

    if count < 2 * LEAST_PORTION:
        work(0, count)
        run.report(1.0, doing)
        return
    with ThreadPoolExecutor(threads.count()) as pool:
        pieces = [pool.submit(work, *edges) for edges in _edges(count)]
        try:
            for done, piece in enumerate(pieces, 1):
                piece.result()
                run.report(done / len(pieces), doing)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def portions(count: int, run: Run, doing: str) -> Iterator[tuple[int, int]]:
    """Slices of so many things, one after the other; the run is told after each, and may end the work there."""
    edges = _edges(count)
    for done, portion in enumerate(edges, 1):
        yield portion
        run.report(done / len(edges), doing)


def _edges(count: int) -> list[tuple[int, int]]:
    """Where the portions of so many things begin and end."""
    parts = max(1, min(PORTIONS, count // LEAST_PORTION))
    return [(count * part // parts, count * (part + 1) // parts) for part in range(parts)]


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a table as a plan by record orders them: by quasi-identifier tuple, then by their keyed hash.

    `points` holds the distinct tuples, one a row, `counts` how many records each has, `tuples` the tuple of each
    record, and `costs` what ranges of leaves cost. A clustering gives every record the number of its cluster; numbers
    have no gaps.
    """

    dataset: Dataset
    policy: Policy
    outputs: tuple[str, ...]
    points: Codes
    counts: Counts
    tuples: Codes
    costs: Costs

    @classmethod
    def of(cls, dataset: Dataset, policy: Policy, outputs: tuple[str, ...]) -> Records:
        """The records of a dataset; `outputs` says of each quasi-identifier how it is published."""
        summary = dataset.summary
        tuples = np.repeat(np.arange(len(summary), dtype=np.int32), summary.sizes)
        costs = loss_costs(summary.hierarchies, dataset.extent, [output != "hierarchy" for output in outputs])
        counts = np.require(summary.sizes, requirements=["C", "W"])  # as kernels are compiled for it
        return cls(dataset, policy, outputs, np.ascontiguousarray(summary.keys.T), counts, tuples, costs)

    def some(self, members: NDArray[np.int64]) -> Records:
        """Some of the records, in their order; ranges cost what they cost among all."""
        tuples, places, counts = np.unique(self.tuples[members], return_inverse=True, return_counts=True)
        return replace(self, points=self.points[tuples], counts=counts, tuples=places.astype(np.int32))

    def __len__(self) -> int:
        return len(self.tuples)

    def index(self, points: Codes, run: Run) -> Any:
        """A tree of boxes over any points."""
        from shoal.kernels.index import build

        boxes = build(points, self.costs, BUCKET, run.flag)
        run.check()
        return boxes

    def nearest(self, count: int, run: Run) -> Codes:
        """For each tuple the so many that are nearest to it, nearest first, -1 where there are no more; found once."""
        if count in self._nearest:
            return self._nearest[count]
        from shoal.kernels.index import nearest

        tuples = len(self.points)
        neighbours = np.full((tuples, min(count, tuples)), -1, dtype=np.int32)
        distances = np.empty(neighbours.shape)
        boxes = self.index(self.points, run)
        placed = self.points[boxes.order]

        def look(begin: int, end: int) -> None:
            nearest(placed, boxes, self.costs, neighbours, distances, begin, end, run.flag)

        in_portions(look, tuples, run, "finding neighbours")
        self._nearest[count] = neighbours
        return neighbours

    @cached_property
    def _nearest(self) -> dict[int, Codes]:
        return {}

    @cached_property
    def starts(self) -> Counts:
        """The first record of each tuple, and the number of records at the end."""
        return np.append(0, np.cumsum(self.counts)).astype(np.int64)

    @cached_property
    def judged(self) -> bool:
        """Whether some model looks at more than the size of a class, as all do where people have several records."""
        return is_judged(self.dataset, self.policy)

    def holds(self, owners: Codes) -> NDArray[np.bool_]:
        """For each cluster, whether it satisfies the policy; records with a negative cluster do not count."""
        clusters = int(owners.max()) + 1 if len(owners) else 0
        if not self.judged:
            sizes = np.bincount(owners[owners >= 0], minlength=clusters)
            return np.asarray(sizes >= self.policy.least)
        return self.policy.holds(self.dataset.partitioned(owners, clusters, seed=self.policy.seed))

    @property
    def unions_hold(self) -> bool:
        """Whether the union of clusters that satisfy the policy always does."""
        return self.policy.unions_hold(people=self.dataset.schema.person is not None)

    def as_published(self, owners: Codes) -> Codes:
        """The clustering as a reader sees it: clusters that are published alike are one."""
        plan = self.recoding(owners, {}).plan
        assert plan is not None
        shown = zip(*(book.labels[cells] for book, cells in zip(plan.codebooks, plan.cells, strict=True)), strict=True)
        numbers: dict[Any, int] = {}
        joined = np.array([numbers.setdefault(labels, len(numbers)) for labels in shown], np.int32)
        return np.where(owners >= 0, joined[owners], np.int32(-1)).astype(np.int32)

    def ranges(self, owners: Codes) -> tuple[Codes, Codes, Counts]:
        """The least and greatest codes of each cluster, one row each, and its size."""
        from shoal.kernels.ranges import extremes

        clusters = int(owners.max()) + 1
        ends = [extremes(owners, np.ascontiguousarray(column[self.tuples]), clusters) for column in self.points.T]
        low, high = (np.ascontiguousarray(np.stack(side, axis=1)) for side in zip(*ends, strict=True))
        return low, high, np.bincount(owners[owners >= 0], minlength=clusters).astype(np.int64)

    def recoding(self, owners: Codes, facts: dict[str, Any]) -> Recoding:
        """The recoding of a clustering: over tuples where equal records share a cluster, else by record."""
        firsts = owners[self.starts[:-1]]
        whole = bool(np.all(np.repeat(firsts, self.counts) == owners))
        return Recoding.of_partition(self.dataset.summary, firsts if whole else owners, self.outputs, facts=facts)


def numbered(owners: NDArray[Any]) -> Codes:
    """Cluster numbers without gaps, in the order of their first records; negative ones stay -1."""
    inside = owners >= 0
    _, firsts, inverse = np.unique(owners[inside], return_index=True, return_inverse=True)
    ranks = np.empty(len(firsts), dtype=np.int32)
    ranks[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    numbers = np.full(len(owners), -1, dtype=np.int32)
    numbers[inside] = ranks[inverse]
    return numbers
