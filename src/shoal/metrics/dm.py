"""Discernibility (Bayardo and Agrawal, 2005)."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.contracts import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class Dm(Metric):
    """Every record costs the number of records that it cannot be told from: Σ|E|², and n for one that is left out.

    Looks at class sizes only: how far the published values are from the true ones does not count.

    Reference: R. Bayardo, R. Agrawal, Data privacy through optimal k-anonymization, 2005.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> shoal.Dm().score(data, shoal.anonymize(data, shoal.KAnonymity(k=2))).value
        8
    """

    def score(self, dataset: Dataset, release: Release) -> Finding:
        sizes = [int(size) for size in release.classes.sizes]
        charged = sum(size * size for size in sizes) + dataset.records * release.suppressed
        return Finding(name="dm", value=charged, how="class sizes squared, plus n for each left-out record")
