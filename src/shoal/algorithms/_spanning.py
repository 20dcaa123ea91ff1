"""The minimum spanning tree of the distinct tuples under the hierarchical distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms._records import BUCKET, in_slices, portions
from shoal.core.costs import level_costs
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.run import Run


def spanning_tree(points: Codes, hierarchies: tuple[Hierarchy, ...], run: Run) -> tuple[Any, Floats]:
    """The edges of the tree, lighter first, as pairs of tuples with the lower first, and their lengths (HDist).

    Every round each component takes its lightest edge to another one (Borůvka); vertices are looked at in as many
    threads as there are. There is one tree, whatever the number of threads, because edges of the same length have
    an order. Lengths are summed as whole numbers, so that equal ones are equal.
    """
    from shoal.kernels import index, spanning

    costs, scale = level_costs(hierarchies, list(points.T))
    boxes = index.build(points, costs, BUCKET, run.flag)
    run.check()
    count = len(points)
    forest = spanning.Forest(
        points[boxes.order], np.arange(count, dtype=np.int32), np.zeros(count), np.full(count, -1, dtype=np.int32)
    )
    edges, lengths = np.empty((max(count - 1, 0), 2), np.int64), np.empty(max(count - 1, 0))
    known, left = 0, count
    while left > 1:
        labels = spanning.uniform(boxes, forest.components)
        limits = spanning.best_edges(forest, left)

        def look(begin: int, end: int, labels: Any = labels, limits: Any = limits) -> None:
            spanning.lightest(begin, end, forest, boxes, costs, labels, limits, run.flag)

        watch = run.part(between=(known / (count - 1), (known + left / 2) / (count - 1)))
        for first, last in portions(count, watch, "building the spanning tree"):
            in_slices(look, first, last)
        known, left = spanning.unite(forest.components, spanning.best_edges(forest, left), edges, lengths, known)
    edges = np.sort(boxes.order[edges], axis=1)
    by_length = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[by_length].astype(np.int64), lengths[by_length] / scale
