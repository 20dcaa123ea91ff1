"""Checking nodes of the lattice: what each one is worth, and what that says about others."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._groupings import Base, Groupings
from shoal.algorithms.full_domain._judging import Judge
from shoal.algorithms.full_domain._scoring import Bound, CellScores, ClassScores, scores
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Floats
from shoal.core.lattice import Node
from shoal.core.policy import Policy
from shoal.core.run import Run

REMEMBERED = 1 << 23
AT_ONCE = 8
AFTER = 256
"""Checked nodes after which other threads are started: a search that ends sooner does not wait for them."""

WORTH_THREADS = 4096
"""Distinct tuples from which on checking a node takes longer than handing it to a thread."""
NOTHING: Floats = np.zeros((0, 0))


class Verdict(NamedTuple):
    """What a node of the lattice is worth.

    `suppressed` records break the policy; every specialization of the node leaves out `lost` records or more. A node
    that is not feasible may have no score. `base` and `extra` are an objective's that looks at classes.
    """

    node: Node
    classes: int
    suppressed: int
    lost: int
    feasible: bool
    score: float
    base: float = 0.0
    extra: float = 0.0


class Checker:
    """Checks each node once, on the distinct tuples; a run that is cancelled ends at the next check."""

    def __init__(self, dataset: Dataset, policy: Policy, run: Run, weights: Mapping[str, float] | None = None) -> None:
        from shoal.kernels import threads

        self.records, self.watch = dataset.records, run
        self.groupings = Groupings(dataset.summary)
        self.judge = Judge(policy, self.groupings)
        self.budget = self.judge.budget
        self.scores = scores(policy.objective, weights or {}, self.groupings)
        self.verdicts: dict[Node, Verdict] = {}
        self.closest: Verdict | None = None
        self._terms = _Terms()
        self.threads = threads.count()
        self.at_once = AT_ONCE if len(dataset.summary) >= WORTH_THREADS else 1
        self._pool: ThreadPoolExecutor | None = None

    @property
    def by_cells(self) -> bool:
        """Whether the objective adds up over cells, so that nodes have floors."""
        return isinstance(self.scores, CellScores)

    def check(self, node: Node) -> Verdict:
        """The verdict on a node; a node is checked only once."""
        found = self.verdicts.get(node)
        if found is None:
            self.watch.check()
            base = self.groupings.base(node)
            found = self._noted(base, self._check(base, node))
        return found

    def check_all(self, nodes: Sequence[Node]) -> None:
        """Checks nodes that were not checked before, in as many threads as there are. What is found, and in which order
        it is remembered, does not depend on their number."""
        if len(nodes) < 2 or self.threads < 2 or len(self.verdicts) < AFTER:
            for node in nodes:
                self.check(node)
            return
        self.watch.check()
        bases = [self.groupings.base(node) for node in nodes]
        found: list[_Checked | None] = [None] * len(nodes)
        waiting = deque(range(len(nodes)))
        self.groupings.room(self.threads - 1)

        def work(room: int) -> None:
            while True:
                try:
                    at = waiting.popleft()
                except IndexError:
                    return
                found[at] = self._check(bases[at], nodes[at], room)

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1)
        others = [self._pool.submit(work, room) for room in range(1, min(self.threads, len(nodes)))]
        work(0)
        for other in others:
            other.result()
        for base, checked in zip(bases, found, strict=True):
            assert checked is not None
            self._noted(base, checked)

    def _noted(self, base: Base, found: _Checked) -> Verdict:
        """Remembers a verdict and what goes with it."""
        verdict = found.verdict
        self.verdicts[verdict.node] = verdict
        if self.closest is None or verdict.suppressed < self.closest.suppressed:
            self.closest = verdict
        if verdict.lost and len(found.terms):
            self._terms.keep(verdict.node, found.terms)
        self.groupings.rebased(verdict.node, base, found.classes)
        return verdict

    def _check(self, base: Base, node: Node, room: int = 0) -> _Checked:
        if isinstance(self.scores, CellScores):
            return self._by_cells(base, node, self.scores, room)
        return self._by_classes(base, node, self.scores, room)

    def _by_cells(self, base: Base, node: Node, scores: CellScores, room: int) -> _Checked:
        """The verdict when the objective adds up over cells."""
        found = None
        if self.judge.asked is not None:
            found = self.groupings.surveyed(base, node, self.judge.asked, scores.rates, room)
        if found is None:
            grouping = self.groupings.grouped_from(base, node, room)
            broken, kept = self.judge.judge(grouping)
            found = self.groupings.weighed(node, grouping, broken, kept, self.budget, scores.rates)
        feasible = found.records <= self.budget
        verdict = Verdict(node, found.published, found.records, found.lost, feasible, found.score)
        return _Checked(verdict, found.classes, found.terms)

    def _by_classes(self, base: Base, node: Node, scores: ClassScores, room: int) -> _Checked:
        """The verdict when the objective looks at classes."""
        grouping = self.groupings.grouped_from(base, node, room)
        sizes = grouping.sizes
        broken, kept = self.judge.judge(grouping)
        suppressed = int(sizes[broken].sum())
        base_there, extra = scores.base(sizes), scores.extra(sizes[kept == 0])
        verdict = Verdict(
            node, len(sizes) - int(broken.sum()), suppressed, int((sizes - kept).sum()), suppressed <= self.budget,
            scores.score(base_there + scores.extra(sizes[broken])), base_there, extra,
        )  # fmt: skip
        return _Checked(verdict, len(sizes), NOTHING)

    def bound(self, low: Node, high: Node, limit: float = inf) -> Bound:
        """A score that no node from `low` to `high` can beat, and where those may be that are to score less than
        `limit`; the box must not have lost more than the budget."""
        verdict = self.check(high)
        if not isinstance(self.scores, CellScores):
            return self.scores.bound(low, high, self.check(low).base + verdict.extra)
        return self.scores.bound(low, high, self.terms(high, self.scores), limit)

    def terms(self, node: Node, scores: CellScores) -> Floats:
        """What each attribute adds to the score at least at each level from a node down, which is within the budget,
        because of the records that it has to leave out for sure."""
        if not self.check(node).lost:
            return scores.nothing
        held = self._terms.get(node)
        if held is None:
            held = self._terms.keep(node, self._check(self.groupings.base(node), node).terms)
        return held

    def floor(self, node: Node) -> float:
        """The least that a node and its generalizations can score, without a look at the classes."""
        return self.scores.floor(node) if isinstance(self.scores, CellScores) else float("-inf")

    def suppression(self, node: Node) -> NDArray[np.bool_]:
        """Which distinct tuples a release at this node leaves out."""
        found = self.groupings.grouped(node)
        return found.spread(self.judge.judge(found).broken)


class _Checked(NamedTuple):
    """A verdict, how many classes the node has, and what each attribute adds to the score from there down."""

    verdict: Verdict
    classes: int
    terms: Floats


class _Terms:
    """What attributes add to the score below nodes: kept as long as there is room, for it can be had again."""

    def __init__(self) -> None:
        self.held: OrderedDict[Node, Floats] = OrderedDict()

    def keep(self, node: Node, terms: Floats) -> Floats:
        self.held[node] = terms
        if len(self.held) * terms.size > max(REMEMBERED, 64 * terms.size):
            self.held.popitem(last=False)
        return terms

    def get(self, node: Node) -> Floats | None:
        return self.held.get(node)
