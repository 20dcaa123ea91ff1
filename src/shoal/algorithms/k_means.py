"""k-means with the adjustment stage of one-pass k-means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.algorithms._adjustment import adjusted
from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._records import Records, numbered
from shoal.core.forks import few_threads
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.loss import quantities
from shoal.core.run import Run

Places = NDArray[np.int64]

WORK = 1_000_000_000
"""Products of coordinates between two looks at whether the run was cancelled."""

CHUNK = 256
"""Points, and centres, that scikit-learn compares with one another in one product of matrices."""

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
    labels, squares = np.zeros(len(points), np.int64), np.empty(len(points))
    moved = np.ones(len(centres), np.bool_)
    for done in range(1, rounds + 1):
        before = labels.copy()
        _assign(points, centres, moved, labels, squares, run.part(between=((done - 1) / rounds, done / rounds)))
        if done > 1 and np.array_equal(labels, before):
            break
        earlier, centres = centres, _means(points, weights, labels, len(centres), np.sqrt(squares), run)
        moved = (centres != earlier).any(axis=1)
    return labels.astype(np.int32), done


def _assign(
    points: Floats, centres: Floats, moved: NDArray[np.bool_], labels: Places, squares: Floats, run: Run
) -> None:
    """Gives every point the first of its closest centres, and the squared distance from it, where some centres `moved`.
    Where the closest one did not, only those that moved can be closer.

    A product of matrices rounds otherwise where it is small or at an odd edge. What lies in the last chunk of the
    points or of the centres is therefore always compared as all are, and everything else in whole chunks.
    """
    everything = np.arange(len(points))
    if moved.all():
        labels[:], squares[:] = _closest(points, everything, centres, run)
        return
    edge = len(points) - len(points) % CHUNK
    own = moved[labels]
    astray, settled = np.flatnonzero(own[:edge]), np.flatnonzero(~own[:edge])
    labels[edge:], squares[edge:] = _closest(points, everything[edge:], centres, run.part(between=(0.0, 0.1)))
    closest, near = _closest(points, _filled(astray), centres, run.part(between=(0.1, 0.5)))
    labels[astray], squares[astray] = closest[: len(astray)], near[: len(astray)]
    last = len(centres) - len(centres) % CHUNK
    names = np.append(_filled(np.flatnonzero(moved[:last])), np.arange(last, len(centres)))
    if len(names):
        closest, near = _closest(points, _filled(settled), centres[names], run.part(between=(0.5, 1.0)))
        closest, near = names[closest[: len(settled)]], near[: len(settled)]
        closer = (near < squares[settled]) | ((near == squares[settled]) & (closest < labels[settled]))
        labels[settled[closer]], squares[settled[closer]] = closest[closer], near[closer]


def _closest(points: Floats, rows: Places, centres: Floats, run: Run) -> tuple[Places, Floats]:
    """The first of the closest centres of some points, and the squared distance from it."""
    from sklearn.metrics import pairwise_distances_argmin_min

    closest, squares = np.empty(len(rows), np.int64), np.empty(len(rows))
    step = _step(centres)
    for first in range(0, len(rows), step):
        some = slice(first, first + step)
        closest[some], squares[some] = pairwise_distances_argmin_min(points[rows[some]], centres, metric="sqeuclidean")
        run.report(first / len(rows), "k-means")
    return closest, squares


def _step(centres: Floats) -> int:
    """Points that are compared with centres at once."""
    return max(1, WORK // (CHUNK * centres.size)) * CHUNK


def _filled(rows: Places) -> Places:
    """The rows, and the first of them as often as chunks need to be whole."""
    return np.append(rows, np.repeat(rows[:1], -len(rows) % CHUNK))


def _means(points: Floats, weights: Counts, labels: Places, clusters: int, apart: Floats, run: Run) -> Floats:
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
