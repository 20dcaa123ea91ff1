"""Clustering: whether a clustering of the release is one of the table (after paper 000 of our list of sources)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.forks import few_threads
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.loss import quantities
from shoal.core.parameters import Examples
from shoal.core.release import Release
from shoal.core.survey import spaced
from shoal.errors import NotDefined
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.utility.one_thread import one_thread


@dataclass(frozen=True, kw_only=True)
class Clustering(Metric):
    """How much the spread of distances within clusters changes when the release is clustered in the place of the table:
    |V' - V| / V, where V is the variance of the distances of all pairs of records that are in one cluster. The detail
    has the adjusted Rand index of the two clusterings (1: the same) and the share of the records that change their
    cluster when clusters are matched as well as can be.

    k-means with the same number of clusters and the same start, over the quasi-identifiers: numbers from 0 to 1, ranges
    as their middle, names as one coordinate each, several possible names in equal parts.

    Does not look at other columns. Only for releases of ranges, and only the records that are published; of many,
    evenly spaced ones. A record is taken for one of the narrowest class that holds it.

    Reference: S. Oliveira, O. Zaïane, Privacy preserving clustering by data transformation, 2003.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 21, 60, 61, 90, 91] * 3}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=6), seed=1)
        >>> shoal.metrics.Clustering(clusters=3).score(data, release).detail["adjusted Rand index"]
        1.0
    """

    clusters: Annotated[int, Ge(2), Doc("how many clusters are made")] = 5
    records: Annotated[int, Ge(10), Doc("records that are clustered")] = 2000
    seed: Annotated[int, Ge(0), Doc("decides where k-means starts")] = 1

    quick: ClassVar[bool] = False
    examples: ClassVar[Examples] = ({}, {"clusters": 2, "records": 50, "seed": 3})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        release.view.cells()  # refused by a form whose cells are no ranges
        if find_spec("sklearn") is None:
            raise NotDefined("clustering needs an optional package; install it with: pip install 'shoal[learn]'")
        trees, reached = dataset.hierarchies, np.cumsum(dataset.summary.sizes)
        keys = dataset.summary.keys[:, np.searchsorted(reached, spaced(dataset.records, self.records), side="right")]
        low, high = ReusableRecoding.shown_by(release).ranges(dataset, keys)
        rows = low[0] >= 0
        before, after = _points(trees, keys[:, rows], keys[:, rows]), _points(trees, low[:, rows], high[:, rows])
        if len(np.unique(before, axis=0)) <= self.clusters:
            raise NotDefined(f"the table has no more than {self.clusters} different records, so clusters say nothing")
        owners = [self._clustered(points) for points in (before, after)]
        table, published = (_variance(points, own) for points, own in zip((before, after), owners, strict=True))
        value = abs(published - table) / table if table > 0 else float(published > 0)
        from sklearn.metrics import adjusted_rand_score

        label = "clustering: change of the distances within clusters"
        how = "change of the variance of distances within clusters when the release is clustered, as a share of it"
        detail = {
            "adjusted Rand index": float(adjusted_rand_score(*owners)),
            "share of the records that change their cluster": _moved(*owners),
        }
        return Finding(name="clustering", label=label, value=value, unit="share", how=how, detail=detail)

    @few_threads()
    def _clustered(self, points: Floats) -> Any:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        distinct = len(np.unique(points, axis=0))
        search = KMeans(min(self.clusters, distinct), n_init=5, random_state=self.seed)
        # One thread: so few points are clustered sooner, and sums do not depend on the number of processors.
        with one_thread(), warnings.catch_warnings():
            # Points that differ by rounding alone end in one cluster, and then there are fewer: that is all right.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return search.fit(points).labels_


def _points(trees: tuple[Hierarchy, ...], low: Codes, high: Codes) -> Floats:
    """Ranges as coordinates: different names are as far apart as the ends of a column of numbers."""
    columns = []
    for tree, first, last in zip(trees, low, high, strict=True):
        if tree.ordered:
            values = np.nan_to_num(quantities(tree))
            whole = float(np.ptp(values[int(tree.missing) :])) if tree.size > int(tree.missing) else 0.0
            totals = np.append(0.0, np.cumsum((values - values[int(tree.missing)]) / (whole or 1.0)))
            columns.append(((totals[last + 1] - totals[first]) / (last - first + 1))[:, None])
        else:
            leaves = np.arange(tree.size)
            inside = (first[:, None] <= leaves) & (leaves <= last[:, None])
            columns.append(inside / (last - first + 1)[:, None] / np.sqrt(2))
    return np.hstack(columns)


@few_threads()
def _variance(points: Floats, owners: Any) -> float:
    """The variance of the distances of all pairs that are in one cluster."""
    from sklearn.metrics import pairwise_distances

    clusters = [points[owners == cluster] for cluster in np.unique(owners)]
    distances = np.concatenate([pairwise_distances(own)[np.triu_indices(len(own), 1)] for own in clusters])
    return float(distances.var()) if len(distances) else 0.0


def _moved(one: Any, other: Any) -> float:
    """The share of the records outside the best matching of clusters."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(one, other)
    rows, columns = linear_sum_assignment(-table)
    return float(1 - table[rows, columns].sum() / len(one))
