"""MDAV microaggregation (Domingo-Ferrer and Mateo-Sanz, 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.algorithms import _squares
from shoal.algorithms._clustering import ClusteringAlgorithm, Numeric, outputs
from shoal.algorithms._effort import cells
from shoal.algorithms._merging import check_feasible, merged, merged_as_published
from shoal.algorithms._records import Records, portions
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats
from shoal.core.policy import Policy
from shoal.core.recoding import Recoding
from shoal.core.run import Run


@dataclass(frozen=True, kw_only=True)
class Mdav(ClusteringAlgorithm):
    """Takes the record farthest from the average of those that are left, makes a cluster of it and the k - 1 records
    nearest to it, does the same with the record farthest from that one, and begins again; numeric attributes
    are published as the mean of their cluster.

    Where all attributes are numeric, published as means and never missing, distances are squared Euclidean ones of
    standardized values, as in the literature, and the facts of the recoding tell the squared error `sse`, that of the
    whole table `sst`, and the `loss`, 100 · sse / sst. `refine` then lowers that error: it moves and swaps records,
    dissolves, rebuilds and splits clusters; for a single attribute it finds the least error that there is, as the
    shortest path over the sorted values.

    Else the distance of numbers is their difference over the table's range, squared. Others take part as in
    MDAV-generic: their distance is the squared cost of the common ancestor, their average the commonest value, and
    they are published as nodes of their hierarchy; `refine` then lowers the loss of their ranges. Time grows as n²/k
    where it goes by squared Euclidean distances, and more slowly else, as far as values repeat.

    Does not protect against more than the models of the policy do. A published mean is no value of a person, and
    tells nothing of how far the values of the class lie apart.

    Reference: J. Domingo-Ferrer, V. Torra, Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, 2005; S. Hansen, S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation,
    2003.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 22, 23, 60, 64, 65]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm=Mdav())
        >>> sorted(set(release.frame["age"]))
        [21.66666667, 63.0]
        >>> round(release.recoding.facts["loss"], 2)
        0.72
    """

    numeric: Numeric = "mean"

    def beginning(self, dataset: Dataset, policy: Policy) -> float:
        return 0.018 * cells(dataset) * len(dataset.summary) / policy.least

    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        published = outputs(dataset, self.numeric, self.publish)
        if not _squares.goes_by_squares(dataset, published):
            return super().search(dataset, policy, run)
        records = Records.of(dataset, policy, published)
        check_feasible(records)
        points = _squares.standardized(records)
        # Where a single record may be enough, equal ones are where mergers begin.
        owners, facts = records.tuples, dict[str, Any]()
        if policy.least > 1:
            owners, facts = self._grouped(points, policy, run.part(between=(0.0, 0.9)))
        # What breaks a model merges last, so that whatever was refined satisfies the policy.
        owners, mergers = merged(records, owners, run.part(between=(0.9, 1.0)))
        owners, more = merged_as_published(records, owners, run)
        return records.recoding(owners, {**facts, "mergers": mergers + more, **_squares.squared_error(points, owners)})

    def _grouped(self, points: Floats, policy: Policy, run: Run) -> tuple[Codes, dict[str, Any]]:
        """Groups of at least so many records as the policy asks for, with little squared error."""
        if self.refine and points.shape[1] == 1:
            return _squares.optimal(points, policy.least), {"optimal": True}
        grouping, refining = run.part(between=(0.0, 0.2 if self.refine else 1.0)), run.part(between=(0.2, 1.0))
        owners = _squares.farthest_first(points, policy.least, grouping)
        if not self.refine:
            return owners, {}
        generator = np.random.default_rng(policy.seed)
        owners, facts = _squares.refined(points, owners, policy.least, generator, self.time_limit, refining)
        return owners, {"refinement": facts}

    def cluster(self, records: Records, generator: np.random.Generator, run: Run) -> tuple[Codes, dict[str, Any]]:
        from shoal.kernels.microaggregation import maximum_distance, unclustered

        points, counts, costs = records.points, records.counts, records.costs
        left = unclustered(points, counts, records.index(points, run), costs)
        for _, end in portions(len(records), run, "making clusters"):
            maximum_distance(points, counts, left, costs, records.policy.least, len(records) - end, run.flag)
        left.owners[left.owners < 0] = left.clusters[0]
        return left.owners, {}
