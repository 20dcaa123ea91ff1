"""Mondrian (LeFevre, DeWitt and Ramakrishnan, 2006)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._clustering import Numeric, Publish, Rebuildings, Refine, TimeLimit, Work, outputs
from shoal.algorithms._effort import cutting, refining
from shoal.algorithms._merging import infeasible_as_one_class, merged_as_published
from shoal.algorithms._records import LEAST_PORTION, Records
from shoal.algorithms._refinement import ENDLESS, REBUILDINGS, refined
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.costs import width_costs
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, ranges
from shoal.core.parameters import Examples
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import SchemaError


@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Cuts the table again and again along the attribute in which a part is widest, as long as every side
    satisfies the policy.

    Numeric attributes are cut at the value that leaves the most even sides and published as intervals.
    Attributes with a hierarchy fall apart into the children of their node, children that are too small
    staying together, and are published as nodes of the hierarchy. Time grows as n·log(n/k). With `refine` the
    classes are then improved as clusters are, which costs more time than the cutting.

    That a class was not cut further tells that no cut keeps the policy, and so something about its sensitive values.
    With `uncut`, small parts are left whole now and then, drawn by the seed, so that a whole class tells nothing for
    certain.

    Does not protect against more than the models of the policy do, and does not find the least loss: each cut
    is the best one for itself.

    Reference: K. LeFevre, D. DeWitt, R. Ramakrishnan, Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 23, 24], "sex": ["F", "M", "M", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=Mondrian())
        >>> sorted(release.frame["age"])
        ['[21-22]', '[21-22]', '[23-24]', '[23-24]']
    """

    counts_people: ClassVar[bool] = True
    in_blocks: ClassVar[bool] = True
    examples: ClassVar[Examples] = (
        {},
        {"strict": False, "numeric": "mean"},
        {"numeric": "interval", "refine": True},
        {"uncut": 0.3, "numeric": "interval", "publish": ("age=grid:5",)},
    )

    strict: Annotated[bool, Doc("equal records stay together; when relaxed, numeric cuts may part them")] = True
    numeric: Numeric = "given"
    publish: Publish = ()
    refine: Refine = False
    uncut: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("how likely a part of fewer than four times the least size is left whole though it could be cut"),
    ] = 0.0
    time_limit: TimeLimit = 600.0
    rebuildings: Rebuildings = REBUILDINGS
    work: Work = ENDLESS

    @property
    def by_record(self) -> bool:
        return self.refine or not self.strict

    @property
    def seed_protects(self) -> bool:
        return self.uncut > 0

    def effort(self, dataset: Dataset, policy: Policy) -> float:
        refined_effort = refining(dataset, policy, self.rebuildings) if self.refine else 0.0
        return cutting(dataset, policy) + refined_effort

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        summary = dataset.summary
        if not bool(policy.holds(summary.generalize([tree.height for tree in summary.hierarchies])).all()):
            raise infeasible_as_one_class(dataset.records, policy)
        policy.check_apart("Mondrian")
        if len(summary.attributes) > 64:
            raise SchemaError(f"Mondrian takes up to 64 quasi-identifiers; there are {len(summary.attributes)}")
        chosen = outputs(dataset, self.numeric, self.publish)
        intervals = [output != "hierarchy" for output in chosen]
        if self.strict:
            columns, weights = list(summary.keys), summary.sizes.copy()
        else:
            columns = [np.repeat(keys, summary.sizes) for keys in summary.keys]
            weights = np.ones(dataset.records, dtype=np.int64)
        cutter = Cutter(dataset, policy, columns, weights, intervals, relaxed=not self.strict, uncut=self.uncut)
        classes = cutter.run(run.part(between=(0.0, 0.1 if self.refine else 1.0)))
        facts: dict[str, Any] = {"rounds": cutter.rounds}
        if not self.refine and policy.unions_hold(people=dataset.schema.person is not None):
            return Recoding.of_partition(summary, classes, chosen, facts=facts)
        records = Records.of(dataset, policy, chosen)
        owners = classes[records.tuples] if self.strict else classes
        if self.refine:
            watch = run.part(between=(0.1, 1.0))
            owners, facts["refinement"] = refined(
                records, owners, self.time_limit, watch, rebuildings=self.rebuildings, work=self.work
            )
        return records.recoding(merged_as_published(records, owners, run)[0], facts)


Share = Callable[[Callable[[int], None], Iterable[int]], Iterator[None]]
"""What does work with each of some numbers: a pool's `map`, or Python's where there is nothing to share."""

SMALL = 4
"""How many times the least size a part has at most that may be left whole by chance."""


