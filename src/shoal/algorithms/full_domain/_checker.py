"""Checking nodes of the lattice: what each one is worth, and what that says about others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._groupings import Grouping, Groupings, Survey
from shoal.algorithms.full_domain._judging import Judge
from shoal.algorithms.full_domain._scoring import Bound, CellScores, scores
from shoal.core.dataset import Dataset
from shoal.core.grouping import Counts
from shoal.core.lattice import Node
from shoal.core.policy import Policy
from shoal.core.run import Run

REMEMBERED = 1 << 23


class Verdict(NamedTuple):
    """What a node of the lattice is worth.

    `suppressed` records break the policy; every specialization of the node leaves out `lost` records or more, `unsure`
    of which may be any. A node that is not feasible may have no score. `base` and `extra` are an objective's that
    looks at classes.
    """

    node: Node
    classes: int
    suppressed: int
    lost: int
    unsure: int
    feasible: bool
    score: float
    base: float = 0.0
    extra: float = 0.0


class Checker:
    """Checks each node once, on the distinct tuples; a run that is cancelled ends at the next check."""

    def __init__(self, dataset: Dataset, policy: Policy, run: Run, weights: Mapping[str, float] | None = None) -> None:
        self.records, self.least, self.watch = dataset.records, policy.least, run
        self.groupings = Groupings(dataset.summary)
        self.judge = Judge(policy, self.groupings)
        self.budget = self.judge.budget
        self.scores = scores(policy.objective, weights or {}, self.groupings)
        self.verdicts: dict[Node, Verdict] = {}
        self.closest: Verdict | None = None
        self._left_out = _LeftOut()

    @property
    def by_cells(self) -> bool:
        """Whether the objective adds up over cells, so that nodes have floors."""
        return isinstance(self.scores, CellScores)

    def check(self, node: Node) -> Verdict:
        """The verdict on a node; a node is checked only once."""
        found = self.verdicts.get(node)
        if found is None:
            self.watch.check()
            found = self._check(node)
            self.verdicts[node] = found
            if self.closest is None or found.suppressed < self.closest.suppressed:
                self.closest = found
        return found

    def _check(self, node: Node) -> Verdict:
        if isinstance(self.scores, CellScores) and self.judge.by_size:
            exact, scale = self.scores.exact, self.scores.scale
            found = self.groupings.surveyed(node, self.least, self.budget, exact, scale)
            if found is not None:
                return self._by_size(node, found)
        return self._judged(node)

    def _by_size(self, node: Node, found: Survey) -> Verdict:
        """The verdict when only sizes count and the objective adds up over cells."""
        feasible = found.records <= self.budget
        if feasible and found.records:
            self._left_out.keep(node, found.left_out)
        return Verdict(node, found.classes - found.small, found.records, found.records, 0, feasible, found.score)

    def _judged(self, node: Node) -> Verdict:
        found = self.groupings.grouped(node)
        sizes = found.sizes
        broken, sure, unsure = self.judge.judge(found)
        suppressed = int(sizes[broken].sum())
        lost = int(sizes[sure].sum()) + unsure
        feasible = suppressed <= self.budget
        base = extra = 0.0
        score = float("nan")
        if not isinstance(self.scores, CellScores):
            base, extra = self.scores.base(sizes), self.scores.extra(sizes[sure])
            score = self.scores.score(base + (extra if broken is sure else self.scores.extra(sizes[broken])))
        elif lost <= self.budget:
            left_out = self._counted(node, found, sure, self.scores)
            if feasible:
                at_once = left_out if broken is sure else self.groupings.counted(found, broken)
                score = self.scores.score(node, at_once)
        kept = len(sizes) - int(broken.sum())
        return Verdict(node, kept, suppressed, lost, unsure, feasible, score, base, extra)

    def _counted(self, node: Node, found: Grouping, sure: NDArray[np.bool_], cells: CellScores) -> Counts:
        """The leaves of the records that are left out in every specialization of a node."""
        return self._left_out.keep(node, self.groupings.counted(found, sure)) if sure.any() else cells.nothing

    def bound(self, low: Node, high: Node) -> Bound:
        """A score that no node from `low` to `high` can beat; the box must not have lost more than the budget."""
        verdict = self.check(high)
        if not isinstance(self.scores, CellScores):
            return self.scores.bound(low, high, self.check(low).base + verdict.extra)
        left_out = self._left_out.get(high)
        if left_out is None:
            left_out = self.scores.nothing
            if verdict.lost > verdict.unsure:
                found = self.groupings.grouped(high)
                left_out = self._counted(high, found, self.judge.judge(found).sure, self.scores)
        return self.scores.bound(low, high, left_out, verdict.unsure)

    def floor(self, node: Node) -> float:
        """The least that a node and its generalizations can score, without a look at the classes."""
        return self.scores.floor(node) if isinstance(self.scores, CellScores) else float("-inf")

    def suppression(self, node: Node) -> NDArray[np.bool_]:
        """Which distinct tuples a release at this node leaves out."""
        found = self.groupings.grouped(node)
        return found.spread(self.judge.judge(found).broken)


class _LeftOut:
    """The leaves of the records that nodes leave out: kept as long as there is room, for they can be had again."""

    def __init__(self) -> None:
        self.counts: OrderedDict[Node, Counts] = OrderedDict()

    def keep(self, node: Node, counts: Counts) -> Counts:
        self.counts[node] = counts
        if len(self.counts) * len(counts) > max(REMEMBERED, 64 * len(counts)):
            self.counts.popitem(last=False)
        return counts

    def get(self, node: Node) -> Counts | None:
        return self.counts.get(node)
