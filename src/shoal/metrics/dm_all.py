"""Discernibility that does not charge for suppression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Counts
from shoal.core.release import Release
from shoal.publishing.decision import sizes_of
from shoal.utility.objective import ClassObjective


@dataclass(frozen=True, kw_only=True)
class DmAll(ClassObjective):
    """Every record costs the number of records that it cannot be told from, Σ|E|², left out or not.

    A record that is left out counts in the class that it would have been in: the class of its recoding, where the
    recoding is known and full-domain; elsewhere only published classes count.

    Looks at class sizes only, and leaving records out costs nothing extra: use it with a small budget.

    Reference: R. Bayardo, R. Agrawal, Data privacy through optimal k-anonymization, 2005; without their penalty it
    grows with every generalization.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"sex": ["F", "M", "M", "M"]}), quasi=["sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), suppression=0.25, algorithm="optimal")
        >>> shoal.metrics.DmAll().score(data, release).value
        10
    """

    def base(self, sizes: Counts, records: int) -> float:
        return float(np.square(sizes, dtype=np.float64).sum())

    def extra(self, sizes: Counts, records: int) -> float:
        return 0.0

    def value(self, total: float, records: int) -> float:
        return total

    def score(self, dataset: Dataset, release: Release) -> Finding:
        sizes = release.view.people().sizes
        how = "pairs of records that cannot be told apart: published class sizes squared"
        plan = release.recoding.plan if release.recoding else None
        if plan is not None and not plan.by_record and bool(plan.withheld.any()) and int(plan.classes.min()) >= 0:
            sizes = np.bincount(plan.classes, weights=sizes_of(dataset, plan)).astype(np.int64)
            how = "pairs of records that cannot be told apart: class sizes squared, left-out classes included"
        return Finding(name="dm-all", value=sum(int(size) ** 2 for size in sizes), how=how, unit="pairs")
