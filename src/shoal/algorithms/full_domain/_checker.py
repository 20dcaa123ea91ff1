"""Checking nodes of the lattice: what each one is worth, and what that says about others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain._base import Base
from shoal.algorithms.full_domain._groupings import Groupings, NodeCheck
from shoal.algorithms.full_domain._judge import Judge
from shoal.algorithms.full_domain._scoring import Bound, CellScores, scores
from shoal.core.dataset import Dataset
from shoal.core.hierarchy import Floats
from shoal.core.lattice import Node
from shoal.core.policy import Policy
from shoal.core.run import Run

REMEMBERED = 1 << 23
AT_ONCE = 8
WORTH_THREADS = 4096
"""Distinct tuples from which on checking a node takes longer than handing it to a thread."""

SHARED = 1 << 16
"""Tuples to look at from which on nodes are shared among threads: half a millisecond, five times as long as
waking one takes."""

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
            verdict = self._note(self._checked_together((node,))[0])
        return verdict

    def check_all(self, nodes: Sequence[Node], *, as_bases: bool = False) -> None:
        """Checks nodes that were not checked before, in as many threads as there are. What is found, and in which order
        it is remembered, does not depend on their number. With `as_bases` their generalizations will be asked for."""
        if not nodes:
            return
        self.watch.check()
        for checked in self._checked_together(nodes, as_bases):
            self._note(checked)
            if checked.small is not None:
                self.groupings.keep(checked.small)

    def _checked_together(self, nodes: Sequence[Node], as_bases: bool = False) -> list[_Checked]:
        """What there is to say about nodes."""
        work = _Work(self, nodes, as_bases)
        self._share(work)
        return work.collected()

    def _share(self, work: _Work) -> None:
        """Has threads check nodes. Each has a room of its own and takes the next node, those of large bases first;
        while another one is woken, this one works."""
        rooms = [self.groupings.room(number) for number in range(self._threads(work))]
        if len(rooms) > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1)
        try:
            others = [self._pool.submit(work.share, room) for room in rooms[1:]] if self._pool is not None else []
            work.share(rooms[0])
            done = work.is_done()
            for other in others:  # whoever has not come to its turn needs none
                if not other.cancel() and not done:
                    other.result()
        except BaseException:
            self.groupings.rooms.clear()  # some thread may still be in its room: it keeps that to itself
            raise

    def _threads(self, work: _Work) -> int:
        """How many threads check nodes; their bases say how long that takes."""
        asked = self.judge.asked
        tuples = work.tuples * (SENSITIVE if asked is None or asked.sensitive else 1)
        return 1 if tuples < SHARED else min(self.threads, len(work.compiled) + len(work.others))

    def _note(self, checked: _Checked) -> NodeVerdict:
        """Remembers a verdict and what goes with it."""
        verdict = checked.verdict
        self.verdicts[verdict.node] = verdict
        if self.closest is None or verdict.suppressed < self.closest.suppressed:
            self.closest = verdict
        if 0 < verdict.lost <= self.budget and self.by_cells:
            self._keep(verdict.node, checked.terms)
        self.groupings.rebased(verdict.node, checked.base, checked.classes)
        return verdict

    def look(self, base: Base, node: Node, room: Any) -> _Checked:
        """What there is to say about a node where that takes more than the compiled look at it."""
        scores, grouping = self.scores, self.groupings.grouped_from(base, node, room)
        broken, keepable = self.judge.judge(grouping, node)
        if isinstance(scores, CellScores):
            check = self.groupings.weighed(node, grouping, broken, keepable, self.budget, scores.rates)
            return self.checked(base, node, check)
        sizes = grouping.sizes
        published, suppressed, lost = int((~broken).sum()), int(sizes[broken].sum()), int((sizes - keepable).sum())
        scored, extra = scores.base(sizes), scores.extra(sizes[keepable == 0])
        score = scores.score(scored + scores.extra(sizes[broken]))
        verdict = NodeVerdict(node, published, suppressed, lost, suppressed <= self.budget, score, scored, extra)
        return _Checked(base, verdict, len(sizes), NOTHING)

    def checked(self, base: Base, node: Node, check: NodeCheck) -> _Checked:
        """What a look at a node says, when the objective adds up over cells."""
        classes, published, records, lost, terms, score = check
        return _Checked(
            base, NodeVerdict(node, published, records, lost, records <= self.budget, score), classes, terms
        )

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
        return self._keep(node, self._checked_together((node,))[0].terms) if terms is None else terms

    def _keep(self, node: Node, terms: Floats) -> Floats:
        """Remembers what attributes add to the score below a node as long as there is room: it can be had again."""
        self._terms[node] = terms = terms.copy()  # not all that was found of the nodes that were checked with it
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
    """The base that a node was grouped from, its verdict, how many classes it has, what each attribute adds to the
    score from there down, and the node itself as a base, where that was asked for and is of use."""

    base: Base
    verdict: NodeVerdict
    classes: int
    terms: Floats
    small: Base | None = None


class _Task(NamedTuple):
    """A node, its place among those that were asked for, and the base that it is grouped from."""

    base: Base
    node: Node
    place: int


class _Work:
    """Nodes that threads check together: first those that the compiled look does for, then the others."""

    def __init__(self, checker: Checker, nodes: Sequence[Node], as_bases: bool) -> None:
        self.checker, self.groupings, self.as_bases = checker, checker.groupings, as_bases
        self.asked = checker.judge.asked if checker.by_cells else None
        self.tuples = 0
        fit, self.compiled, self.others = self.groupings.fit(nodes), list[_Task](), list[_Task]()
        tasks = map(_Task, self.groupings.bases_of(nodes), nodes, range(len(nodes)))
        for task in sorted(tasks, key=lambda task: -len(task.base)):
            self.tuples += len(task.base)
            compiled = self.asked is not None and fit[task.place] and self.groupings.has_room(task.base, self.asked)
            (self.compiled if compiled else self.others).append(task)
        self.batch = self.groupings.batch(
            [task.base for task in self.compiled], [task.node for task in self.compiled], self.asked
        )
        self.results: dict[int, _Checked] = {}

    def share(self, room: Any) -> None:
        """Checks nodes as long as there are any that no other thread has taken."""
        turns = self.groupings.turns
        if not self.as_bases:
            self._check(len(self.compiled), room)
        while self.as_bases and (at := self._check(1, room)) >= 0:
            self._note(self.compiled[at], self._compiled(at), room)
        while (at := int(turns.take(self.batch.turns, turns.OTHERS))) < len(self.others):
            task = self.others[at]
            self._note(task, self.checker.look(task.base, task.node, room), room)

    def _check(self, most: int, room: Any) -> int:
        """Gives the compiled look to so many nodes at most; says which was the last, -1 when none was left."""
        scores = self.checker.scores
        if self.asked is None or not self.compiled or not isinstance(scores, CellScores):
            return -1
        return self.groupings.check(self.batch, most, self.asked, scores.rates, room)

    def _note(self, task: _Task, checked: _Checked, room: Any) -> None:
        """Remembers what was found of the node that was just grouped in a room."""
        if self.as_bases:
            small = self.groupings.small(task.base, task.node, checked.classes, room)
            checked = checked._replace(small=small)
        self.results[task.place] = checked

    def _compiled(self, at: int) -> _Checked:
        """What the compiled look says about a node."""
        base, node, _ = self.compiled[at]
        classes, published, records, lost = self.batch.counts[at].tolist()
        terms, score = self.batch.terms[at], float(self.batch.scores[at])
        return self.checker.checked(base, node, NodeCheck(classes, published, records, lost, terms, score))

    def is_done(self) -> bool:
        """Whether all nodes are checked, as far as that can be told without waiting for a thread to say so."""
        if self.as_bases or self.others:
            return False
        return bool(self.groupings.turns.all_done(self.batch.turns, len(self.compiled)))

    def collected(self) -> list[_Checked]:
        """What was found of the nodes, in the order in which they were given."""
        if not self.as_bases:
            for at, task in enumerate(self.compiled):
                self.results[task.place] = self._compiled(at)
        return [self.results[place] for place in range(len(self.results))]
