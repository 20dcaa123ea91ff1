"""The distinct tuples of a table, and groupings of them that further groupings start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.classes import Classes, Histogram
from shoal.core.grouping import group
from shoal.core.lattice import Node

PACK = 2048
DENSE = 1 << 24
BASES = 16
SMALL = 1024
SHARE = 4


@dataclass(frozen=True, eq=False)
class Base:
    """Tuples grouped at a node: one tuple stands for each class. `owners` has the class of each distinct tuple."""

    node: Node
    packed: Any
    weights: Any
    owners: Any
    sensitive: tuple[Histogram, ...]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes of a node: `owners` of each class of the base, and the `sizes`."""

    base: Base
    owners: Any
    sizes: Any


class Tuples:
    """Packed columns, hierarchies as flat arrays, and room to work in: all of it in proportion to the tuples.

    A node is grouped from the smallest base that it generalizes. Bases are made on the way, a level below the nodes
    that are asked for, because a search asks for their neighbours next.
    """

    def __init__(self, summary: Classes) -> None:
        self.summary = summary
        trees = summary.hierarchies
        self.leaf_counts = np.array([tree.size for tree in trees], dtype=np.int64)
        self.leaf_starts = np.cumsum(self.leaf_counts) - self.leaf_counts
        self.codes = np.concatenate([tree.codes.ravel() for tree in trees]).astype(np.int64)
        rows = np.array([tree.codes.size for tree in trees], dtype=np.int64)
        self.code_starts = np.cumsum(rows) - rows
        self.widths = np.ones((len(trees), max(tree.height for tree in trees) + 1), dtype=np.int64)
        for position, tree in enumerate(trees):
            self.widths[position, : tree.height + 1] = tree.codes[:, -1] + 1
        tuples = len(summary)
        self.raw = Base(
            tuple(0 for _ in trees), self._packed(), np.ascontiguousarray(summary.sizes),
            np.arange(tuples, dtype=np.int32), summary.sensitive,
        )  # fmt: skip
        self.bases = [self.raw]
        self.base_nodes = np.zeros((BASES, len(trees)), dtype=np.int64)
        self.base_sizes = np.full(BASES, tuples, dtype=np.int64)
        self.base_uses = np.zeros(BASES, dtype=np.int64)
        self.clock = 0
        self.tried = {self.raw.node}
        self.owners = np.empty(tuples, dtype=np.int32)
        self.sizes = np.empty(tuples, dtype=np.int64)
        self.slots = np.empty(1 << max(10, (4 * tuples - 1).bit_length()), dtype=np.int32)
        self.slot_keys = np.empty(len(self.slots), dtype=np.int64)

    def _packed(self) -> Any:
        """Attributes with few leaves in one column, first-fit, the ones with many leaves first."""
        packs: list[list[int]] = []
        room: list[int] = []
        for attribute in np.argsort(-self.leaf_counts, kind="stable").tolist():
            leaves = int(self.leaf_counts[attribute])
            fitting = next((pack for pack, left in enumerate(room) if left >= leaves), None)
            if fitting is None:
                packs.append([attribute])
                room.append(PACK // leaves)
            else:
                packs[fitting].append(attribute)
                room[fitting] //= leaves
        columns = []
        for pack in packs:
            column = np.zeros(len(self.summary), dtype=np.int64)
            for attribute in pack:
                column = column * self.leaf_counts[attribute] + self.summary.keys[attribute]
            columns.append(column)
        entries = np.array([int(np.prod(self.leaf_counts[pack])) for pack in packs], dtype=np.int64)
        self.members = np.array([attribute for pack in packs for attribute in pack], dtype=np.int64)
        self.starts = np.cumsum([0, *(len(pack) for pack in packs)]).astype(np.int64)
        self.pack_starts = np.cumsum(entries) - entries
        self.table = np.empty(int(entries.sum()), dtype=np.int64)
        return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))

    def grouped(self, node: Node) -> Grouping:
        """The classes of a node; its arrays are overwritten by the next call."""
        base = self._smallest(node)
        found = self._from(base, node)
        if self._rebased(node, base, len(found.sizes)):
            found = self._from(self._smallest(node), node)
        return found

    def surveyed(self, node: Node, least: int, budget: int) -> tuple[int, int, int, Any] | None:
        """When only sizes count: the number of classes, how many are below `least` and the records in them, and the
        leaves of those records unless they are none or more than `budget`. None when keys are too wide for that."""
        from shoal.kernels import lattice as kernel

        base = self._smallest(node)
        classes, small, records, counts = kernel.survey(
            np.array(node, dtype=np.int64), base.packed, base.weights, base.owners, self.raw.packed, self.raw.weights,
            least, budget, self.members, self.starts, self.leaf_counts, self.leaf_starts, self.codes, self.code_starts,
            self.widths, self.pack_starts, self.table, self.slots, self.slot_keys, self.owners, self.sizes,
        )  # fmt: skip
        if classes < 0:
            return None
        self._rebased(node, base, classes)
        return classes, small, records, counts

    def _rebased(self, node: Node, base: Base, classes: int) -> bool:
        """Makes a base below a node that was grouped from far too large a one; says whether."""
        if len(base.weights) <= max(SMALL, len(self.raw.weights) // SHARE, 8 * classes):
            return False
        below = tuple(max(level - 1, 0) for level in node)
        if below in self.tried:
            return False
        self.tried.add(below)
        self._keep(below, self._from(self._smallest(below), below))
        return True

    def _smallest(self, node: Node) -> Base:
        """The base with the fewest classes that the node generalizes; it is the last one to be given up."""
        fitting = (self.base_nodes[: len(self.bases)] <= node).all(axis=1)
        at = int(np.where(fitting, self.base_sizes[: len(self.bases)], len(self.raw.weights) + 1).argmin())
        self.clock += 1
        self.base_uses[at] = self.clock
        return self.bases[at]

    def _keep(self, node: Node, found: Grouping) -> None:
        """Makes a base of a grouping, in the place of the one that was used longest ago."""
        classes = len(found.sizes)
        if 2 * classes > len(found.base.weights):
            return
        place = len(self.bases)
        if place == BASES:
            place = int(self.base_uses[1:].argmin()) + 1
            self.bases.pop(place)
        first = np.empty(classes, dtype=np.int64)
        first[found.owners[::-1]] = np.arange(len(found.owners))[::-1]
        made = Base(
            node, np.ascontiguousarray(found.base.packed[first]), found.sizes.copy(), found.owners[found.base.owners],
            self.classes(found).sensitive,
        )  # fmt: skip
        self.bases.insert(place, made)
        self.base_nodes[place], self.base_sizes[place], self.base_uses[place] = node, classes, self.clock

    def _from(self, base: Base, node: Node) -> Grouping:
        from shoal.kernels import lattice as kernel

        classes = kernel.number(
            np.array(node, dtype=np.int64), base.packed, base.weights, self.members, self.starts, self.leaf_counts,
            self.codes, self.code_starts, self.widths, self.pack_starts, self.table, self.slots, self.slot_keys,
            self.owners, self.sizes,
        )  # fmt: skip
        if classes < 0:
            # Keys of more than 64 bits: slower, and the same answer.
            trees = self.summary.hierarchies
            columns = [
                tree.codes[level][keys] for tree, level, keys in zip(trees, node, self.summary.keys, strict=True)
            ]
            radices = [int(self.widths[position, level]) for position, level in enumerate(node)]
            found = group(columns, radices, weights=self.raw.weights, index=True)
            return Grouping(self.raw, found.index, found.counts)
        return Grouping(base, self.owners[: len(base.weights)], self.sizes[:classes])

    def counted(self, found: Grouping, chosen: Any) -> Any:
        """How often each leaf occurs in the records of the chosen classes."""
        from shoal.kernels import lattice as kernel

        return kernel.tally(
            found.base.owners, chosen[found.owners], self.raw.packed, self.raw.weights, self.members, self.starts,
            self.leaf_counts, self.leaf_starts, self.pack_starts, self.table,
        )  # fmt: skip

    def spread(self, found: Grouping, chosen: Any) -> Any:
        """Which distinct tuples are in the chosen classes."""
        return chosen[found.owners][found.base.owners]

    def classes(self, found: Grouping) -> Classes:
        """The classes as models judge them, with sensitive histograms and without keys."""
        histograms = tuple(self._rolled(held, found) for held in found.base.sensitive)
        keys = np.zeros((0, len(found.sizes)), dtype=np.int32)
        return Classes(self.summary.attributes, keys, found.sizes.copy(), histograms, (), self.summary.records)

    def _rolled(self, held: Histogram, found: Grouping) -> Histogram:
        from shoal.kernels import lattice as kernel

        size, classes = len(held.population), len(found.sizes)
        if held.contexts is not None or classes * size > max(DENSE, 64 * len(found.owners)):
            return held.rolled(found.owners, classes)
        starts, values, counts = kernel.histogram(found.owners, held.owners, held.values, held.counts, classes, size)
        return Histogram(held.column, starts, values, counts, held.population, held.hierarchy)
