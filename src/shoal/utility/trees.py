"""Classification trees after C4.5 (Quinlan, 1993), as WEKA's J48 grows and prunes them.

A node splits on one attribute: into one branch a value where values are names, at a threshold where they are numbers.
Records whose value is missing go down every branch with a share of their weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from shoal.core.run import Run
from shoal.utility.examples import Attribute, Floats

SMALL = 1e-6
"""Differences below it do not count, as in J48."""

DEEPEST = 100
"""No tree is deeper. J48 sets no bound: where a class alternates along a number, each level takes off one end."""

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

    @property
    def leaf(self) -> bool:
        return not self.branches

    @property
    def classes(self) -> Floats:
        totals: Floats = self.counts.sum(axis=0)
        return totals

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def wrong(self) -> float:
        """The weight of the training records that are not of the most frequent class."""
        return self.total - float(self.classes.max(initial=0.0))

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


@dataclass(frozen=True, kw_only=True)
class _Split:
    attribute: int
    threshold: float | None
    counts: Floats
    gain: float
    ratio: float


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows a tree over the records `rows` of classes `labels`.

    `smallest` is the least weight that two branches must have, `confidence` that of the pessimistic error; without
    `prune` the tree is left as it grew.
    """

    attributes: Sequence[Attribute]
    rows: Floats
    labels: Ints
    classes: int
    smallest: float = 2
    confidence: float = 0.25
    prune: bool = True
    raising: bool = True
    run: Run = field(default_factory=Run)

    def grown(self) -> Node:
        everyone = np.arange(len(self.labels))
        root = self._grown(everyone, np.ones(len(everyone)), DEEPEST)
        self._collapse(root)
        if self.prune:
            self._prune(root)
        return root

    def _grown(self, rows: Ints, weights: Floats, levels: int) -> Node:
        self.run.check()
        counts = self._counted(self.labels[rows], weights)
        node = Node(counts[None, :], rows, weights)
        split = self._chosen(rows, weights, counts) if levels else None
        if split is None:
            return node
        node.attribute, node.threshold, node.counts = split.attribute, split.threshold, split.counts
        self._add_unknown(node)
        if split.threshold is not None:
            # The threshold is the greatest value of the table that is not above the middle.
            column = self.rows[:, split.attribute]
            with np.errstate(invalid="ignore"):
                node.threshold = float(column[column <= split.threshold + SMALL].max())
        node.branches = [self._grown(*part, levels - 1) for part in self._parted(node, rows, weights)]
        return node

    def _counted(self, labels: Ints, weights: Floats) -> Floats:
        found: Floats = np.bincount(labels, weights=weights, minlength=self.classes).astype(np.float64)
        return found

    def _chosen(self, rows: Ints, weights: Floats, counts: Floats) -> _Split | None:
        """The best split: of those of at least average gain, the one of greatest gain ratio; the first of equals."""
        total = float(counts.sum())
        if total < 2 * self.smallest - SMALL or abs(total - counts.max()) < SMALL:
            return None
        most = 0.3 * len(self.labels)
        crowded = all(each.values is not None and len(each.values) >= most - SMALL for each in self.attributes)
        splits, gains = [], []
        for place, attribute in enumerate(self.attributes):
            self.run.check()
            column = self.rows[rows, place]
            if attribute.values is None:
                split = self._numeric(place, column, self.labels[rows], weights, total)
            else:
                split = self._nominal(place, len(attribute.values), column, self.labels[rows], weights, total)
            if split is None:
                continue
            splits.append(split)
            if attribute.values is None or crowded or len(attribute.values) < most - SMALL:
                gains.append(split.gain)
        if not gains:
            return None
        average, best = sum(gains) / len(gains), None
        for split in splits:
            if split.gain >= average - 1e-3 and split.ratio > (best.ratio if best else 0.0) + SMALL:
                best = split
        return best

    def _nominal(
        self, place: int, values: int, column: Floats, labels: Ints, weights: Floats, total: float
    ) -> _Split | None:
        known = ~np.isnan(column)
        cells = column[known].astype(np.int64) * self.classes + labels[known]
        counts = np.bincount(cells, weights=weights[known], minlength=values * self.classes).astype(np.float64)
        counts = counts.reshape(values, -1)
        if int((counts.sum(axis=1) >= self.smallest - SMALL).sum()) < 2:
            return None
        gain = float(_gains(counts[None], total)[0])
        return _Split(
            attribute=place,
            threshold=None,
            counts=counts,
            gain=gain,
            ratio=_ratio(counts, total, gain),
        )

    def _numeric(self, place: int, column: Floats, labels: Ints, weights: Floats, total: float) -> _Split | None:
        order = np.argsort(column, kind="stable")
        known = int((~np.isnan(column)).sum())
        order = order[:known]
        values = column[order]
        table = np.zeros((known, self.classes))
        table[np.arange(known), labels[order]] = weights[order]
        below = np.cumsum(table, axis=0)
        everything = below[-1] if known else np.zeros(self.classes)
        least = 0.1 * float(everything.sum()) / self.classes
        least = self.smallest if least <= self.smallest + SMALL else min(least, 25.0)
        if known < 2 * least - SMALL:
            return None
        cuts = np.flatnonzero(values[:-1] + 1e-5 < values[1:])
        sizes = below[cuts].sum(axis=1)
        enough = (sizes >= least - SMALL) & (everything.sum() - sizes >= least - SMALL)
        cuts = cuts[enough]
        if not len(cuts):
            return None
        gains = _gains(np.stack([below[cuts], everything - below[cuts]], axis=1), total)
        best, chosen = 0.0, -1
        while True:  # the first that is better by more than rounding, then the next one
            better = np.flatnonzero(gains[chosen + 1 :] > best + SMALL)
            if not len(better):
                break
            chosen += 1 + int(better[0])
            best = float(gains[chosen])
        gain = best - np.log2(len(cuts)) / total
        if chosen < 0 or gain <= SMALL:
            return None
        cut = int(cuts[chosen])
        middle = (values[cut + 1] + values[cut]) / 2
        threshold = float(values[cut] if middle == values[cut + 1] else middle)
        counts = np.stack([below[cut], everything - below[cut]])
        return _Split(attribute=place, threshold=threshold, counts=counts, gain=gain, ratio=_ratio(counts, total, gain))

    def _add_unknown(self, node: Node) -> None:
        """Records whose value is missing count in every branch, by its share."""
        assert node.attribute is not None
        unknown = np.isnan(self.rows[node.rows, node.attribute])
        if unknown.any():
            shares = node.counts.sum(axis=1)
            total = shares.sum()
            shares = shares / total if total > SMALL else np.full(len(shares), 1 / len(shares))
            missing = self._counted(self.labels[node.rows[unknown]], node.weights[unknown])
            node.counts = node.counts + shares[:, None] * missing

    def _parted(self, node: Node, rows: Ints, weights: Floats) -> list[tuple[Ints, Floats]]:
        """The records that go down each branch, with their weights."""
        assert node.attribute is not None
        column = self.rows[rows, node.attribute]
        branch = branches_of(node, column)
        shares = node.counts.sum(axis=1) / max(node.total, SMALL)
        parts = []
        for place, share in enumerate(shares.tolist()):
            inside = branch == place
            if share > SMALL:
                inside = inside | (branch < 0)
            part = rows[inside]
            parts.append((part, np.where(branch[inside] < 0, weights[inside] * share, weights[inside])))
        return parts

    def _reset(self, node: Node, rows: Ints, weights: Floats) -> None:
        """The same split with other records."""
        node.rows, node.weights = rows, weights
        if node.leaf:
            node.counts = self._counted(self.labels[rows], weights)[None, :]
            return
        node.counts = self._branch_counts(node, rows, weights)
        self._add_unknown(node)
        for branch, part in zip(node.branches, self._parted(node, rows, weights), strict=True):
            self._reset(branch, *part)

    def _branch_counts(self, node: Node, rows: Ints, weights: Floats) -> Floats:
        assert node.attribute is not None
        branch = branches_of(node, self.rows[rows, node.attribute])
        known = branch >= 0
        cells = branch[known] * self.classes + self.labels[rows[known]]
        size = len(node.branches)
        counts = np.bincount(cells, weights=weights[known], minlength=size * self.classes)
        return counts.reshape(size, -1).astype(np.float64)

    def _collapse(self, node: Node) -> None:
        """Makes leaves of nodes whose branches are no better on the training records."""
        if node.leaf:
            return
        self.run.check()
        if sum(leaf.wrong for leaf, _ in node.leaves()) >= node.wrong - 1e-3:
            node.become_leaf()
            return
        for branch in node.branches:
            self._collapse(branch)

    def _prune(self, node: Node) -> None:
        """Bottom-up: a leaf, or the largest branch in the place of the node, where that is no worse by estimate."""
        if node.leaf:
            return
        for branch in node.branches:
            self._prune(branch)
        while not node.leaf:
            self.run.check()
            sizes = node.counts.sum(axis=1)
            # of equally large ones the last
            largest = node.branches[int(len(sizes) - 1 - np.argmax(sizes[::-1]))]
            raised = self._estimated(largest, node.rows, node.weights) if self.raising else np.inf
            as_leaf = _pessimistic(node.total, node.wrong, self.confidence)
            as_tree = sum(_pessimistic(leaf.total, leaf.wrong, self.confidence) for leaf, _ in node.leaves())
            if as_leaf <= as_tree + 0.1 + SMALL and as_leaf <= raised + 0.1 + SMALL:
                node.become_leaf()
            elif raised <= as_tree + 0.1 + SMALL:
                node.attribute, node.threshold = largest.attribute, largest.threshold
                node.branches, node.counts = largest.branches, largest.counts
                self._reset(node, node.rows, node.weights)
                for branch in node.branches:
                    self._prune(branch)
            else:
                return

    def _estimated(self, node: Node, rows: Ints, weights: Floats) -> float:
        """The pessimistic error of a branch if all these records went down it."""
        self.run.check()
        if node.leaf:
            counts = self._counted(self.labels[rows], weights)
            return _pessimistic(float(counts.sum()), float(counts.sum() - counts.max(initial=0.0)), self.confidence)
        trial = Node(
            self._branch_counts(node, rows, weights), rows, weights, node.attribute, node.threshold, node.branches
        )
        self._add_unknown(trial)
        return sum(
            self._estimated(branch, *part)
            for branch, part in zip(node.branches, self._parted(trial, rows, weights), strict=True)
        )


