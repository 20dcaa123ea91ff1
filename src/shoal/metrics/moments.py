"""Moments: how far means and standard deviations moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.adversary.perturbed_columns import PerturbedColumns
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class Moments(Metric):
    """How far a perturbation moved the mean and the standard deviation of each numeric column that it changed, in
    standard deviations of the column: the mean over both and all columns. The detail has each.

    Does not look at relations between columns, or at single records. Only for perturbed releases, as they were made.

    Reference: J. Domingo-Ferrer, V. Torra, Disclosure control methods and information loss for microdata, 2001.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 30, 40, 50]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm="rank-swapping:share=0.5", seed=1)
        >>> shoal.metrics.Moments().score(data, release).value
        0.0
    """

    def score(self, dataset: Dataset, release: Release) -> Finding:
        masked = PerturbedColumns.of(dataset, release)
        means = np.abs(np.nanmean(masked.after, axis=0) - np.nanmean(masked.before, axis=0)) / masked.spreads
        deviations = np.abs(np.nanstd(masked.after, axis=0) - np.nanstd(masked.before, axis=0)) / masked.spreads
        how = "change of means and standard deviations of the changed columns, in standard deviations, on average"
        detail = {
            f"{name}, {what}": change
            for what, changes in (("mean", means), ("standard deviation", deviations))
            for name, change in zip(masked.names, changes.tolist(), strict=True)
        }
        return Finding(name="moments", value=float(np.mean([means, deviations])), how=how, detail=detail)
