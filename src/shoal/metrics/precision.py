"""Precision (Sweeney, 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.utility.objective import CellObjective, CellTerms, even


@dataclass(frozen=True, kw_only=True)
class Precision(CellObjective):
    """How far up its hierarchy a cell is published, as a share of the height, in the mean; a left-out one counts 1.

    This is what was lost, so 0 is best: Sweeney's Prec is 1 minus it.

    Does not see how much a level covers: the steps of a hierarchy count alike, however many values they merge.

    Reference: L. Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, 2002.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"sex": ["F", "M", "M", "M"]}), quasi=["sex"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), suppression=0.25, algorithm="optimal")
        >>> shoal.metrics.Precision().score(data, release).value
        0.25
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        costs = tuple(
            np.repeat(np.arange(tree.height + 1)[:, None] / max(tree.height, 1), tree.size, axis=1)
            for tree in summary.hierarchies
        )
        count = len(costs)
        return CellTerms(costs, np.zeros(count), np.full(count, float(summary.records)), weights)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        heights = np.array([max(tree.height, 1) for tree in dataset.hierarchies], dtype=np.float64)
        cells, sizes = release.view.cells(), release.view.people().sizes
        climbed = (cells.levels / heights[:, None]) @ sizes + float(release.suppressed)
        mean = float(climbed @ even(len(heights))) / dataset.records
        how = "level over height of a quasi-identifier cell, in the mean; left out: 1; Sweeney's Prec is 1 - it"
        return Finding(name="precision", value=mean, label="precision lost", unit="share", how=how)
