"""Groups of enough records from a classification tree, from its leaves up, as kACTUS makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.utility.split_criteria import SMALL
from shoal.utility.tree_nodes import Node, branches_of

Ints = NDArray[np.int64]
Region = tuple[Codes, Codes]
"""The leaves that each quasi-identifier reaches from and to."""


class TreeGroup(NamedTuple):
    """The records of a group, its region in the tree, whether it is a leaf of the tree as it grew, and the node whose
    split value its records are perturbed by, if they are."""

    members: Ints
    region: Region
    whole: bool
    perturbed_by: Node | None = None


@dataclass(frozen=True, eq=False)
class TreeGroups:
    """All groups, the group of each record, how many records were lent, and which quasi-identifier each attribute of
    the tree is; negative: none."""

    groups: tuple[TreeGroup, ...]
    owners: Codes
    lent: int
    places: tuple[int, ...]

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each group is a leaf of the tree as it grew."""
        return np.array([group.whole for group in self.groups])

    def ends(self, place: int) -> tuple[Codes, Codes]:
        """The leaves that the region of each group reaches from and to in one quasi-identifier."""
        low, high = (np.array([group.region[side][place] for group in self.groups], np.int32) for side in (0, 1))
        return low, high


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeGrouper:
    """Makes groups of at least `least` records from a tree, bottom-up.

    The tree was grown on the attributes of `rows` for the classes `labels`; attribute `a` is the quasi-identifier
    `places[a]`, or none where that is negative. Siblings that are too small take a share of up to `crossover` of the
    least size from larger ones, of the purest first or (`at_random`) of all. What still is too small moves up, or, with
    `perturb`, stays a group of its own whose records are perturbed.
    """

    hierarchies: tuple[Hierarchy, ...]
    rows: Floats
    places: tuple[int, ...]
    labels: Ints
    least: int
    crossover: float
    at_random: bool
    perturb: bool
    generator: np.random.Generator

    def of(self, root: Node) -> TreeGroups:
        sizes = [tree.size for tree in self.hierarchies]
        everyone = (np.zeros(len(sizes), np.int32), np.array(sizes, np.int32) - 1)
        groups: list[TreeGroup] = []
        rest, lent = self._emit(root, everyone, np.arange(len(self.rows)), groups)
        if len(rest):
            need = max(0, self.least - len(rest))
            borrowed = self._borrowed(groups, need)
            if borrowed is not None and need:
                rest, lent, groups = np.append(rest, borrowed[0]), lent + need, borrowed[1]
            groups.append(TreeGroup(rest, everyone, root.leaf))
        owners = np.full(len(self.rows), -1, np.int32)
        for number, group in enumerate(groups):
            owners[group.members] = number
        return TreeGroups(tuple(groups), owners, lent, self.places)

    def _emit(self, node: Node, region: Region, rows: Ints, groups: list[TreeGroup]) -> tuple[Ints, int]:
        """Emits the groups below a node; returns the records that are left to it, and how many were lent."""
        if node.leaf:
            return rows, 0
        assert node.attribute is not None
        branches = branches_of(node, self.rows[rows, node.attribute])
        # Whoever has no value goes where most go.
        branches = np.where(branches < 0, int(node.counts.sum(axis=1).argmax()), branches)
        enough: list[TreeGroup] = []
        small, lent = [], 0
        for place, branch in enumerate(node.branches):
            inside = self._inside(node, place, region)
            left, more = self._emit(branch, inside, rows[branches == place], groups)
            lent += more
            if len(left) >= self.least:
                enough.append(TreeGroup(left, inside, branch.leaf))
            elif len(left):
                small.append(left)
        rest = np.concatenate(small) if small else np.zeros(0, np.int64)
        need = self.least - len(rest)
        if len(rest) and 0 < need <= self.crossover * self.least:
            borrowed = self._borrowed(enough, need)
            if borrowed is not None:
                rest, lent, enough = np.append(rest, borrowed[0]), lent + need, borrowed[1]
        if len(rest) >= self.least:
            groups.append(TreeGroup(rest, region, False))
            rest = rest[:0]
        elif len(rest) and self.perturb:
            groups.append(TreeGroup(rest, region, False, node))
            rest = rest[:0]
        groups.extend(enough)
        return rest, lent

    def _borrowed(self, donors: list[TreeGroup], need: int) -> tuple[Ints, list[TreeGroup]] | None:
        """So many records, drawn at random from the donors whose turn it is, none of which is left with too few; and
        the donors with what they keep. None where they cannot spare as many."""
        spare = [0 if donor.perturbed_by else len(donor.members) - self.least for donor in donors]
        if need > sum(spare):
            return None
        lent = np.zeros(len(self.rows), np.bool_)
        for row, donor in self._turns(donors, spare, need):
            if need and spare[donor]:
                lent[row] = True
                spare[donor] -= 1
                need -= 1
        keep = [donor._replace(members=donor.members[~lent[donor.members]]) for donor in donors]
        return np.flatnonzero(lent), keep

    def _turns(self, donors: list[TreeGroup], spare: list[int], need: int) -> list[tuple[int, int]]:
        """The records that could be lent, with their donors, in the order in which they are: all at random, or those of
        the donor of the least class entropy first, of those that can lend all; of equals that with more to spare."""
        order = list(range(len(donors)))
        if not self.at_random:
            order.sort(key=lambda each: (spare[each] < need, self._entropy(donors[each].members), -spare[each]))
        pool = [(row, donor) for donor in order for row in donors[donor].members.tolist()]
        drawn = [pool[place] for place in self.generator.permutation(len(pool)).tolist()]
        turn = {donor: place for place, donor in enumerate(order)}
        return drawn if self.at_random else sorted(drawn, key=lambda each: turn[each[1]])

    def _entropy(self, members: Ints) -> float:
        """The entropy of the classes of some records, in bits."""
        counts = np.bincount(self.labels[members])
        shares = counts[counts > 0] / len(members)
        return round(float(-(shares * np.log2(shares)).sum()), 12)

    def _inside(self, node: Node, branch: int, region: Region) -> Region:
        """The region of a branch: one leaf where values are names, those up to a threshold or above it for numbers."""
        assert node.attribute is not None
        place = self.places[node.attribute]
        if place < 0:
            return region
        low, high = region[0].copy(), region[1].copy()
        tree = self.hierarchies[place]
        if node.threshold is None:
            low[place] = high[place] = branch
        else:
            assert tree.values is not None
            first = int(tree.missing)
            edge = first + int(np.searchsorted(tree.values[first:], node.threshold + SMALL, side="right"))
            if branch:
                low[place] = max(low[place], edge)
            else:
                low[place], high[place] = max(low[place], first), min(high[place], edge - 1)
        return low, high
