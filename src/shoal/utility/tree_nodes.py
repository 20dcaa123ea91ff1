"""The nodes of classification trees, the way of a record through them, and what the leaves say about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.core.hierarchy import Floats
from shoal.utility.split_criteria import SMALL

Ints = NDArray[np.int64]


@dataclass
class Node:
    """A node: how many records (by weight) of each class go down each branch, and where it splits.

    `counts[b, c]` is the weight of class `c` in branch `b`; a leaf has one branch. `rows` and `weights` are the
    training records that reach it.
    """

    counts: Floats
    rows: Ints
    weights: Floats
    attribute: int | None = None
    threshold: float | None = None
    branches: list[Node] = field(default_factory=list)
    _weighed: tuple[Floats, float, float] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def leaf(self) -> bool:
        return not self.branches

    @property
    def classes(self) -> Floats:
        totals: Floats = self.counts.sum(axis=0)
        return totals

    @property
    def total(self) -> float:
        return self._weights[1]

    @property
    def wrong(self) -> float:
        """The weight of the training records that are not of the most frequent class."""
        return self._weights[2]

    @property
    def _weights(self) -> tuple[Floats, float, float]:
        """The counts, their total and the wrong among them, which are asked for again and again."""
        if self._weighed is None or self._weighed[0] is not self.counts:
            total = float(self.counts.sum())
            self._weighed = self.counts, total, total - float(self.classes.max(initial=0.0))
        return self._weighed

    def shares(self) -> Floats:
        """The share of each class; nothing where there are no records."""
        total = self.total
        return self.classes / total if total > SMALL else np.zeros(self.counts.shape[1])

    def become_leaf(self) -> None:
        self.counts = self.classes[None, :]
        self.attribute = self.threshold = None
        self.branches = []

    def leaves(self) -> Iterator[tuple[Node, tuple[tuple[Node, int], ...]]]:
        """Each leaf with the way to it: the nodes, and the branch that is taken at each."""
        stack: list[tuple[Node, tuple[tuple[Node, int], ...]]] = [(self, ())]
        while stack:
            node, way = stack.pop()
            if node.leaf:
                yield node, way
            for place in reversed(range(len(node.branches))):
                stack.append((node.branches[place], (*way, (node, place))))


def value_branches(column: Floats) -> Ints:
    """The branch that each value takes where every name has its own; negative: it is missing."""
    return np.where(np.isnan(column), -1.0, column).astype(np.int64)


def branches_of(node: Node, column: Floats) -> Ints:
    """The branch that each value takes at a node; negative: it is missing."""
    if node.threshold is None:
        return value_branches(column)
    return np.where(np.isnan(column), -1, column > node.threshold + SMALL).astype(np.int64)


def probabilities(root: Node, rows: Floats) -> Floats:
    """The probability of each class for each record: the shares of the leaves that it reaches."""
    chances = np.zeros((len(rows), root.counts.shape[1]))
    stack: list[tuple[Node, Ints, Floats]] = [(root, np.arange(len(rows)), np.ones(len(rows)))]
    while stack:
        node, reached, weights = stack.pop()
        if node.leaf:
            chances[reached] += weights[:, None] * node.shares()
            continue
        assert node.attribute is not None
        branch = branches_of(node, rows[reached, node.attribute])
        sizes = node.counts.sum(axis=1)
        shares = sizes / max(node.total, SMALL)
        for place, son in enumerate(node.branches):
            empty = son.leaf and not len(son.rows)
            here = branch == place
            if empty:
                # no training record came here: the node's own records tell
                own = node.counts[place] / sizes[place] if sizes[place] > SMALL else node.shares()
                chances[reached[here]] += weights[here][:, None] * own
            elif here.any():
                stack.append((son, reached[here], weights[here]))
            lost = branch < 0
            if lost.any() and not empty:
                stack.append((son, reached[lost], weights[lost] * shares[place]))
    return chances
