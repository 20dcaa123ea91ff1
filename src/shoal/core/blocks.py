"""Blocks: a table cut into parts that are worked on one by one, or side by side.

Cuts are Mondrian's own: a part is cut along the attribute in which it is widest, at the leaf that makes the most even
sides, until every part is small enough. A block is a box, a range of leaves for each attribute, and the boxes fill the
space: whatever was not there when they were cut, such as all but a sample of a table, lies in exactly one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.core.costs import Costs
from shoal.core.grouping import Codes, Counts
from shoal.core.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class Blocks:
    """A tree of cuts. Node `n` with an attribute `attributes[n]` from 0 up sends codes up to `thresholds[n]` to the
    node `children[n]`, greater ones to the next; a node without, -1, is a block."""

    attributes: Counts
    thresholds: Counts
    children: Counts

    @classmethod
    def cut(cls, points: Codes, costs: Costs, most: int, run: Run) -> Blocks:
        """Blocks of so many points at most, one point a row; equal points stay together.

        Example:
            >>> from shoal.core.costs import loss_costs
            >>> from shoal.core.hierarchy import Hierarchy
            >>> ages = Hierarchy.flat("age", ["20", "30", "50", "60"], np.array([20.0, 30.0, 50.0, 60.0]))
            >>> column = np.array([0, 0, 1, 2, 3], np.int32)
            >>> blocks = Blocks.cut(column[:, None], loss_costs([ages], [column], [True]), 3, Run())
            >>> blocks.of(column[None]).tolist()
            [0, 0, 1, 1, 1]
        """
        from shoal.kernels.index import build

        boxes = build(np.ascontiguousarray(points), costs, most, run.flag)
        run.check()
        attributes, thresholds = np.full((2, len(boxes.left)), -1, np.int64)
        inner = np.flatnonzero(boxes.left >= 0)
        children = boxes.left.astype(np.int64)
        lower, upper = boxes.high[children[inner]], boxes.low[children[inner] + 1]
        attributes[inner] = np.argmax(lower < upper, axis=1)
        thresholds[inner] = lower[np.arange(len(inner)), attributes[inner]]
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

    def of(self, keys: Codes) -> Codes:
        """The block of each tuple; `keys` has an attribute a row."""
        places = np.zeros(keys.shape[1], np.int64)
        moving: NDArray[np.int64] = np.arange(keys.shape[1])
        while len(moving):
            moving = moving[self.attributes[places[moving]] >= 0]
            nodes = places[moving]
            right = keys[self.attributes[nodes], moving] > self.thresholds[nodes]
            places[moving] = self.children[nodes] + right
        found: Codes = self._numbers[places]
        return found
