"""Classification trees after C4.5 (Quinlan, 1993), as WEKA's J48 grows and prunes them.

A node splits on one attribute: into one branch a value where values are names, at a threshold where they are numbers.
Records whose value is missing go down every branch with a share of their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.core.hierarchy import Floats
from shoal.core.run import Run
from shoal.utility.examples import Attribute
from shoal.utility.split_criteria import SMALL, gain_ratio, information_gains, pessimistic_errors
from shoal.utility.tree_nodes import Ints, Node, branches_of, value_branches

DEEPEST = 100
"""No tree is deeper. J48 sets no bound: where a class alternates along a number, each level takes off one end."""

MANY = 1 << 12
"""Records from which on columns are counted one at a time."""

MOST_NUMBERS = 1 << 10
"""Different numbers of a column up to which records are counted by them, not sorted."""


@dataclass(frozen=True, kw_only=True)
class _Split:
    attribute: int
    threshold: float | None
    counts: Floats
    gain: float
    ratio: float


class _Names(NamedTuple):
    """The columns of names: their places, where the values of each begin among those of all (and the last ones end),
    and the value of each record in each, counted so; negative: it is missing."""

    places: tuple[int, ...]
    ends: Ints
    codes: Ints


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
    numbers: dict[int, Floats] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _names(self) -> _Names:
        sizes = {place: len(each.values) for place, each in enumerate(self.attributes) if each.values is not None}
        ends = np.cumsum([0, *sizes.values()])
        codes = np.empty((len(sizes), len(self.rows)), np.int64)
        for at, place in enumerate(sizes):
            own = value_branches(self.rows[:, place])
            codes[at] = np.where(own < 0, -1, own + ends[at])
        return _Names(tuple(sizes), ends, codes)

    @cached_property
    def _whole(self) -> bool:
        """No value is missing: all weights are 1, so that sums are exact in any order."""
        return not bool(np.isnan(self.rows).any())

    @cached_property
    def _ranks(self) -> dict[int, Ints]:
        """The place of each record's number among those of its column, where there are few enough to count by them."""
        numeric = [place for place, each in enumerate(self.attributes) if each.values is None and self._whole]
        few = [place for place in numeric if len(self._values(place)) <= MOST_NUMBERS]
        return {place: np.searchsorted(self._values(place), self.rows[:, place]) for place in few}

    def grow(self) -> Node:
        everyone = np.arange(len(self.labels))
        root = self._node(everyone, np.ones(len(everyone)), DEEPEST)
        self._collapse(root)
        if self.prune:
            self._prune(root)
        return root

    def _node(self, rows: Ints, weights: Floats, levels: int) -> Node:
        self.run.check()
        counts = self._class_weights(self.labels[rows], weights)
        node = Node(counts[None, :], rows, weights)
        split = self._best_split(rows, weights, counts) if levels else None
        if split is None:
            return node
        node.attribute, node.threshold, node.counts = split.attribute, split.threshold, split.counts
        self._add_unknown(node)
        if split.threshold is not None:
            # The threshold is the greatest value of the table that is not above the middle.
            values = self._values(split.attribute)
            node.threshold = float(values[np.searchsorted(values, split.threshold + SMALL, side="right") - 1])
        node.branches = [self._node(*part, levels - 1) for part in self._parts(node, self._branches(node))]
        return node

    def _values(self, place: int) -> Floats:
        """The different numbers of a column, in order; taken once for all nodes."""
        if place not in self.numbers:
            column = self.rows[:, place]
            self.numbers[place] = np.unique(column[~np.isnan(column)])
        return self.numbers[place]

    def _class_weights(self, labels: Ints, weights: Floats) -> Floats:
        return np.bincount(labels, weights=weights, minlength=self.classes).astype(np.float64)

    def _branch_weights(self, branch: Ints, labels: Ints, weights: Floats, size: int) -> Floats:
        """The weight of each class in each of so many branches; records in none do not count. Several columns, one a
        row, may have their branches."""
        cells = branch * self.classes + labels
        if self._whole:
            counts = np.bincount(cells.ravel(), minlength=size * self.classes)
        else:
            known = branch >= 0
            weights = np.broadcast_to(weights, branch.shape)[known]
            counts = np.bincount(cells[known], weights=weights, minlength=size * self.classes)
        return counts.reshape(size, -1).astype(np.float64)

    def _best_split(self, rows: Ints, weights: Floats, counts: Floats) -> _Split | None:
        """The best split: of those of at least average gain, the one of greatest gain ratio; the first of equals."""
        total = float(counts.sum())
        if total < 2 * self.smallest - SMALL or abs(total - counts.max()) < SMALL:
            return None
        most = 0.3 * len(self.labels)
        crowded = all(each.values is not None and len(each.values) >= most - SMALL for each in self.attributes)
        splits, gains = [], []
        labels = self.labels[rows]
        by_name = self._by_name(rows, labels, weights)
        for place, attribute in enumerate(self.attributes):
            self.run.check()
            if attribute.values is None:
                split = self._numeric(place, rows, labels, weights, total)
            else:
                split = self._nominal(place, by_name[place], total) if place in by_name else None
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

    def _by_name(self, rows: Ints, labels: Ints, weights: Floats) -> dict[int, Floats]:
        """The weight of each class with each value, of the columns of names that can split these records."""
        names, able = self._names, {}
        step = 1 if len(rows) > MANY else max(len(names.places), 1)  # all at once, or less memory
        for at in range(0, len(names.places), step):
            begin, end = names.ends[at], names.ends[at + step]
            codes = names.codes[at : at + step, rows]
            branch = codes - begin if self._whole else np.where(codes < 0, -1, codes - begin)
            counts = self._branch_weights(branch, labels, weights, int(end - begin))
            large = np.append(0, np.cumsum(counts.sum(axis=1) >= self.smallest - SMALL))
            ends = names.ends[at : at + step + 1] - begin
            for place in np.flatnonzero(large[ends[1:]] - large[ends[:-1]] >= 2).tolist():
                able[names.places[at + place]] = counts[ends[place] : ends[place + 1]].copy()
        return able

    def _nominal(self, place: int, counts: Floats, total: float) -> _Split:
        gain = float(information_gains(counts[None], total)[0])
        ratio = gain_ratio(counts, total, gain)
        return _Split(attribute=place, threshold=None, counts=counts, gain=gain, ratio=ratio)

    def _numeric(self, place: int, rows: Ints, labels: Ints, weights: Floats, total: float) -> _Split | None:
        values, below, known = self._below(place, rows, labels, weights)
        cuts = np.flatnonzero(values[:-1] + 1e-5 < values[1:])
        if not len(cuts):
            return None
        everything = below[-1]
        least = 0.1 * float(everything.sum()) / self.classes
        least = self.smallest if least <= self.smallest + SMALL else min(least, 25.0)
        if known < 2 * least - SMALL:
            return None
        sizes = below[cuts].sum(axis=1)
        enough = (sizes >= least - SMALL) & (everything.sum() - sizes >= least - SMALL)
        cuts = cuts[enough]
        if not len(cuts):
            return None
        gains = information_gains(np.stack([below[cuts], everything - below[cuts]], axis=1), total)
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
        ratio = gain_ratio(counts, total, gain)
        return _Split(attribute=place, threshold=threshold, counts=counts, gain=gain, ratio=ratio)

    def _below(self, place: int, rows: Ints, labels: Ints, weights: Floats) -> tuple[Floats, Floats, int]:
        """Numbers in order, the weight of each class up to each of them, and how many records have one."""
        ranks = self._ranks.get(place)
        if ranks is not None and len(rows) >= len(self._values(place)):
            counts = self._branch_weights(ranks[rows], labels, weights, len(self._values(place)))
            present = counts.any(axis=1)
            return self._values(place)[present], np.cumsum(counts[present], axis=0), len(rows)
        column = self.rows[rows, place]
        order = np.argsort(column, kind="stable")
        known = int((~np.isnan(column)).sum())
        order = order[:known]
        values = column[order]
        if not known or not (values[:-1] + 1e-5 < values[1:]).any():
            return values[:1], np.zeros((1, self.classes)), known
        table = np.zeros((known, self.classes))
        table[np.arange(known), labels[order]] = weights[order]
        return values, np.cumsum(table, axis=0), known

    def _add_unknown(self, node: Node) -> None:
        """Records whose value is missing count in every branch, by its share."""
        if self._whole:
            return
        assert node.attribute is not None
        unknown = np.isnan(self.rows[node.rows, node.attribute])
        if unknown.any():
            shares = node.counts.sum(axis=1)
            total = shares.sum()
            shares = shares / total if total > SMALL else np.full(len(shares), 1 / len(shares))
            missing = self._class_weights(self.labels[node.rows[unknown]], node.weights[unknown])
            node.counts = node.counts + shares[:, None] * missing

    def _branches(self, node: Node) -> Ints:
        """The branch that each record of a node takes; negative: its value is missing."""
        assert node.attribute is not None
        return branches_of(node, self.rows[node.rows, node.attribute])

    def _parts(self, node: Node, branch: Ints) -> list[tuple[Ints, Floats]]:
        """The records that go down each branch, with their weights."""
        if branch.min(initial=0) >= 0:
            narrow = branch.astype(np.int16) if len(node.counts) < 1 << 15 else branch  # sorted by digits
            order = np.argsort(narrow, kind="stable")
            rows, weights = node.rows[order], node.weights[order]
            ends = np.cumsum(np.bincount(branch, minlength=len(node.counts))).tolist()
            return [(rows[begin:end], weights[begin:end]) for begin, end in pairwise([0, *ends])]
        shares = node.counts.sum(axis=1) / max(node.total, SMALL)
        parts = []
        for place, share in enumerate(shares.tolist()):
            inside = branch == place
            if share > SMALL:
                inside = inside | (branch < 0)
            weights = node.weights[inside]
            parts.append((node.rows[inside], np.where(branch[inside] < 0, weights * share, weights)))
        return parts

    def _reset(self, node: Node, rows: Ints, weights: Floats) -> None:
        """The same split with other records."""
        node.rows, node.weights = rows, weights
        if node.leaf:
            node.counts = self._class_weights(self.labels[rows], weights)[None, :]
            return
        for below, part in zip(node.branches, self._parts(node, self._count_branches(node)), strict=True):
            self._reset(below, *part)

    def _count_branches(self, node: Node) -> Ints:
        """Counts the classes in each branch; returns the branch that each record takes."""
        branch, labels = self._branches(node), self.labels[node.rows]
        node.counts = self._branch_weights(branch, labels, node.weights, len(node.branches))
        self._add_unknown(node)
        return branch

    def _collapse(self, node: Node) -> list[float]:
        """Makes leaves of nodes whose branches are no better on the training records. Returns how many of these are
        wrong in each leaf that there was below."""
        if node.leaf:
            return [node.wrong]
        self.run.check()
        wrong = [each for branch in node.branches for each in self._collapse(branch)]
        if sum(wrong) >= node.wrong - 1e-3:
            node.become_leaf()
        return wrong

    def _prune(self, node: Node) -> list[float]:
        """Bottom-up: a leaf, or the largest branch in the place of the node, where that is no worse by estimate.
        Returns the pessimistic errors of the leaves below."""
        errors = [error for branch in node.branches for error in self._prune(branch)]
        while not node.leaf:
            self.run.check()
            as_leaf = pessimistic_errors(node.total, node.wrong, self.confidence)
            as_tree = sum(errors)
            sizes = node.counts.sum(axis=1)
            # of equally large ones the last
            largest = node.branches[int(len(sizes) - 1 - np.argmax(sizes[::-1]))]
            # Neither comparison below holds any other way beyond the greater of the two.
            limit = max(as_tree + 0.1 + SMALL, as_leaf - 0.1 - SMALL) + SMALL
            raised = self._estimate(largest, node.rows, node.weights, limit) if self.raising else np.inf
            if as_leaf <= as_tree + 0.1 + SMALL and as_leaf <= raised + 0.1 + SMALL:
                node.become_leaf()
            elif raised <= as_tree + 0.1 + SMALL:
                node.attribute, node.threshold = largest.attribute, largest.threshold
                node.branches, node.counts = largest.branches, largest.counts
                self._reset(node, node.rows, node.weights)
                errors = [error for branch in node.branches for error in self._prune(branch)]
            else:
                return errors
        return [pessimistic_errors(node.total, node.wrong, self.confidence)]

    def _estimate(self, node: Node, rows: Ints, weights: Floats, limit: float) -> float:
        """The pessimistic error of a branch if all these records went down it; stops, with what it has, once that
        exceeds a limit."""
        self.run.check()
        if node.leaf:
            counts = self._class_weights(self.labels[rows], weights)
            total = float(counts.sum())
            return pessimistic_errors(total, float(counts.sum() - counts.max(initial=0.0)), self.confidence)
        trial = replace(node, rows=rows, weights=weights)
        branch = self._count_branches(trial)
        total = 0.0
        for below, part in zip(node.branches, self._parts(trial, branch), strict=True):
            total += self._estimate(below, *part, limit - total)
            if total > limit:
                break
        return total