def branches_of(node: Node, column: Floats) -> Ints:
    """The branch that each value takes at a node; negative: it is missing."""
    known = ~np.isnan(column)
    branch = np.full(len(column), -1, np.int64)
    if node.threshold is None:
        branch[known] = column[known].astype(np.int64)
    else:
        branch[known] = column[known] > node.threshold + SMALL
    return branch


def probabilities(root: Node, rows: Floats) -> Floats:
    """The probability of each class for each record: the shares of the leaves that it reaches."""
    found = np.zeros((len(rows), root.counts.shape[1]))
    stack: list[tuple[Node, Ints, Floats]] = [(root, np.arange(len(rows)), np.ones(len(rows)))]
    while stack:
        node, reached, weights = stack.pop()
        if node.leaf:
            found[reached] += weights[:, None] * node.shares()
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
                found[reached[here]] += weights[here][:, None] * own
            elif here.any():
                stack.append((son, reached[here], weights[here]))
            lost = branch < 0
            if lost.any() and not empty:
                stack.append((son, reached[lost], weights[lost] * shares[place]))
    return found


def _entropy_terms(counts: Floats) -> Floats:
    """x log2 x, nothing where there is (almost) nothing."""
    safe = np.where(counts < SMALL, 1.0, counts)
    terms: Floats = np.where(counts < SMALL, 0.0, counts * np.log2(safe))
    return terms


