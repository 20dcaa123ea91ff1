"""Mergers against a plain walk through the tree of where ranges begin, which looks at everything on its way."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.costs import Costs, level_costs, loss_costs, reordered
from shoal.core.hierarchy import Hierarchy
from shoal.kernels import cost, index, merging

GO_ON = np.zeros(1, np.uint8)
ROUNDING = 1e-9


def groups(size: int) -> Hierarchy:
    return Hierarchy.from_paths("c", [(str(leaf), str(leaf // 3), str(leaf // 9), "*") for leaf in range(size)])


def steps(values: np.ndarray) -> Hierarchy:
    return Hierarchy.flat("n", [str(value) for value in values.tolist()], values)


def whole() -> Costs:
    """Whole numbers, so that many mergers are equally good."""
    trees = [groups(27), groups(9), groups(18)]
    return level_costs(trees, [np.arange(tree.size, dtype=np.int32) for tree in trees])[0]


def close() -> Costs:
    """Sums that differ by about as much as what counts as better."""
    values = np.append(np.arange(26) * 4e-10, 1.0)
    trees = [steps(values), groups(9), groups(18)]
    columns = [np.arange(tree.size, dtype=np.int32) for tree in trees]
    return loss_costs(trees, columns, [True, False, False])


class Plain:
    """Clusters that merge one after the other, found by the walk."""

    def __init__(self, low: np.ndarray, high: np.ndarray, sizes: np.ndarray, boxes: index.Boxes, costs: Costs) -> None:
        self.low, self.high, self.sizes, self.boxes, self.costs = low.copy(), high.copy(), sizes.copy(), boxes, costs
        self.box_low, self.box_high = boxes.low.copy(), boxes.high.copy()
        self.paid = [cost.span(costs, *each) for each in zip(low, high, strict=True)]
        self.gone: set[int] = set()
        for name in range(len(sizes)):
            self.stretch(name)

    def stretch(self, name: int) -> None:
        place = int(np.flatnonzero(self.boxes.order == name)[0])
        above = (self.boxes.begins <= place) & (place < self.boxes.ends)
        self.box_low[above] = np.minimum(self.box_low[above], self.low[name])
        self.box_high[above] = np.maximum(self.box_high[above], self.high[name])

    def together(self, name: int, low: np.ndarray, high: np.ndarray) -> float:
        return float(cost.span(self.costs, np.minimum(self.low[name], low), np.maximum(self.high[name], high)))

    def met(self, name: int, node: int = 0) -> list[int]:
        """All under a node, in the order in which the walk for a cluster meets them."""
        child = int(self.boxes.left[node])
        if child < 0:
            return self.boxes.order[self.boxes.begins[node] : self.boxes.ends[node]].tolist()
        near, far = (self.together(name, self.box_high[at], self.box_low[at]) for at in (child, child + 1))
        nodes = (child + 1, child) if near > far else (child, child + 1)
        return [each for at in nodes for each in self.met(name, at)]

    def merge(self, name: int, by_union: bool) -> int:
        least, chosen = np.inf, -1
        own = self.sizes[name] * self.paid[name]
        for other in self.met(name):
            if other == name or other in self.gone:
                continue
            score = self.together(name, self.low[other], self.high[other])
            if not by_union:
                score = score * (self.sizes[name] + self.sizes[other]) - own - self.sizes[other] * self.paid[other]
            if score < least - ROUNDING:
                least, chosen = score, other
        self.paid[chosen] = self.together(name, self.low[chosen], self.high[chosen])
        self.low[chosen] = np.minimum(self.low[chosen], self.low[name])
        self.high[chosen] = np.maximum(self.high[chosen], self.high[name])
        self.sizes[chosen] += self.sizes[name]
        self.gone.add(name)
        self.stretch(chosen)
        return chosen


@pytest.mark.parametrize("by_union", [False, True])
@pytest.mark.parametrize("costs", [whole(), close()], ids=["whole", "close"])
@pytest.mark.parametrize("seed", range(4))
def test_of_equally_good_mergers_the_walk_decides(seed: int, costs: Costs, by_union: bool) -> None:
    draw = np.random.default_rng(seed)
    leaves, count = costs.sizes, 150
    first = draw.integers(0, leaves, (count, 3)).astype(np.int32)
    second = np.where(draw.random((count, 3)) < 0.6, first, draw.integers(0, leaves, (count, 3))).astype(np.int32)
    low, high, sizes = np.minimum(first, second), np.maximum(first, second), draw.integers(1, 5, count)
    boxes = index.build(low, costs, 3, GO_ON)
    ends = index.build(np.hstack([low, high]), reordered(costs, np.tile(np.arange(3), 2)), 4, GO_ON)
    held = merging.ranges(low.copy(), high.copy(), sizes.copy(), costs)
    mergers = merging.mergers(held, boxes, ends, costs)
    plain = Plain(low, high, sizes, boxes, costs)
    for cluster in draw.permutation(count)[:130].tolist():
        mergers.fresh[cluster] = True
        merging.merge(np.array([cluster]), mergers, costs, by_union, np.inf, GO_ON)
        assert mergers.into[cluster] == plain.merge(cluster, by_union)