class Cutter:
    """The partitions that can still be cut, and the points in their order."""

    def __init__(
        self, dataset: Dataset, policy: Policy, columns: Sequence[Codes], weights: Counts, intervals: Sequence[bool], *,
        relaxed: bool, uncut: float = 0.0,
    ) -> None:  # fmt: skip
        from shoal.kernels import threads
        from shoal.kernels.mondrian import Moves, Points

        self.dataset, self.policy, self.relaxed, self.uncut = dataset, policy, relaxed, uncut
        self.generator = np.random.default_rng(policy.seed)
        self.threads = threads.count()
        # Where several attributes are equally wide, the one with the fewest values is cut: it gains most by a cut.
        trees = dataset.hierarchies
        ranked = sorted(range(len(trees)), key=lambda place: (trees[place].size, trees[place].column))
        codes = np.ascontiguousarray(np.stack([columns[place] for place in ranked], axis=1))
        count = len(weights)
        self.points = Points(codes, weights, np.arange(count, dtype=np.int32))
        spare = Points(*(np.empty_like(part) for part in self.points))
        self.moves = Moves(spare, np.empty(count, np.int32), np.empty(count, np.int64))
        self.costs = width_costs(
            [trees[place] for place in ranked],
            [dataset.extent[place] for place in ranked],
            [intervals[place] for place in ranked],
        )
        people = dataset.schema.person is not None
        self.judges = tuple(model for model in policy.models if people or not model.by_size)
        self.rounds = 0

    def run(self, run: Run) -> Codes:
        """The class of each point."""
        count = len(self.points.weights)
        begins, ends = np.array([0], np.int64), np.array([count], np.int64)
        tried = np.zeros(1, np.uint64)
        final: list[NDArray[np.int64]] = []
        with ThreadPoolExecutor(self.threads) as pool:
            share: Share = map if count < LEAST_PORTION else pool.map
            while len(begins):
                self.rounds += 1
                spared = self._spared(begins, ends, tried)
                final.append(begins[spared])
                begins, ends, tried = begins[~spared], ends[~spared], tried[~spared]
                if not len(begins):
                    break
                counts, chosen = self._cut(share, begins, ends, tried, run)
                whole = counts == 0
                final.append(begins[whole])
                begins, ends, tried, counts, chosen = (part[~whole] for part in (begins, ends, tried, counts, chosen))
                side_begins, side_ends, parents = _sides(begins, counts, self.moves.bounds)
                refused = self._refused(side_begins, side_ends, parents, len(begins))
                accepted = ~refused[parents]
                tried[refused] |= np.uint64(1) << chosen[refused].astype(np.uint64)
                begins = np.concatenate([side_begins[accepted], begins[refused]])
                ends = np.concatenate([side_ends[accepted], ends[refused]])
                tried = np.concatenate([np.zeros(int(accepted.sum()), np.uint64), tried[refused]])
                self._report(ends - begins, run)
        return self._classes(np.concatenate(final))

    def _classes(self, starts: Counts) -> Codes:
        """The class of each point when these are the places where classes begin."""
        count = len(self.points.weights)
        owners = np.zeros(count, np.int32)
        owners[starts[starts > 0]] = 1
        classes = np.empty(count, np.int32)
        classes[self.points.identities] = np.cumsum(owners)
        return classes

    def _spared(self, begins: Counts, ends: Counts, tried: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which partitions are left whole: small ones, as often as is said, drawn once for each."""
        if not self.uncut:
            return np.zeros(len(begins), np.bool_)
        weighed = np.append(0, np.cumsum(self.points.weights))
        small = (weighed[ends] - weighed[begins] < SMALL * self.policy.least) & (tried == 0)
        drawn: NDArray[np.bool_] = small & (self.generator.random(len(begins)) < self.uncut)
        return drawn

    def _report(self, sizes: Counts, run: Run) -> None:
        """Points are cut until about the least size is left, in halves if all goes well."""
        count = int(sizes.sum())
        whole = len(self.points.weights)
        steps = np.log2(max(count / max(len(sizes), 1), 2)) / np.log2(max(whole, 2))
        run.report(1 - count / whole * float(steps), "cutting")

    def _cut(
        self, share: Share, begins: Counts, ends: Counts, tried: NDArray[np.uint64], run: Run
    ) -> tuple[Counts, Counts]:
        """One cut of every partition, shared out among the threads by the number of points: how many sides each has,
        and along which attribute."""
        from shoal.kernels.mondrian import CutPartitions, cut

        partitions = CutPartitions(begins, ends, tried, *np.zeros((2, len(begins)), np.int64))
        sizes = np.cumsum(ends - begins)
        parts = min(self.threads, len(begins))
        edges = np.searchsorted(sizes, np.linspace(0, sizes[-1], parts + 1))
        edges[0], edges[-1] = 0, len(begins)

        def work(part: int) -> None:
            some = CutPartitions(*(column[edges[part] : edges[part + 1]] for column in partitions))
            cut(some, self.points, self.moves, self.costs, self.policy.least, self.relaxed, run.flag)

        list(share(work, range(parts)))
        run.check()
        return partitions.counts, partitions.chosen

    def _refused(self, begins: Counts, ends: Counts, parents: Counts, partitions: int) -> NDArray[np.bool_]:
        """Which partitions have a side that breaks a model that looks at more than sizes."""
        refused = np.zeros(partitions, dtype=np.bool_)
        if self.judges and len(begins):
            index = np.full(len(self.points.weights), -1, dtype=np.int32)
            sides = np.repeat(np.arange(len(begins), dtype=np.int32), ends - begins)
            index[self.points.identities[ranges(begins, ends - begins)]] = sides
            refused[parents[self._broken(index, len(begins))]] = True
        return refused

    def _broken(self, index: Codes, count: int) -> NDArray[np.bool_]:
        """Which of so many sides break a model, `index` having the side of each point; negative: none."""
        sides = self.dataset.partitioned(index, count, seed=self.policy.seed)
        broken = np.zeros(count, dtype=np.bool_)
        for model in self.judges:
            broken |= ~model.holds(sides)
        return broken


def _sides(begins: Counts, counts: Counts, bounds: Counts) -> tuple[Counts, Counts, Counts]:
    """Where each side of each partition begins and ends, and the partition that it is a side of."""
    parents = np.repeat(np.arange(len(begins)), counts)
    firsts = np.cumsum(counts) - counts
    ends = bounds[begins[parents] + np.arange(len(parents)) - firsts[parents]]
    starts = np.empty_like(ends)
    starts[1:] = ends[:-1]
    starts[firsts] = begins
    return starts, ends, parents
