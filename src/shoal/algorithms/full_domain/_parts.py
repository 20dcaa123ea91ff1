"""What any release loses in some of the attributes: a bound for lattices that are too large to be searched to the end.

Take a node that satisfies the policy and raise all attributes but those of a part to the top. What this node has to
leave out for sure, the first one leaves out, too, so it is within the budget; and in the attributes of the part, where
the two have the same levels, the first one loses no less than its bound says. So the least bound over the nodes of the
part's own lattice, which is small, is one for every release. The loss is a sum over attributes: where no two parts have
an attribute in common, the bounds of the parts add up, and in a box of the lattice each part counts with the larger of
its bound and of what the box costs there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log1p, prod

import numpy as np

from shoal.algorithms.full_domain._branch_and_bound import ROUNDING, Branching
from shoal.algorithms.full_domain._checker import Checker, NodeVerdict
from shoal.algorithms.full_domain._scoring import Bound, CellScores
from shoal.core.lattice import Lattice, Node
from shoal.core.run import Run

LARGEST = 100_000
"""Nodes of a part's lattice: as many as are searched to the end in no time."""


class AttributePart:
    """Checks nodes for what they lose in some attributes, as if the others cost nothing; a node counts as feasible when
    it does not have to leave out too much for sure."""

    by_cells = True

    def __init__(self, checker: Checker, scores: CellScores, attributes: Sequence[int]) -> None:
        self.checker, self.scores = checker, scores
        self.budget, self.at_once, self.verdicts = checker.budget, checker.at_once, checker.verdicts
        shares = np.zeros((1, len(scores.heights)))
        shares[0, list(attributes)] = 1.0
        self.parts = scores.parts._replace(shares=shares, floors=np.full(1, -inf))

    def check(self, node: Node) -> NodeVerdict:
        verdict = self.checker.check(node)
        within = verdict.lost <= self.budget
        return verdict._replace(feasible=within, score=self.bounds([(node, node)])[0].least if within else inf)

    def check_all(self, nodes: Sequence[Node]) -> None:
        self.checker.check_all(nodes)

    def bounds(self, boxes: Sequence[tuple[Node, Node]], limit: float = inf) -> list[Bound]:
        terms = [self.checker.terms(high, self.scores) for _, high in boxes]
        return self.scores.bounds(boxes, terms, limit, self.parts)

    def floor(self, node: Node) -> float:
        return self.scores.floor(node, self.parts)


def parts(lattice: Lattice) -> list[list[int]]:
    """The attributes in as few parts as have small lattices: of two neighbours, which often tell the same, each is in
    another part.

    Example:
        >>> parts(Lattice(tuple("abcdef"), (0,) * 6, (19,) * 6))
        [[0, 2, 4], [1, 3, 5]]
    """
    free = [at for at, (low, high) in enumerate(zip(lattice.least, lattice.greatest, strict=True)) if low < high]
    for count in range(1, len(free) + 1):
        split = [free[first::count] for first in range(count)]
        if all(prod(lattice.greatest[at] - lattice.least[at] + 1 for at in part) <= LARGEST for part in split):
            return split
    return [[at] for at in free]


def bound_parts(checker: Checker, lattice: Lattice, run: Run, *, most: float) -> None:
    """Has the checker bound by parts, too, which are searched with `most` checked nodes at most in all."""
    scores, chosen = checker.scores, parts(lattice)
    if not isinstance(scores, CellScores) or len(chosen) < 2:
        return
    quiet = Run(lambda share, doing: run.report(0.0, "looking at parts of the columns"), within=run)
    rest = [at for at in range(len(lattice.least)) if not any(at in part for part in chosen)]
    floors, shares = [-inf], [np.isin(np.arange(len(lattice.least)), rest)]
    for place, part in enumerate(chosen):
        least = tuple(
            low if at in part else high
            for at, (low, high) in enumerate(zip(lattice.least, lattice.greatest, strict=True))
        )
        search = Branching(AttributePart(checker, scores, part), Lattice(lattice.attributes, least, lattice.greatest))
        checked = len(checker.verdicts)
        search.run(quiet, most=checked + most / (len(chosen) - place))
        most -= len(checker.verdicts) - checked
        added = log1p(search.bound) if scores.parts.geometric else search.bound
        floors.append(added - ROUNDING * max(1.0, abs(added)) if added < inf else -inf)
        shares.append(np.isin(np.arange(len(lattice.least)), part))
    scores.know(np.array(shares, dtype=np.float64), np.array(floors))
