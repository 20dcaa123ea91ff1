"""What bucket clustering and l-member clustering share: records by tuple and sensitive value, and what may be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms._clustering import ClusteringAlgorithm
from shoal.algorithms._effort import growing
from shoal.algorithms._eligibility import check_one_sensitive, eligible_counts, wanted_variety
from shoal.algorithms._merging import check_feasible
from shoal.algorithms._records import Records
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, Counts, group
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.errors import InfeasibleError, ParameterError


@dataclass(frozen=True, kw_only=True)
class DiverseClustering(ClusteringAlgorithm):
    """A clustering that looks at sensitive values. Where the whole table is not diverse enough, records of values that
    are too frequent are left out, as few as possible, if the suppression allows."""

    in_blocks: ClassVar[bool] = False

    def beginning(self, dataset: Dataset, policy: Policy) -> float | None:
        sensitive = dataset.summary.sensitive
        if len(sensitive) != 1 or wanted_variety(policy, sensitive[0]) < 2:
            return None
        return growing(dataset, len(sensitive[0].values))

    def check(self, records: Records) -> None:
        check_one_sensitive(records.dataset, type(self).__name__)
        if drawn_variety(records) < 2:
            raise ParameterError(
                f"{type(self).__name__} draws different sensitive values, and the policy asks for none; add a model "
                "such as frequency-l-diversity, or take k-member"
            )
        drawable(records)


def drawn_variety(records: Records) -> int:
    """How many different values a cluster takes."""
    return wanted_variety(records.policy, records.dataset.summary.sensitive[0])


def drawable(records: Records) -> Counts:
    """How many records of each value can be published; raises when no release satisfies the policy."""
    counts = records.dataset.summary.sensitive[0].population
    if bool(records.holds(np.zeros(len(records), np.int32)).all()):
        return counts
    eligible = eligible_counts(counts, drawn_variety(records), records.policy.budget(len(records)))
    if eligible.sum() == len(records):
        check_feasible(records)
    rows = some_of_each(records, eligible)
    owners = np.full(len(records), -1, np.int32)
    owners[rows] = 0
    if not bool(records.holds(owners).all()):
        raise InfeasibleError(
            f"what is left as one class when {len(records) - len(rows):,} records with frequent sensitive values are "
            "left out does not satisfy the policy; ask for less",
            {"least": records.policy.least, "lacking": len(records) - len(rows)},
        )
    return eligible


def some_of_each(records: Records, counts: Counts, owners: Codes | None = None) -> NDArray[np.int64]:
    """So many records of each value, drawn by the seed from those that have no cluster."""
    (values,) = records.dataset.listing(records.policy.seed)
    rows = np.arange(len(records)) if owners is None else np.flatnonzero(owners < 0)
    # In their own order the last ones, with the greatest quasi-identifiers, would go.
    rows = np.random.default_rng(records.policy.seed).permutation(rows)
    by_value = rows[np.argsort(values[rows], kind="stable")]
    ordered = values[by_value]
    ranks = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    return np.sort(by_value[ranks < counts[ordered]])


def filled(records: Records, left: Counts, generator: np.random.Generator, run: Run) -> tuple[Any, NDArray[np.int64]]:
    """The buckets of a table, and the record that each place of their owners stands for."""
    from shoal.kernels import buckets as kernel

    (values,) = records.dataset.listing(records.policy.seed)
    kinds = group([records.tuples, values], [len(records.points), len(left)], index=True)
    points = np.ascontiguousarray(records.points[kinds.keys[0]])
    origin = int(generator.integers(len(points)))
    boxes = records.index(points, run)
    # In the order of the tree, what a search looks at together stands side by side.
    ranks = np.empty(len(points), np.int32)
    ranks[boxes.order] = places = np.arange(len(points), dtype=np.int32)
    values, counts = kinds.keys[1][boxes.order], kinds.counts[boxes.order]
    buckets = kernel.filled(points[boxes.order], values, counts, left, boxes._replace(order=places), int(ranks[origin]))
    return buckets, np.argsort(ranks[kinds.index], kind="stable")


def owners_of(buckets: Any, order: NDArray[np.int64], finished: int) -> Codes:
    """The cluster of each record; what the last cluster had when it could not be finished is without again."""
    owners = np.empty(len(order), np.int32)
    owners[order] = np.where(buckets.owners < finished, buckets.owners, np.int32(-1))
    return owners
