"""Covariances and correlations: how far the linear relations between columns moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.adversary.perturbed_columns import PerturbedColumns
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class Covariances(Metric):
    """How far a perturbation moved the variances and covariances of the numeric columns that it changed, over the
    product of the columns' standard deviations: the mean over all pairs of columns, each with itself too.

    The detail has the mean change of the correlations between different columns, where there are two that vary.
    Records that lack one of the values do not count.

    Does not see relations that are not linear, or those with columns that were not changed. Only for perturbed
    releases, as they were made.

    Reference: J. Domingo-Ferrer, V. Torra, Disclosure control methods and information loss for microdata, 2001.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 4.0]})
        >>> data = shoal.read(table, quasi=["x", "y"])
        >>> release = shoal.anonymize(data, algorithm="additive-noise:share=0.5", seed=1)
        >>> shoal.metrics.Covariances().score(data, release).value > 0
        True
    """

    def score(self, dataset: Dataset, release: Release) -> Finding:
        _, before, after = PerturbedColumns.of(dataset, release).standardize()
        matrices = [np.atleast_2d(np.cov(values, rowvar=False, bias=True)) for values in (before, after)]
        pairs = np.triu_indices(len(matrices[0]))
        detail = {}
        roots = [np.sqrt(np.diag(matrix)) for matrix in matrices]
        varying = np.flatnonzero((roots[0] > 0) & (roots[1] > 0))
        if len(varying) > 1:
            two = np.ix_(varying, varying)
            correlations = [
                matrix[two] / np.outer(root[varying], root[varying])
                for matrix, root in zip(matrices, roots, strict=True)
            ]
            apart = np.abs(correlations[1] - correlations[0])[np.triu_indices(len(varying), 1)]
            detail = {"correlations": float(apart.mean()), "greatest change of a correlation": float(apart.max())}
        change = float(np.abs(matrices[1] - matrices[0])[pairs].mean())
        how = "change of the covariances of the changed columns over their standard deviations, on average"
        return Finding(name="covariances", value=change, detail=detail, how=how)
