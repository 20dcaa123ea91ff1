"""Incognito (LeFevre, DeWitt and Ramakrishnan, 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any, ClassVar

import numpy as np

from shoal.algorithms.full_domain._checker import Checker, NodeVerdict
from shoal.algorithms.full_domain._outcome import infeasible, recoded
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.dataset import Dataset
from shoal.core.lattice import Lattice, Node
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.errors import ParameterError

MOST_NODES = 20_000_000
MOST_LISTED = 1000


@dataclass(frozen=True, kw_only=True)
class Incognito(Algorithm):
    """Finds every level vector that satisfies the policy, from single attributes up to all of them, and takes the one
    with the lowest objective (loss unless another one is chosen).

    A vector can only satisfy the policy if its part over every subset of the attributes does, so most vectors are
    ruled out by subsets before they are looked at. The facts of the recoding hold the minimal vectors: those that
    satisfy the policy while none of their specializations does.

    Needs models that generalization cannot break: k-anonymity and distinct l-diversity with any suppression budget,
    other models that survive merging without suppression. For anything else use the optimal search.

    Does not protect against more than the models of the policy do.

    Reference: K. LeFevre, D. DeWitt, R. Ramakrishnan, Incognito: efficient full-domain k-anonymity, 2005.

    Example:
        >>> import shoal
        >>> data = shoal.read(
        ...     shoal.samples.adult(), quasi=["age", "sex", "race"], hierarchies=shoal.samples.hierarchies("adult")
        ... )
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="incognito", suppression=0.005)
        >>> release.recoding.facts["minimal"]
        [{'age': 0, 'sex': 0, 'race': 1}, {'age': 1, 'sex': 0, 'race': 0}]
    """

    counts_people: ClassVar[bool] = True
    keeps_margins: ClassVar[bool] = True

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        lattice = Lattice.of(dataset.hierarchies)
        checker = Checker(dataset, policy, run)
        if not checker.judge.monotone:
            raise ParameterError(
                "Incognito prunes by models that generalization cannot break, and this policy has one that it can "
                "break (or that suppression lets it break); use the optimal search"
            )
        everything = prod(level + 2 for level in lattice.greatest)
        if everything > MOST_NODES:
            raise ParameterError(
                f"Incognito visits the lattices of all subsets, and {everything:,} nodes are too many; "
                "use the optimal search"
            )
        satisfying, ruled_out = _satisfying(checker, lattice, run)
        if not satisfying.any():
            raise infeasible(checker, lattice)
        best = _best(checker, satisfying)
        minimal = [lattice.named(node) for node in _nodes(satisfying & ~_above(satisfying))]
        facts = {"satisfying": int(satisfying.sum()), "minimal": minimal[:MOST_LISTED]}
        return recoded(checker, lattice, best, {"pruned": {"subsets": ruled_out}}, **facts)


def _satisfying(checker: Checker, lattice: Lattice, run: Run) -> tuple[Any, int]:
    """Which nodes satisfy the policy, and how many were ruled out by subsets alone."""
    levels = [level + 1 for level in lattice.greatest]
    count = len(levels)
    smaller: dict[tuple[int, ...], Any] = {(): np.ones((), dtype=np.bool_)}
    ruled_out = 0
    for size in range(1, count + 1):
        larger: dict[tuple[int, ...], Any] = {}
        for place, subset in enumerate(combinations(range(count), size)):
            candidates = np.ones([levels[attribute] for attribute in subset], dtype=np.bool_)
            for position in range(size):
                part = smaller[(*subset[:position], *subset[position + 1 :])]
                candidates &= np.expand_dims(part, position)
            ruled_out += int((~candidates).sum()) if size == count else 0
            larger[subset] = _walked(checker, lattice.greatest, subset, candidates)
            run.report((size - 1 + (place + 1) / comb(count, size)) / count, f"subsets of {size} of {count} attributes")
        smaller = larger
    return smaller[tuple(range(count))], ruled_out


def _walked(checker: Checker, top: Node, subset: tuple[int, ...], candidates: Any) -> Any:
    """Breadth first from the bottom; what satisfies the policy lends that to all its generalizations."""
    satisfying = np.zeros_like(candidates)
    for levels in _nodes(candidates):
        if not satisfying[levels]:
            node = list(top)
            for attribute, level in zip(subset, levels, strict=True):
                node[attribute] = level
            if checker.check(tuple(node)).feasible:
                satisfying[tuple(slice(level, None) for level in levels)] = True
    return satisfying


def _nodes(chosen: Any) -> list[Node]:
    """The chosen nodes by height."""
    levels = np.argwhere(chosen)
    return [tuple(node) for node in levels[np.argsort(levels.sum(axis=1), kind="stable")].tolist()]


def _above(satisfying: Any) -> Any:
    """The nodes that generalize a satisfying one by a step or more."""
    above = np.zeros_like(satisfying)
    for axis in range(satisfying.ndim):
        np.moveaxis(above, axis, 0)[1:] |= np.moveaxis(satisfying, axis, 0)[:-1]
    return above


def _best(checker: Checker, satisfying: Any) -> NodeVerdict:
    """The satisfying node that scores least; those whose floor is not below the best need no check."""
    ordered = sorted((checker.floor(node), node) for node in _nodes(satisfying))
    best = checker.check(ordered[0][1])
    for floor, node in ordered[1:]:
        if floor >= best.score:
            break
        verdict = checker.check(node)
        if verdict.score < best.score:
            best = verdict
    return best