def _gains(counts: Floats, total: float) -> Floats:
    """The information gain of each split `counts[s, branch, class]`; records whose value is missing lower it."""
    known = counts.sum(axis=(1, 2))
    before = _entropy_terms(known) - _entropy_terms(counts.sum(axis=1)).sum(axis=1)
    after = (_entropy_terms(counts.sum(axis=2)) - _entropy_terms(counts).sum(axis=2)).sum(axis=1)
    gained = (before - after) * known / total
    found: Floats = np.where(np.abs(gained) < SMALL, 0.0, gained / np.where(known > 0, known, 1.0))
    return found


def _ratio(counts: Floats, total: float, gain: float) -> float:
    """The gain by the information of the split itself, missing values as a branch of their own."""
    sizes = counts.sum(axis=1)
    known = float(sizes.sum())
    information = 0.0
    if known > SMALL:
        parts = np.append(sizes, max(total - known, 0.0))
        information = float(_entropy_terms(np.array([total]))[0] - _entropy_terms(parts).sum())
    return 0.0 if abs(information) < SMALL else gain / (information / total)


def _pessimistic(total: float, wrong: float, confidence: float) -> float:
    """The errors of a leaf and what must be added for the upper end of their confidence interval."""
    return wrong + _added(total, wrong, confidence) if total > SMALL else 0.0


@lru_cache(maxsize=1 << 16)
def _added(total: float, wrong: float, confidence: float) -> float:
    if wrong < 1:
        base = total * (1 - confidence ** (1 / total))
        return float(base) if wrong == 0 else base + wrong * (_added(total, 1.0, confidence) - base)
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (wrong + 0.5) / total
    root = math.sqrt(f / total - f * f / total + z * z / (4 * total * total))
    upper = (f + z * z / (2 * total) + z * root) / (1 + z * z / total)
    return float(upper * total - wrong)
