"""The distinct tuples of a table as the lattice kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.classes import Classes, Histogram
from shoal.core.grouping import group
from shoal.core.lattice import Node

PACK = 1024
DENSE = 1 << 24


class Tuples:
    """Packed columns, hierarchies as flat arrays, and room to work in: all of it in proportion to the tuples."""

    def __init__(self, summary: Classes) -> None:
        self.summary = summary
        trees = summary.hierarchies
        self.weights = np.ascontiguousarray(summary.sizes)
        self.leaf_counts = np.array([tree.size for tree in trees], dtype=np.int64)
        self.leaf_starts = np.cumsum(self.leaf_counts) - self.leaf_counts
        self.codes = np.concatenate([tree.codes.ravel() for tree in trees]).astype(np.int64)
        rows = np.array([tree.codes.size for tree in trees], dtype=np.int64)
        self.code_starts = np.cumsum(rows) - rows
        self.widths = np.ones((len(trees), max(tree.height for tree in trees) + 1), dtype=np.int64)
        for position, tree in enumerate(trees):
            self.widths[position, : tree.height + 1] = tree.codes[:, -1] + 1
        self._pack()
        tuples = len(summary)
        self.owners = np.empty(tuples, dtype=np.int32)
        self.sizes = np.empty(tuples, dtype=np.int64)
        self.slots = np.empty(1 << max(10, (4 * tuples - 1).bit_length()), dtype=np.int32)
        self.slot_keys = np.empty(len(self.slots), dtype=np.int64)

    def _pack(self) -> None:
        """Packs attributes first-fit, the ones with many leaves first."""
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
        self.packed = np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))
        self.members = np.array([attribute for pack in packs for attribute in pack], dtype=np.int64)
        self.starts = np.cumsum([0, *(len(pack) for pack in packs)]).astype(np.int64)
        self.pack_starts = np.cumsum(entries) - entries
        self.table = np.empty(int(entries.sum()), dtype=np.int64)

    def grouped(self, node: Node) -> tuple[Any, Any]:
        """The class of each tuple and the size of each class; both are overwritten by the next call."""
        from shoal.kernels import lattice as kernel

        classes = kernel.number(
            np.array(node, dtype=np.int64), self.packed, self.weights, self.members, self.starts, self.leaf_counts,
            self.codes, self.code_starts, self.widths, self.pack_starts, self.table, self.slots, self.slot_keys,
            self.owners, self.sizes,
        )  # fmt: skip
        if classes < 0:
            # Keys of more than 64 bits: slower, and the same answer.
            trees = self.summary.hierarchies
            columns = [tree.codes[level][keys] for tree, level, keys in zip(trees, node, self.summary.keys, strict=True)]
            radices = [int(self.widths[position, level]) for position, level in enumerate(node)]
            found = group(columns, radices, weights=self.weights, index=True)
            return found.index, found.counts
        return self.owners, self.sizes[:classes]

    def counted(self, owners: Any, chosen: Any) -> Any:
        """How often each leaf occurs in the records of the chosen classes."""
        from shoal.kernels import lattice as kernel

        return kernel.tally(
            owners, chosen, self.packed, self.weights, self.members, self.starts, self.leaf_counts, self.leaf_starts,
            self.pack_starts, self.table,
        )  # fmt: skip

    def classes(self, owners: Any, sizes: Any) -> Classes:
        """The classes as models judge them, with sensitive histograms and without keys."""
        histograms = tuple(self._rolled(held, owners, len(sizes)) for held in self.summary.sensitive)
        keys = np.zeros((0, len(sizes)), dtype=np.int32)
        return Classes(self.summary.attributes, keys, sizes.copy(), histograms, (), self.summary.records)

    def _rolled(self, held: Histogram, owners: Any, classes: int) -> Histogram:
        from shoal.kernels import lattice as kernel

        size = len(held.population)
        if classes * size > max(DENSE, 64 * len(owners)):
            return held.rolled(owners, classes)
        starts, values, counts = kernel.histogram(owners, held.owners, held.values, held.counts, classes, size)
        return Histogram(held.column, starts, values, counts, held.population, held.hierarchy)
