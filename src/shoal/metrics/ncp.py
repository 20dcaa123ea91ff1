"""Normalized certainty penalty (Xu and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.release import Release
from shoal.publishing.losses import penalties


@dataclass(frozen=True, kw_only=True)
class Ncp(Metric):
    """The penalty of every published quasi-identifier cell, summed; by attribute in the detail, as a mean.

    A numeric cell costs the length of its interval over the range of the table, a categorical one the share of
    the leaves under its published value and nothing for a single leaf, a cell of a left-out record 1.

    Does not say whether the release is useful for a task; it counts how much less precise its cells are.

    Reference: J. Xu and others, Utility-based anonymization using local recoding, 2006.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2))
        >>> shoal.metrics.Ncp().score(data, release).value
        1.0
    """

    def score(self, dataset: Dataset, release: Release) -> Finding:
        totals = penalties(dataset, release)
        detail = dict(zip(release.schema.quasi, (totals / dataset.records).tolist(), strict=True))
        how = "detail that the quasi-identifier cells lost, summed: 1 is a cell that says nothing any more"
        return Finding(name="ncp", value=float(totals.sum()), unit="cells", how=how, detail=detail)
