"""Blocks: a table cut into parts that are worked on one by one, or side by side.

Cuts are Mondrian's own: a part is cut along the attribute in which it is widest, at the leaf that makes the most even
sides, until every part is small enough. A block is a box, a range of leaves for each attribute, and the boxes fill the
space: whatever was not there when they were cut, such as all but a sample of a table, lies in exactly one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts
from shoal.core.run import Run

if TYPE_CHECKING:
    from shoal.core.costs import Costs

Made = TypeVar("Made")

SLICE = 1 << 20
"""Tuples that are looked up at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Blocks:
    """A tree of cuts. Node `n` with an attribute `attributes[n]` from 0 up sends codes up to `thresholds[n]` to the
    node `children[n]`, greater ones to the next; a node without, -1, is a block."""

    attributes: Counts
    thresholds: Counts
    children: Counts

    @classmethod
    def cut(cls, points: Codes, costs: Costs, most: int, run: Run, order: NDArray[np.int64] | None = None) -> Blocks:
        """Blocks of so many points at most, one point a row; equal points stay together.

        Of attributes in which a part is equally wide the first in the `order` is cut: by default the one with the
        fewest leaves, as Mondrian does. Classes reach least over such edges.

        Example:
            >>> from shoal.core.costs import loss_costs
            >>> from shoal.core.hierarchy import Hierarchy
            >>> ages = Hierarchy.flat("age", ["20", "30", "50", "60"], np.array([20.0, 30.0, 50.0, 60.0]))
            >>> column = np.array([0, 0, 1, 2, 3], np.int32)
            >>> blocks = Blocks.cut(column[:, None], loss_costs([ages], [column], [True]), 3, Run())
            >>> blocks.of(column[None]).tolist()
            [0, 0, 1, 1, 1]
        """
        from shoal.core.costs import reordered
        from shoal.kernels.index import build

        order = np.argsort(costs.sizes, kind="stable") if order is None else order
        boxes = build(np.ascontiguousarray(points[:, order]), reordered(costs, order), most, run.flag)
        run.check()
        attributes, thresholds = np.full((2, len(boxes.left)), -1, np.int64)
        inner = np.flatnonzero(boxes.left >= 0)
        children = boxes.left.astype(np.int64)
        lower, upper = boxes.high[children[inner]], boxes.low[children[inner] + 1]
        chosen = np.argmax(lower < upper, axis=1)
        attributes[inner], thresholds[inner] = order[chosen], lower[np.arange(len(inner)), chosen]
        return cls(attributes, thresholds, children)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.attributes < 0))

    @cached_property
    def _numbers(self) -> Codes:
        return np.where(self.attributes < 0, np.cumsum(self.attributes < 0) - 1, -1).astype(np.int32)

    def boxes(self, sizes: Sequence[int]) -> tuple[Codes, Codes]:
        """The least and the greatest leaf of each block in each attribute, which has so many leaves; a block a row."""
        low = np.zeros((len(self.attributes), len(sizes)), np.int32)
        high = np.zeros_like(low) + np.array(sizes, np.int32) - 1
        for node in np.flatnonzero(self.attributes >= 0).tolist():  # parents come before children
            child, attribute = self.children[node], self.attributes[node]
            low[child : child + 2], high[child : child + 2] = low[node], high[node]
            high[child, attribute] = self.thresholds[node]
            low[child + 1, attribute] = self.thresholds[node] + 1
        leaves = self.attributes < 0
        return low[leaves], high[leaves]

    def joined(self, broken: NDArray[np.bool_]) -> Blocks:
        """The same with every block that is `broken` joined with what lies on the other side of the cut that made it.
        There is nothing to join where there is one block."""
        failing = np.zeros(len(self.attributes), np.bool_)
        failing[self.attributes < 0] = broken
        above = self.children >= 0
        failing[above] = failing[self.children[above]] | failing[self.children[above] + 1]
        whole = above & failing
        # Nodes that nobody reaches any more are no blocks either.
        reached = np.zeros(len(whole), np.bool_)
        reached[0] = True
        for node in np.flatnonzero(above).tolist():
            reached[self.children[node] : self.children[node] + 2] = reached[node] and not whole[node]
        places = np.cumsum(reached) - 1
        inner = above & ~whole
        return Blocks(
            np.where(inner, self.attributes, -1)[reached], np.where(inner, self.thresholds, -1)[reached],
            np.where(inner, places[self.children], -1)[reached],
        )  # fmt: skip

    def of(self, keys: Codes) -> Codes:
        """The block of each tuple; `keys` has an attribute a row."""
        numbers = np.empty(keys.shape[1], np.int32)
        for begin in range(0, keys.shape[1], SLICE):
            numbers[begin : begin + SLICE] = self._of(keys[:, begin : begin + SLICE])
        return numbers

    def _of(self, keys: Codes) -> Codes:
        places = np.zeros(keys.shape[1], np.int64)
        moving: NDArray[np.int64] = np.arange(keys.shape[1])
        while len(moving):
            moving = moving[self.attributes[places[moving]] >= 0]
            nodes = places[moving]
            right = keys[self.attributes[nodes], moving] > self.thresholds[nodes]
            places[moving] = self.children[nodes] + right
        numbers: Codes = self._numbers[places]
        return numbers
