"""Quantiles: how far the steps of the distribution moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.adversary.perturbed_columns import PerturbedColumns
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.parameters import Examples
from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class Quantiles(Metric):
    """How far a perturbation moved the quantiles of each numeric column that it changed, in standard deviations of the
    column: the mean over evenly spaced quantiles and all columns. The detail has each column's.

    Does not look at the extremes, at relations between columns, or at single records. Only for perturbed releases,
    as they were made.

    Reference: J. Domingo-Ferrer, V. Torra, Disclosure control methods and information loss for microdata, 2001.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 30, 40, 50]}), quasi=["age"])
        >>> release = shoal.anonymize(data, algorithm="rank-swapping:share=0.5", seed=1)
        >>> shoal.metrics.Quantiles().score(data, release).value
        0.0
    """

    parts: Annotated[int, Ge(2), Doc("parts that the quantiles cut a column into: 4 are quartiles")] = 20

    examples: ClassVar[Examples] = ({}, {"parts": 4})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        masked = PerturbedColumns.of(dataset, release)
        levels = np.arange(1, self.parts) / self.parts
        before, after = (np.nanquantile(values, levels, axis=0) for values in (masked.before, masked.after))
        means = np.mean(np.abs(after - before) / masked.spreads, axis=0)
        how = f"change of {self.parts - 1} quantiles of the changed columns, in standard deviations, on average"
        detail = dict(zip(masked.names, means.tolist(), strict=True))
        return Finding(name="quantiles", value=float(means.mean()), how=how, detail=detail)
