"""Checking nodes of the lattice: what each one is worth, and what that says about others."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._groupings import Base, Groupings, NodeCheck
from shoal.algorithms.full_domain._judge import Judge
from shoal.algorithms.full_domain._scoring import Bound, CellScores, ClassScores, scores
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Floats
from shoal.core.lattice import Node
from shoal.core.policy import Policy
from shoal.core.run import Run

REMEMBERED = 1 << 23
AT_ONCE = 8
WORTH_THREADS = 4096
"""Distinct tuples from which on checking a node takes longer than handing it to a thread."""

SHARED = 1 << 17
"""Tuples to look at from which on nodes are shared among threads: more than a millisecond, ten times as long as sharing
takes."""

SENSITIVE = 3
"""How many times as long a tuple takes whose sensitive values count."""

NOTHING: Floats = np.zeros((0, 0))


class NodeVerdict(NamedTuple):
    """What a node of the lattice is worth.

    `suppressed` records break the policy; every specialization of the node leaves out `lost` records or more. A node
    that is not feasible may have no score; where its classes are too many by far, all records count as left out instead
    of being counted. `base` and `extra` are an objective's that looks at classes.
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
        self.verdicts: dict[Node, NodeVerdict] = {}
        self.closest: NodeVerdict | None = None
        self._terms: OrderedDict[Node, Floats] = OrderedDict()
        self.threads = threads.count()
        self.at_once = AT_ONCE if len(dataset.summary) >= WORTH_THREADS else 1
        self._pool: ThreadPoolExecutor | None = None

    @property
    def by_cells(self) -> bool:
        """Whether the objective adds up over cells, so that nodes have floors."""
        return isinstance(self.scores, CellScores)

    def check(self, node: Node) -> NodeVerdict:
        """The verdict on a node; a node is checked only once."""
        verdict = self.verdicts.get(node)
        if verdict is None:
            self.watch.check()
            base = self.groupings.base(node)
            verdict = self._note(base, self._check(base, (node,))[0])
        return verdict

    def check_all(self, nodes: Sequence[Node], *, as_bases: bool = False) -> None:
        """Checks nodes that were not checked before, in as many threads as there are. What is found, and in which order
        it is remembered, does not depend on their number. With `as_bases` their generalizations will be asked for."""
        if not nodes:
            return
        self.watch.check()
        results = self._checked_together(nodes, as_bases)
        for node in nodes:
            base, checked, small = results[node]
            self._note(base, checked)
            if small is not None:
                self.groupings.keep(small)

    def _checked_together(
        self, nodes: Sequence[Node], as_bases: bool
    ) -> dict[Node, tuple[Base, _Checked, Base | None]]:
        """What there is to say about nodes. Each thread has a room of its own and takes the next node, those that take
        long first; one thread alone checks all nodes of a base in one call, unless the room is needed in between."""
        based = sorted(zip(self.groupings.bases_of(nodes), nodes, strict=True), key=lambda each: -len(each[0]))
        threads = self._threads(based)
        apart = as_bases or threads > 1
        waiting = deque(
            (base, some)
            for base, same in groupby(based, key=itemgetter(0))
            for there in [[node for _, node in same]]
            for some in ([[node] for node in there] if apart else [there])
        )
        self.groupings.room(threads - 1)
        results: dict[Node, tuple[Base, _Checked, Base | None]] = {}

        def work(room: int) -> None:
            while waiting:
                try:
                    base, some = waiting.popleft()
                except IndexError:  # another thread has just taken the last one
                    return
                for node, checked in zip(some, self._check(base, some, room), strict=True):
                    small = self.groupings.small(base, node, checked.classes, room) if as_bases else None
                    results[node] = (base, checked, small)

        if threads > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1)
        others = [self._pool.submit(work, room) for room in range(1, threads)] if self._pool is not None else []
        work(0)
        for other in others:
            other.result()
        return results

    def _threads(self, based: Sequence[tuple[Base, Node]]) -> int:
        """How many threads check nodes; their bases say how long that takes."""
        asked = self.judge.asked
        tuples = sum(len(base) for base, _ in based) * (SENSITIVE if asked is None or asked.sensitive else 1)
        return 1 if tuples < SHARED else min(self.threads, len(based))

    def _note(self, base: Base, checked: _Checked) -> NodeVerdict:
        """Remembers a verdict and what goes with it."""
        verdict = checked.verdict
        self.verdicts[verdict.node] = verdict
        if self.closest is None or verdict.suppressed < self.closest.suppressed:
            self.closest = verdict
        if 0 < verdict.lost <= self.budget and self.by_cells:
            self._keep(verdict.node, checked.terms)
        self.groupings.rebased(verdict.node, base, checked.classes)
        return verdict

    def _check(self, base: Base, nodes: Sequence[Node], room: int = 0) -> list[_Checked]:
        if isinstance(self.scores, CellScores):
            return self._by_cells(base, nodes, self.scores, room)
        return [self._by_classes(base, node, self.scores, room) for node in nodes]

    def _by_cells(self, base: Base, nodes: Sequence[Node], scores: CellScores, room: int) -> list[_Checked]:
        """The verdicts when the objective adds up over cells."""
        checks = None
        if self.judge.asked is not None:
            checks = self.groupings.checked(base, nodes, self.judge.asked, scores.rates, room)
        if checks is None:
            checks = [self._checked(base, node, scores, room) for node in nodes]
        return [
            _Checked(
                NodeVerdict(
                    node, check.published, check.records, check.lost, check.records <= self.budget, check.score
                ),
                check.classes,
                check.terms,
            )
            for node, check in zip(nodes, checks, strict=True)
        ]

    def _checked(self, base: Base, node: Node, scores: CellScores, room: int) -> NodeCheck:
        """What there is to say about a node where it takes more than one look."""
        grouping = self.groupings.grouped_from(base, node, room)
        broken, keepable = self.judge.judge(grouping, node)
        return self.groupings.weighed(node, grouping, broken, keepable, self.budget, scores.rates)

    def _by_classes(self, base: Base, node: Node, scores: ClassScores, room: int) -> _Checked:
        """The verdict when the objective looks at classes."""
        grouping = self.groupings.grouped_from(base, node, room)
        sizes = grouping.sizes
        broken, keepable = self.judge.judge(grouping, node)
        published, suppressed, lost = int((~broken).sum()), int(sizes[broken].sum()), int((sizes - keepable).sum())
        scored, extra = scores.base(sizes), scores.extra(sizes[keepable == 0])
        score = scores.score(scored + scores.extra(sizes[broken]))
        verdict = NodeVerdict(node, published, suppressed, lost, suppressed <= self.budget, score, scored, extra)
        return _Checked(verdict, len(sizes), NOTHING)

    def bounds(self, boxes: Sequence[tuple[Node, Node]], limit: float = inf) -> list[Bound]:
        """Of each box from a low to a high node a score that no node in it can beat, and where those may be that are to
        score less than `limit`; a box must not have lost more than the budget."""
        scores = self.scores
        if isinstance(scores, CellScores):
            return scores.bounds(boxes, [self.terms(high, scores) for _, high in boxes], limit)
        return [scores.bound(low, high, self.check(low).base + self.check(high).extra) for low, high in boxes]

    def terms(self, node: Node, scores: CellScores) -> Floats:
        """What each attribute adds to the score at least at each level from a node down, which is within the budget,
        because of the records that it has to leave out for sure."""
        if not self.check(node).lost:
            return scores.nothing
        terms = self._terms.get(node)
        return self._keep(node, self._check(self.groupings.base(node), (node,))[0].terms) if terms is None else terms

    def _keep(self, node: Node, terms: Floats) -> Floats:
        """Remembers what attributes add to the score below a node as long as there is room: it can be had again."""
        self._terms[node] = terms
        if len(self._terms) * terms.size > max(REMEMBERED, 64 * terms.size):
            self._terms.popitem(last=False)
        return terms

    def floor(self, node: Node) -> float:
        """The least that a node and its generalizations can score, without a look at the classes."""
        return self.scores.floor(node) if isinstance(self.scores, CellScores) else float("-inf")

    def suppression(self, node: Node) -> NDArray[np.bool_]:
        """Which distinct tuples a release at this node leaves out."""
        if not self.check(node).suppressed:
            return np.zeros(len(self.groupings.summary), dtype=np.bool_)
        grouping = self.groupings.grouped(node)
        return grouping.spread(self.judge.judge(grouping, node).broken)


class _Checked(NamedTuple):
    """A verdict, how many classes the node has, and what each attribute adds to the score from there down."""

    verdict: NodeVerdict
    classes: int
    terms: Floats
