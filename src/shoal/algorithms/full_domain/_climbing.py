"""Local search: a good node early, where the lattice is too large to be searched to the end."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import numpy as np

from shoal.algorithms.full_domain._branching import Branching
from shoal.algorithms.full_domain._checker import Verdict
from shoal.core.lattice import Node

PATIENCE = 20


class Climbing:
    """Goes down from the top to the best neighbour, again and again, then shakes the best node and repeats."""

    def __init__(self, search: Branching, seed: int) -> None:
        self.search, self.checker, self.lattice = search, search.checker, search.lattice
        self.generator = np.random.default_rng(seed)

    def run(self, *, deadline: float, most: float) -> None:
        """Climbs until `deadline`, or until `most` nodes are checked."""
        self.deadline, self.most = deadline, most
        start = self.checker.check(self.lattice.greatest)
        self.search.consider(start)
        if not start.feasible:
            return
        self._descend(start)
        low, high = np.array(self.lattice.least), np.array(self.lattice.greatest)
        idle = 0
        while idle < PATIENCE and self._may_go_on():
            assert self.search.best is not None
            before = len(self.checker.verdicts)
            shaken = np.array(self.search.best.node)
            chosen = self.generator.permutation(len(shaken))[: self.generator.integers(1, 4)]
            shaken[chosen] = self.generator.integers(low[chosen], high[chosen] + 1)
            there = self.checker.check(tuple(shaken.tolist()))
            self.search.consider(there)
            if there.feasible:
                self._descend(there)
            idle = idle + 1 if len(self.checker.verdicts) == before else 0

    def _may_go_on(self) -> bool:
        return monotonic() < self.deadline and len(self.checker.verdicts) < self.most

    def _descend(self, here: Verdict) -> None:
        moved = True
        while moved:
            moved = False
            for moves in (self.lattice.specializations(here.node), self._exchanges(here.node)):
                best = here
                for node in moves:
                    if not self._may_go_on():
                        return
                    if self.checker.floor(node) >= best.score:
                        continue
                    found = self.checker.check(node)
                    self.search.consider(found)
                    if found.feasible and found.score < best.score:
                        best = found
                if best is not here:
                    here, moved = best, True
                    break

    def _exchanges(self, node: Node) -> Iterator[Node]:
        """One attribute a level up, another one a level down."""
        for raised in self.lattice.generalizations(node):
            up = next(at for at, level in enumerate(node) if raised[at] != level)
            for lowered in self.lattice.specializations(raised):
                if lowered[up] == raised[up]:
                    yield lowered
