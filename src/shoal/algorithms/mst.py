"""Minimum spanning tree partitioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from typing_extensions import Doc

from shoal.algorithms._clustering import ClusteringAlgorithm, Numeric
from shoal.algorithms._effort import cells
from shoal.algorithms._records import BUCKET, Records, in_portions
from shoal.core.costs import level_costs
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.policy import Policy
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Mst(ClusteringAlgorithm):
    """Spans the records by a minimum tree under the hierarchical distance HDist (in each attribute, the share of
    the hierarchy's levels that both records climb to their closest common ancestor), drops long edges, and merges each
    subtree that breaks the policy with the one whose union costs least.

    The `balanced` cut goes from the longest edge down and drops each one that leaves k records on both sides. The
    `literal` cut, as first published for local recoding, drops the ⌊n/k⌋ - 1 longest edges, which mostly cut off
    single outliers: much is left to the mergers, and on Adult half as much again is lost. Equal records are one vertex,
    so that they share a class. Among edges of the same length the literal cut takes those first that leave k records on
    both sides. The tree is exact, is never stored as a matrix of distances, and is built in parallel.

    Does not protect against more than the models of the policy do. A subtree may be a long chain, whose ends have
    little in common: more is lost than by k-member, unless the classes are refined.

    Reference: minimum spanning tree partitioning for local recoding, after M. Laszlo, S. Mukherjee, Minimum
    spanning tree partitioning algorithm for microaggregation, 2005.

    Example:
        >>> import shoal
        >>> folder = shoal.samples.hierarchies("patients-mst")
        >>> table = shoal.samples.patients_mst().drop("id")
        >>> data = shoal.read(table, quasi=["gender", "age", "zip"], hierarchies=folder)
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm=Mst())
        >>> sorted(set(release.frame.select("gender", "age", "zip").rows()))
        [('Female', '[20-40]', '5352**'), ('Male', '[20-25]', '535280'), ('Male', '[36-40]', '53529*')]
    """

    numeric: Numeric = "given"
    cut: Annotated[
        Literal["balanced", "literal"],
        Doc("which edges go: the longest that leave k records on both sides, or the ⌊n/k⌋ - 1 longest of all"),
    ] = "balanced"

    by_union: ClassVar[bool] = True

    def beginning(self, dataset: Dataset, policy: Policy) -> float:
        return 0.05 * cells(dataset) * len(dataset.summary)

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        from shoal.kernels.spanning import cut, cut_evenly

        edges, lengths = spanning_tree(records.points, records.dataset.hierarchies, run)
        least = records.policy.least
        if self.cut == "balanced":
            subtrees = cut_evenly(edges, lengths, records.counts, least, run.flag)
        else:
            subtrees = cut(edges, lengths, records.counts, len(records) // least - 1, least, run.flag)
        run.check()
        return subtrees[records.tuples], {"edges": len(edges), "subtrees": int(subtrees.max()) + 1}


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
        in_portions(look, count, watch, "building the spanning tree")
        known, left = spanning.unite(forest.components, spanning.best_edges(forest, left), edges, lengths, known)
    edges = np.sort(boxes.order[edges], axis=1)
    by_length = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[by_length].astype(np.int64), lengths[by_length] / scale
