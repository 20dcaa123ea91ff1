"""Global certainty penalty (Ghinita and others, 2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.codebook import Codebook
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.loss import penalty
from shoal.core.release import Release
from shoal.publishing.losses import penalties
from shoal.utility.objective import CellObjective, CellTerms


@dataclass(frozen=True, kw_only=True)
class Gcp(CellObjective):
    """The mean penalty (NCP) of all quasi-identifier cells: 0 for the table itself, 1 when nothing is left.

    Does not say whether the release is useful for a task; it counts how much less precise its cells are.

    Reference: G. Ghinita and others, Fast data anonymization with low information loss, 2007.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2))
        >>> shoal.metrics.Gcp().score(data, release).value
        0.25
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        costs = []
        for tree, keys in zip(summary.hierarchies, summary.keys, strict=True):
            least, greatest = int(keys.min()), int(keys.max())
            books = [Codebook.at_level(tree, level) for level in range(tree.height + 1)]
            levels = [penalty(tree, book.low, book.high, least, greatest, book.lengths) for book in books]
            costs.append(np.stack([cost[nodes] for cost, nodes in zip(levels, tree.codes, strict=True)]))
        count = len(costs)
        return CellTerms(tuple(costs), np.zeros(count), np.full(count, float(summary.records)), weights)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        totals = penalties(dataset, release)
        mean = float(totals.sum()) / (dataset.records * len(totals))
        how = "detail that the quasi-identifier cells lost (global certainty penalty), in the mean; left out: 1"
        return Finding(name="gcp", value=mean, unit="share", how=how)
