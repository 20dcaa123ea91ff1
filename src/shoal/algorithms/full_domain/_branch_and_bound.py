"""Branch and bound over boxes of the lattice.

A box holds the nodes between a low and a high one. Records that the high node has to leave out for sure are left out
in the whole box, and all others cost at least what they cost at the low node: that bounds the box, and checking its
high node is all that it takes. Levels that alone would make every node of a box dearer than the best one are taken off
it. The box with the least bound is split until no bound is below the best score. So the answer is proven whenever the
search ends, and at any earlier time there is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf, prod
from typing import Protocol

from shoal.algorithms.full_domain._checker import NodeVerdict
from shoal.algorithms.full_domain._scoring import Bound
from shoal.core.lattice import Lattice, Node
from shoal.core.run import Run

ROUNDING = 1e-12

Box = tuple[float, int, Node, Node]
"""A bound, a number that orders boxes with the same one, and the low and the high node."""


class Checks(Protocol):
    """What the search asks about nodes."""

    budget: int
    at_once: int
    verdicts: dict[Node, NodeVerdict]

    @property
    def by_cells(self) -> bool: ...
    def check(self, node: Node) -> NodeVerdict: ...
    def check_all(self, nodes: Sequence[Node]) -> None: ...
    def bounds(self, boxes: Sequence[tuple[Node, Node]], limit: float = inf) -> list[Bound]: ...
    def floor(self, node: Node) -> float: ...


class Branching:
    """The search, its best node so far and the bound that is proven."""

    def __init__(self, checker: Checks, lattice: Lattice, *, within: float = 0.0) -> None:
        self.checker, self.lattice, self.within = checker, lattice, within
        self.best: NodeVerdict | None = None
        self.to_beat = inf
        """Bounds from here up cannot lead to a better score, but for rounding."""
        self.bound = checker.floor(lattice.least)
        self.proven = False
        self.excluded = 0
        self.course: list[dict[str, float]] = []
        """How the search went: checked nodes, best score and bound, each time that the checked nodes had doubled."""

    def consider(self, verdict: NodeVerdict) -> bool:
        """Takes a node for the best so far, if it is; says whether."""
        better = verdict.feasible and verdict.score < self.to_beat
        if better:
            self.best = verdict
            self.to_beat = verdict.score - ROUNDING * max(1.0, abs(verdict.score))
        return better

    @property
    def limit(self) -> float:
        """Bounds from here up lead to nothing that is looked for: no better node, and none within the share of the
        way from the least loss to that of the top."""
        if not self.within or self.best is None:
            return self.to_beat
        least, most = self.best.score, self.checker.check(self.lattice.greatest).score
        return least + self.within * max(most - least, 0.0) + ROUNDING * max(1.0, abs(least))

    def near(self) -> list[NodeVerdict]:
        """The nodes within the share of the best, in the order of their levels."""
        limit, verdicts = self.limit, self.checker.verdicts.values()
        return sorted((each for each in verdicts if each.feasible and each.score < limit), key=lambda each: each.node)

    def run(self, run: Run, *, most: float = inf) -> None:
        """Searches until the best node is proven, until the run's time is up, or until `most` nodes are checked."""
        checker = self.checker
        heap: list[Box] = [(checker.floor(self.lattice.least), 0, self.lattice.least, self.lattice.greatest)]
        boxes = 0
        while heap and heap[0][0] < self.limit:
            if boxes and (run.expired or len(checker.verdicts) >= most):
                self.bound = min(heap[0][0], self.best.score if self.best else inf)
                return
            self.bound = heap[0][0]
            for low, high, bound in self._bounds(self._next(heap, most - len(checker.verdicts))):
                boxes += 1
                if boxes % 64 == 0:
                    self._report(len(heap), run)
                if bound.least < self.limit and bound.attribute >= 0:
                    self._split(low, high, bound, heap, boxes)
        self.proven = True
        self.bound = self.best.score if self.best else inf
        if self.best is not None:
            self._lower(self.best)

    def _next(self, heap: list[Box], most: float) -> list[Box]:
        """The boxes with the least bounds, with their high nodes checked: so many as the checker checks at once, which
        does not depend on the number of threads. All whose bound is below the optimum have to be looked at in any
        case, so that looking at some at once costs next to nothing."""
        boxes: list[Box] = []
        highs: list[Node] = []
        while heap and heap[0][0] < self.limit and len(highs) < min(self.checker.at_once, max(most, 1)):
            boxes.append(heappop(heap))
            if boxes[-1][3] not in self.checker.verdicts:
                highs.append(boxes[-1][3])
        self.checker.check_all(highs)
        return boxes

    def _bounds(self, boxes: list[Box]) -> list[tuple[Node, Node, Bound]]:
        """The nodes and the bounds of the boxes whose high nodes do not lose too much; the best node is the best of
        them before any box is bounded."""
        checker = self.checker
        inside: list[tuple[Node, Node]] = []
        for _, _, low, high in boxes:
            verdict = checker.check(high)
            self.consider(verdict)
            if verdict.lost > checker.budget:
                self.excluded += prod(last - first + 1 for first, last in zip(low, high, strict=True)) - 1
                continue
            if not checker.by_cells:
                self.consider(checker.check(low))
            inside.append((low, high))
        bounds = checker.bounds(inside, self.limit)
        return [(*box, bound) for box, bound in zip(inside, bounds, strict=True)]

    def _split(self, low: Node, high: Node, bound: Bound, heap: list[Box], number: int) -> None:
        """Puts the two parts of a box on the heap where they may have a better node."""
        at = bound.attribute
        if bound.highest != high:
            heappush(heap, (bound.least, -2 * number, low, bound.highest))
            return
        below = (*high[:at], high[at] - 1, *high[at + 1 :])
        above = (*low[:at], high[at], *low[at + 1 :])
        heappush(heap, (bound.least, -2 * number, low, below))
        if bound.upper < self.limit:
            heappush(heap, (bound.upper, -2 * number - 1, above, high))

    def _lower(self, here: NodeVerdict) -> None:
        """Takes levels back that cost nothing: the search stops at the first of several nodes with one score."""
        lower: NodeVerdict | None = here
        while lower is not None:
            self.best, lower = lower, self._no_dearer(lower)

    def _no_dearer(self, here: NodeVerdict) -> NodeVerdict | None:
        """A specialization by one level that scores no more, if there is one."""
        for node in self.lattice.specializations(here.node):
            if not self.checker.by_cells or self.checker.floor(node) >= self.to_beat:
                verdict = self.checker.check(node)
                if verdict.feasible and verdict.score <= here.score:
                    return verdict
        return None

    def _report(self, boxes: int, run: Run) -> None:
        best = self.best.score if self.best else inf
        share = min(max(self.bound / best, 0.0), 1.0) if 0 < best < inf else 0.0
        checked = len(self.checker.verdicts)
        figures = f", best {best:.4g}, none below {self.bound:.4g}" if share else ""
        run.report(share, f"{checked:,} of {self.lattice.size:,} nodes checked, {boxes:,} boxes open{figures}")
        self.note()

    def note(self) -> None:
        """Adds to the course how far the search is, when the checked nodes have doubled."""
        checked = len(self.checker.verdicts)
        if (
            self.best is not None
            and self.bound > -inf
            and (not self.course or checked >= 2 * self.course[-1]["checked"])
        ):
            self.course.append({"checked": checked, "score": self.best.score, "bound": self.bound})
