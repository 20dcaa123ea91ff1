"""k-means with the adjustment stage of one-pass k-means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.algorithms._adjustment import adjusted
from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._records import Records, numbered
from shoal.core.forks import few_threads
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.loss import quantities
from shoal.core.run import Run

WORK = 1_000_000_000
"""Products of coordinates between two looks at whether the run was cancelled."""

BLOCK = 64
"""Points that are compared with the centres at once, at least; fewer waste time."""

CELLS = 1 << 22
"""Coordinates that are averaged at once."""


@dataclass(frozen=True, kw_only=True)
class KMeans(ClusteringAlgorithm):
    """Lloyd's k-means with ⌊n/k⌋ clusters, then clusters above k give up their farthest records, which go to the
    closest cluster below k.

    k-means needs coordinates. A numeric attribute is one, from 0 to 1; a missing value lies at its middle, one
    step aside. Any other attribute has one for each node of its hierarchy, scaled so that the squared distance of two
    values is the share of levels up to their common ancestor. Distances come from scikit-learn.

    Does not protect against more than the models of the policy do, and loses more than k-member does: k-means knows
    nothing of k.

    Reference: S. Lloyd, Least squares quantization in PCM, 1982; the adjustment: J.-L. Lin, M.-C. Wei, An efficient
    clustering method for k-anonymization, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 61, 22, 64], "sex": ["F", "M", "F", "M"]})
        >>> data = shoal.read(table, quasi=["age", "sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm=KMeans())
        >>> sorted(release.frame["age"])
        ['[21-22]', '[21-22]', '[61-64]', '[61-64]']
    """

    iterations: Annotated[int, Ge(1), Doc("rounds of k-means at most")] = 20

    extras: ClassVar[Mapping[str, str]] = {"sklearn": "learn"}

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        points = coordinates(records, run)
        clusters = min(len(records) // records.policy.least, len(points))
        centres = points[generator.choice(len(points), clusters, replace=False)]
        labels, rounds = lloyd(points, records.counts, centres, self.iterations, run.part(between=(0.0, 0.8)))
        owners = numbered(labels[records.tuples])
        return adjusted(records, owners, generator, run.part(between=(0.8, 1.0))), {"iterations": rounds}


@few_threads()
def lloyd(points: Floats, weights: Counts, centres: Floats, rounds: int, run: Run) -> tuple[Codes, int]:
    """The closest centre of each point when the centres, each the mean of its points, no longer move, or after so
    many rounds; and how many rounds there were.

    A centre without points goes to one of the points that are farthest from their centres.
    """
    from sklearn.metrics import pairwise_distances_argmin_min

    labels, apart = np.empty(len(points), np.int32), np.empty(len(points))
    step = max(1, WORK // (BLOCK * centres.size)) * BLOCK
    for done in range(1, rounds + 1):
        before = labels.copy()
        for first in range(0, len(points), step):
            some = slice(first, first + step)
            labels[some], apart[some] = pairwise_distances_argmin_min(points[some], centres)
            run.report((done - 1 + first / len(points)) / rounds, "k-means")
        if done > 1 and np.array_equal(labels, before):
            return labels, done
        centres = _means(points, weights, labels, len(centres), apart, run)
    return labels, rounds


def _means(points: Floats, weights: Counts, labels: Codes, clusters: int, apart: Floats, run: Run) -> Floats:
    """The mean of each cluster's points; where there are none, a point that is far from its centre."""
    means = np.empty((clusters, points.shape[1]))
    by_label = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=clusters)
    firsts = np.cumsum(sizes) - sizes
    for some in np.array_split(np.flatnonzero(sizes), 1 + points.size // CELLS):
        if len(some):
            begin, end = firsts[some[0]], firsts[some[-1]] + sizes[some[-1]]
            own = weights[by_label[begin:end], None]
            sums, totals = (
                np.add.reduceat(part, firsts[some] - begin) for part in (points[by_label[begin:end]] * own, own)
            )
            means[some] = sums / totals
        run.check()
    empty = np.flatnonzero(sizes == 0)
    means[empty] = points[np.argsort(-apart, kind="stable")[: len(empty)]]
    return means


def coordinates(records: Records, run: Run) -> Floats:
    """The distinct tuples as points of a Euclidean space."""
    blocks: list[tuple[Codes, Floats]] = []
    for position, (hierarchy, output) in enumerate(zip(records.dataset.hierarchies, records.outputs, strict=True)):
        codes = records.points[:, position]
        if output == "hierarchy":
            length = 1 / np.sqrt(2 * hierarchy.height)
            for level in range(hierarchy.height):
                places = np.unique(hierarchy.codes[level][codes], return_inverse=True)[1]
                blocks.append((places.astype(np.int32), np.full(len(codes), length)))
        else:
            missing = hierarchy.missing & (codes == 0)
            blocks.append((np.zeros(len(codes), np.int32), np.where(missing, 0.5, _scaled(hierarchy, codes))))
            blocks.append((np.zeros(len(codes), np.int32), missing.astype(np.float64)))
        run.check()
    widths = [int(columns.max()) + 1 for columns, _ in blocks]
    points = np.zeros((len(records.points), sum(widths)))
    for some in np.array_split(np.arange(len(points)), 1 + points.size // CELLS):
        for (columns, lengths), first in zip(blocks, np.cumsum([0, *widths[:-1]]), strict=True):
            points[some, first + columns[some]] = lengths[some]
        run.check()
    return points


def _scaled(hierarchy: Hierarchy, codes: Codes) -> Floats:
    """Numbers from 0 to 1, and anything for missing ones."""
    numbers = quantities(hierarchy)[codes]
    known = numbers[codes >= int(hierarchy.missing)]
    least, span = (known.min(), known.max() - known.min()) if len(known) else (0.0, 0.0)
    scaled: Floats = (numbers - least) / (span if span > 0 else 1.0)
    return scaled
