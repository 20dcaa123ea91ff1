"""Average equivalence class size."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.grouping import Counts
from shoal.core.release import Release
from shoal.utility.objective import ClassObjective


@dataclass(frozen=True, kw_only=True)
class Aecs(ClassObjective):
    """The records of the table over its classes; all records that are left out count as one class.

    Looks at the number of classes only: how far the published values are from the true ones does not count.

    Reference: K. LeFevre, D. DeWitt, R. Ramakrishnan, Mondrian multidimensional k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> shoal.metrics.Aecs().score(data, shoal.anonymize(data, shoal.KAnonymity(k=2))).value
        2.0
    """

    def base(self, sizes: Counts, records: int) -> float:
        return float(-len(sizes))

    def extra(self, sizes: Counts, records: int) -> float:
        return float(max(0, len(sizes) - 1))

    def value(self, total: float, records: int) -> float:
        return -records / total

    def score(self, dataset: Dataset, release: Release) -> Finding:
        classes = len(release.view.people()) + (1 if release.suppressed else 0)
        how = "average size of a class: records / classes; what is left out counts as one class"
        return Finding(name="aecs", value=dataset.records / classes, unit="records", how=how)
