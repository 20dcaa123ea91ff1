"""Local search: a good node early, where the lattice is too large to be searched to the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from shoal.algorithms.full_domain._branching import Branching
from shoal.algorithms.full_domain._checker import Verdict
from shoal.core.lattice import Node
from shoal.core.run import Run

PATIENCE = 20


class Climbing:
    """Steps to better neighbours from two starts, then shakes the best node and steps on, again and again."""

    def __init__(self, search: Branching, seed: int) -> None:
        self.search, self.checker, self.lattice = search, search.checker, search.lattice
        self.generator = np.random.default_rng(seed)

    def run(self, run: Run, *, most: float) -> None:
        """Climbs until the run's time is up, or until `most` nodes are checked."""
        self.watch, self.most = run, most
        for start in (self._raised(), self._judged(self.lattice.greatest)):
            if start.feasible:
                self._improve(start)
        low, high = np.array(self.lattice.least), np.array(self.lattice.greatest)
        idle = 0
        while self.search.best is not None and idle < PATIENCE and self._may_go_on():
            before = len(self.checker.verdicts)
            shaken = np.array(self.search.best.node)
            chosen = self.generator.permutation(len(shaken))[: self.generator.integers(1, 4)]
            shaken[chosen] = self.generator.integers(low[chosen], high[chosen] + 1)
            there = self._judged(tuple(shaken.tolist()))
            if there.feasible:
                self._improve(there)
            idle = idle + 1 if len(self.checker.verdicts) == before else 0

    def _may_go_on(self) -> bool:
        checked = len(self.checker.verdicts)
        if checked % 64 == 0:
            self.watch.report(checked / self.most, f"{checked:,} nodes checked")
        return not self.watch.expired and checked < self.most

    def _judged(self, node: Node) -> Verdict:
        found = self.checker.check(node)
        self.search.consider(found)
        return found

    def _raised(self) -> Verdict:
        """From the bottom, the attribute with the most values goes up until a node satisfies the policy."""
        widths = self.checker.groupings.domain.widths
        node = self.lattice.least
        while not (found := self._judged(node)).feasible and self._may_go_on():
            free = [at for at, level in enumerate(node) if level < self.lattice.greatest[at]]
            if not free:
                break
            at = max(free, key=lambda attribute: (widths[attribute, node[attribute]], -attribute))
            node = (*node[:at], node[at] + 1, *node[at + 1 :])
        return found

    def _improve(self, here: Verdict) -> None:
        """Takes the first better neighbour, the most promising ones first, until there is none."""
        better: Verdict | None = here
        while better is not None:
            here = better
            better = self._first_better(here, self.lattice.specializations(here.node))
            if better is None:
                better = self._first_better(here, self._exchanges(here.node))
            if better is None:
                better = self._first_better(here, self.lattice.generalizations(here.node))

    def _first_better(self, here: Verdict, moves: Iterable[Node]) -> Verdict | None:
        for floor, node in sorted((self.checker.floor(node), node) for node in moves):
            if floor >= here.score or not self._may_go_on():
                break
            found = self._judged(node)
            if found.feasible and found.score < here.score:
                return found
        return None

    def _exchanges(self, node: Node) -> Iterator[Node]:
        """One attribute a level up, another one a level down."""
        for raised in self.lattice.generalizations(node):
            up = next(at for at, level in enumerate(node) if raised[at] != level)
            for lowered in self.lattice.specializations(raised):
                if lowered[up] == raised[up]:
                    yield lowered
