"""Grouping the distinct tuples of a table at nodes of the lattice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, Histogram
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Hierarchy
from shoal.core.lattice import Node

PACK = 2048
DENSE = 1 << 24
BASES = 16
SMALL = 1024
SHARE = 2


@dataclass(frozen=True, eq=False)
class Base:
    """Packed grouped at a node: one tuple stands for each class."""

    node: Node
    tuples: Any
    sensitive: tuple[Histogram, ...]
    people: Histogram | None

    def __len__(self) -> int:
        return len(self.tuples.weights)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes of a node: `owners` of each class of the base, and the `sizes`."""

    base: Base
    owners: Codes
    sizes: Counts

    def spread(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which distinct tuples are in the chosen classes."""
        spread: NDArray[np.bool_] = chosen[self.owners][self.base.tuples.owners]
        return spread


class Survey(NamedTuple):
    """The classes of a node, those that are too small, and the records in them; unless these are more than may be left
    out, how often each leaf occurs in them, and the node's score."""

    classes: int
    small: int
    records: int
    left_out: Counts
    score: float


class Groupings:
    """Groups the distinct tuples of a table at nodes of the lattice, in room in proportion to the tuples.

    A node is grouped from the smallest base that it generalizes. Bases are made on the way, a level below the nodes
    that are asked for, because a search asks for their neighbours next.
    """

    def __init__(self, summary: Classes) -> None:
        from shoal.kernels.lattice import Packed, Scratch

        self.summary = summary
        tuples, attributes = len(summary), len(summary.hierarchies)
        packs = _packs(summary.hierarchies)
        self.domain = _domain(summary.hierarchies, packs)
        raw = Packed(_packed(summary, packs), np.ascontiguousarray(summary.sizes), np.arange(tuples, dtype=np.int32))
        self.raw = Base((0,) * attributes, raw, summary.sensitive, summary.people)
        self.bases = [self.raw]
        self.base_nodes = np.zeros((BASES, attributes), dtype=np.int64)
        self.base_sizes = np.full(BASES, tuples, dtype=np.int64)
        self.base_uses = np.zeros(BASES, dtype=np.int64)
        self.clock = 0
        self.tried = {self.raw.node}
        slots = 1 << max(10, (4 * tuples - 1).bit_length())
        entries = sum(prod(summary.hierarchies[attribute].size for attribute in pack) for pack in packs)
        self.scratch = Scratch(
            table=np.empty(entries, dtype=np.int64), slots=np.empty(slots, dtype=np.int32),
            slot_keys=np.empty(slots, dtype=np.int64), owners=np.empty(tuples, dtype=np.int32),
            sizes=np.empty(tuples, dtype=np.int64),
        )  # fmt: skip

    def grouped(self, node: Node) -> Grouping:
        """The classes of a node; its arrays are overwritten by the next call."""
        levels = np.array(node, dtype=np.int64)
        base = self._smallest(levels)
        found = self._from(base, node)
        if self._rebased(node, base, len(found.sizes)):
            found = self._from(self._smallest(levels), node)
        return found

    def surveyed(self, node: Node, least: int, budget: int, charges: Any, scale: Any) -> Survey | None:
        """A node when only sizes count and cells cost what `charges` and `scale` say; None when keys are too wide."""
        from shoal.kernels import lattice as kernel

        levels = np.array(node, dtype=np.int64)
        base = self._smallest(levels)
        found = Survey(*kernel.survey(
            levels, base.tuples, self.raw.tuples, least, budget, charges, scale, self.domain, self.scratch
        ))  # fmt: skip
        if found.classes < 0:
            return None
        self._rebased(node, base, found.classes)
        return found

    def _rebased(self, node: Node, base: Base, classes: int) -> bool:
        """Makes a base below a node that was grouped from far too large a one; says whether."""
        if len(base) <= max(SMALL, len(self.raw) // SHARE, 8 * classes):
            return False
        below = tuple(max(level - 1, 0) for level in node)
        if below in self.tried:
            return False
        self.tried.add(below)
        self._keep(below, self._from(self._smallest(np.array(below, dtype=np.int64)), below))
        return True

    def _smallest(self, levels: Counts) -> Base:
        """The base with the fewest classes that the node generalizes; it is the last one to be given up."""
        from shoal.kernels import lattice as kernel

        at = int(kernel.smallest(self.base_nodes, self.base_sizes, len(self.bases), levels))
        self.clock += 1
        self.base_uses[at] = self.clock
        return self.bases[at]

    def _keep(self, node: Node, found: Grouping) -> None:
        """Makes a base of a grouping, in the place of the one that was used longest ago."""
        from shoal.kernels.lattice import Packed

        classes, held = len(found.sizes), found.base.tuples
        if 2 * classes > len(held.weights):
            return
        place = len(self.bases)
        if place == BASES:
            place = int(self.base_uses[1:].argmin()) + 1
            self.bases.pop(place)
        first = np.empty(classes, dtype=np.int64)
        first[found.owners[::-1]] = np.arange(len(found.owners))[::-1]
        tuples = Packed(np.ascontiguousarray(held.columns[first]), found.sizes.copy(), found.owners[held.owners])
        classes_there = self.classes(found)
        self.bases.insert(place, Base(node, tuples, classes_there.sensitive, classes_there.people))
        self.base_nodes[place], self.base_sizes[place], self.base_uses[place] = node, classes, self.clock

    def _from(self, base: Base, node: Node) -> Grouping:
        from shoal.kernels import lattice as kernel

        classes = kernel.number(np.array(node, dtype=np.int64), base.tuples, self.domain, self.scratch)
        if classes < 0:
            # Keys of more than 64 bits: slower, and the same answer.
            trees = self.summary.hierarchies
            columns = [
                tree.codes[level][keys] for tree, level, keys in zip(trees, node, self.summary.keys, strict=True)
            ]
            radices = [int(self.domain.widths[position, level]) for position, level in enumerate(node)]
            found = group(columns, radices, weights=self.raw.tuples.weights, index=True)
            assert found.index is not None
            return Grouping(self.raw, found.index, found.counts)
        return Grouping(base, self.scratch.owners[: len(base)], self.scratch.sizes[:classes])

    def counted(self, found: Grouping, chosen: NDArray[np.bool_]) -> Counts:
        """How often each leaf occurs in the records of the chosen classes."""
        from shoal.kernels import lattice as kernel

        counts: Counts = kernel.tally(
            found.base.tuples.owners, chosen[found.owners], self.raw.tuples, self.domain, self.scratch.table
        )
        return counts

    def classes(self, found: Grouping) -> Classes:
        """The classes as models judge them, with sensitive histograms and without keys."""
        histograms = tuple(self._rolled(held, found) for held in found.base.sensitive)
        people = None if found.base.people is None else self._rolled(found.base.people, found)
        keys = np.zeros((0, len(found.sizes)), dtype=np.int32)
        return Classes(self.summary.attributes, keys, found.sizes.copy(), histograms, (), self.summary.records, people)

    def _rolled(self, held: Histogram, found: Grouping) -> Histogram:
        from shoal.kernels import lattice as kernel

        size, classes = len(held.population), len(found.sizes)
        riding = held.contexts is not None or held.people is not None
        if riding or classes * size > max(DENSE, 64 * len(found.owners)):
            return held.rolled(found.owners, classes)
        starts, values, counts = kernel.histogram(found.owners, held.owners, held.values, held.counts, classes, size)
        return Histogram(held.column, starts, values, counts, held.population, held.hierarchy)


def _packs(trees: Sequence[Hierarchy]) -> list[list[int]]:
    """The attributes of each packed column: those with few leaves in one, first-fit, the ones with many first."""
    packs: list[list[int]] = []
    room: list[int] = []
    for attribute in sorted(range(len(trees)), key=lambda attribute: -trees[attribute].size):
        leaves = trees[attribute].size
        fitting = next((pack for pack, left in enumerate(room) if left >= leaves), None)
        if fitting is None:
            packs.append([attribute])
            room.append(PACK // leaves)
        else:
            packs[fitting].append(attribute)
            room[fitting] //= leaves
    return packs


def _packed(summary: Classes, packs: Sequence[Sequence[int]]) -> Codes:
    """The distinct tuples as packed columns, one row each."""
    packed = np.zeros((len(summary), len(packs)), dtype=np.int32)
    for column, pack in zip(packed.T, packs, strict=True):
        for attribute in pack:
            column *= summary.hierarchies[attribute].size
            column += summary.keys[attribute]
    return packed


def _domain(trees: Sequence[Hierarchy], packs: Sequence[Sequence[int]]) -> Any:
    """Packed columns and hierarchies as the kernels read them."""
    from shoal.kernels.lattice import Domain

    def starts(counts: Iterable[int]) -> Counts:
        """Where things begin that stand one after the other."""
        return np.array(list(accumulate(counts, initial=0))[:-1], dtype=np.int64)

    widths = np.ones((len(trees), max(tree.height for tree in trees) + 1), dtype=np.int64)
    for position, tree in enumerate(trees):
        widths[position, : tree.height + 1] = tree.codes[:, -1] + 1
    return Domain(
        members=np.array([attribute for pack in packs for attribute in pack], dtype=np.int64),
        starts=np.cumsum([0, *(len(pack) for pack in packs)]).astype(np.int64),
        pack_starts=starts(prod(trees[attribute].size for attribute in pack) for pack in packs),
        leaf_counts=np.array([tree.size for tree in trees], dtype=np.int64),
        leaf_starts=starts(tree.size for tree in trees),
        codes=np.concatenate([tree.codes.ravel() for tree in trees]).astype(np.int64),
        code_starts=starts(tree.codes.size for tree in trees),
        widths=widths,
    )
