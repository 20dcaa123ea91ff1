"""Discernibility (Bayardo and Agrawal, 2005)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Counts
from shoal.core.release import Release
from shoal.utility.objective import ClassObjective


@dataclass(frozen=True, kw_only=True)
class Dm(ClassObjective):
    """Every record costs the number of records that it cannot be told from: Σ|E|², and n for one that is left out.

    Looks at class sizes only: how far the published values are from the true ones does not count.

    Reference: R. Bayardo, R. Agrawal, Data privacy through optimal k-anonymization, 2005.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> shoal.metrics.Dm().score(data, shoal.anonymize(data, shoal.KAnonymity(k=2))).value
        8
    """

    def base(self, sizes: Counts, records: int) -> float:
        return float(np.square(sizes, dtype=np.float64).sum())

    def extra(self, sizes: Counts, records: int) -> float:
        return float((sizes * (records - sizes.astype(np.float64))).sum())

    def value(self, total: float, records: int) -> float:
        return total

    def score(self, dataset: Dataset, release: Release) -> Finding:
        sizes = [int(size) for size in release.view.people().sizes]
        charged = sum(size * size for size in sizes) + dataset.records * release.suppressed
        how = "pairs of records that cannot be told apart: class sizes squared, plus all records per left-out one"
        return Finding(name="dm", value=charged, unit="pairs", how=how)
