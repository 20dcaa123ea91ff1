"""Local search: a good node early, where the lattice is too large to be searched to the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from shoal.algorithms.full_domain._branch_and_bound import Branching
from shoal.algorithms.full_domain._checker import Checker, NodeVerdict
from shoal.core.lattice import Node
from shoal.core.run import Run

PATIENCE = 2000
"""Checked nodes without a better one after which the search gives up, or as many as the best one took to be found."""

IDLE = 400
"""Rounds that led to no node that had not been checked, after which the search gives up, too."""

STRONGER = 50
"""Such rounds after which one attribute more is shaken."""

AT_ONCE = 4


class Climbing:
    """Steps to better neighbours from two starts, then shakes the best node and steps on, again and again.

    It goes by checked nodes alone, so that it ends with the same node on every machine. Nodes below one that has to
    leave out too much have to as well, and are not checked.
    """

    def __init__(self, checker: Checker, search: Branching, seed: int) -> None:
        self.checker, self.search, self.lattice = checker, search, search.lattice
        self.generator = np.random.default_rng(seed)
        self.failed = np.zeros((0, len(self.lattice.least)), dtype=np.int32)
        self.failures = 0
        self.best_after = 0
        self.passed: set[Node] = set()
        """Nodes that were stepped on: who comes there again goes the same way."""

    def run(self, run: Run, *, most: float) -> None:
        """Climbs until nothing better is found for long, until the run's time is up, or until `most` nodes are
        checked."""
        self.watch, self.most = run, most
        for start in (self._raised(), self._judge(self.lattice.greatest)):
            if start.feasible:
                self._improve(start)
        idle = 0
        while self.search.best is not None and idle < IDLE and self._may_go_on():
            before = len(self.checker.verdicts)
            self._shake(self.search.best.node, 3 + idle // STRONGER)
            idle = idle + 1 if len(self.checker.verdicts) == before else 0

    def _may_go_on(self) -> bool:
        checked = len(self.checker.verdicts)
        self.watch.report(min(checked / self.most, 1.0), f"{checked:,} nodes checked")
        self.search.note()
        patience = max(PATIENCE, self.best_after)
        return not self.watch.expired and checked < min(self.most, self.best_after + patience)

    def _judge(self, node: Node) -> NodeVerdict:
        verdict = self.checker.check(node)
        if self.search.consider(verdict):
            self.best_after = len(self.checker.verdicts)
        if verdict.lost > self.checker.budget and not self._fails(node):
            if self.failures == len(self.failed):
                self.failed = np.resize(self.failed, (max(64, 2 * self.failures), len(node)))
            self.failed[self.failures] = node
            self.failures += 1
        return verdict

    def _fails(self, node: Node) -> bool:
        """Whether a generalization of a node is known to leave out too much."""
        known = self.failed[: self.failures] >= np.array(node, dtype=np.int32)
        return bool(known.all(axis=1).any())

    def _raised(self) -> NodeVerdict:
        """The attribute with the most values goes up, again and again; about the first node on that way that satisfies
        the policy is found by halving it."""
        widths = self.checker.groupings.domain.widths
        way = [self.lattice.least]
        while free := [at for at, level in enumerate(way[-1]) if level < self.lattice.greatest[at]]:
            here = way[-1]
            at = max(free, key=lambda attribute: (widths[attribute, here[attribute]], -attribute))
            way.append((*here[:at], here[at] + 1, *here[at + 1 :]))
        lowest = self._judge(way[-1])
        fails, fits = -1, len(way) - 1
        while lowest.feasible and fits - fails > 1 and self._may_go_on():
            middle = (fails + fits) // 2
            there = self._judge(way[middle])
            if there.feasible:
                lowest, fits = there, middle
            else:
                fails = middle
        return lowest

    def _shake(self, node: Node, most: int) -> None:
        """Steps on from a node with up to so many attributes at levels drawn at random."""
        chosen = self.generator.permutation(len(node))[: self.generator.integers(1, most + 1)].tolist()
        shaken = list(node)
        for at in chosen:
            shaken[at] = int(self.generator.integers(self.lattice.least[at], self.lattice.greatest[at] + 1))
        there = tuple(shaken)
        if there in self.passed or self._fails(there):
            return
        verdict = self._judge(there)
        if verdict.feasible:
            self._improve(verdict)

    def _improve(self, here: NodeVerdict) -> None:
        """Takes the first better neighbour, the most promising ones first, until there is none."""
        better: NodeVerdict | None = here
        while better is not None and better.node not in self.passed:
            here = better
            self.passed.add(here.node)
            better = self._first_better(here, self.lattice.specializations(here.node), as_bases=True)
            if better is None:
                better = self._first_better(here, self._exchanges(here.node))
            if better is None:
                better = self._first_better(here, self.lattice.generalizations(here.node))

    def _first_better(self, here: NodeVerdict, moves: Iterable[Node], *, as_bases: bool = False) -> NodeVerdict | None:
        """The first of some nodes that scores less; with `as_bases` their generalizations will be asked for."""
        promising = sorted((floor, node) for node in moves if (floor := self.checker.floor(node)) < here.score)
        waiting = (node for _, node in promising if not self._fails(node))
        while self._may_go_on() and (nodes := list(islice(waiting, AT_ONCE))):
            unknown = [node for node in nodes if node not in self.checker.verdicts]
            self.checker.check_all(unknown, as_bases=as_bases)
            for verdict in map(self._judge, nodes):
                if verdict.feasible and verdict.score < here.score:
                    return verdict
        return None

    def _exchanges(self, node: Node) -> Iterator[Node]:
        """One attribute a level up, another one a level down."""
        for raised in self.lattice.generalizations(node):
            up = next(at for at, level in enumerate(node) if raised[at] != level)
            for lowered in self.lattice.specializations(raised):
                if lowered[up] == raised[up]:
                    yield lowered
