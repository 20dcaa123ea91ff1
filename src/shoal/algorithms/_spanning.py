"""The minimum spanning tree of the distinct tuples under the hierarchical distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms._records import BUCKET, in_slices
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.run import Run
from shoal.core.space import level_space


def spanning_tree(points: Codes, hierarchies: tuple[Hierarchy, ...], run: Run) -> tuple[Any, Floats]:
    """The edges of the tree, lighter first, as pairs of tuples with the lower first, and their lengths (HDist).

    Every round each component takes its lightest edge to another one (Borůvka); vertices are looked at in as many
    threads as there are. There is one tree, whatever the number of threads, because edges of the same length have
    an order. Lengths are summed as whole numbers, so that equal ones are equal.
    """
    from shoal.kernels import index, spanning

    space, scale = level_space(hierarchies, list(points.T))
    tree = index.build(points, space, BUCKET)
    order = tree[0]
    placed = points[order]
    count = len(points)
    components = np.arange(count, dtype=np.int32)
    weights, partners = np.zeros(count), np.full(count, -1, dtype=np.int32)
    edges, lengths = np.empty((max(count - 1, 0), 2), np.int64), np.empty(max(count - 1, 0))
    known, left = 0, count
    while left > 1:
        labels = spanning.uniform(*tree[1:4], components)
        limits = spanning.best_edges(components, left, weights, partners)

        def look(begin: int, end: int, labels: Any = labels, limits: Any = limits) -> None:
            spanning.lightest(begin, end, placed, tree, space, components, labels, limits, weights, partners)

        in_slices(look, count)
        found = spanning.best_edges(components, left, weights, partners)
        known, left = spanning.unite(components, found, edges, lengths, known)
        run.report(known / (count - 1), "building the spanning tree")
    edges = np.sort(order[edges], axis=1)
    by_length = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[by_length].astype(np.int64), lengths[by_length] / scale
