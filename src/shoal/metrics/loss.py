"""Loss, geometric (Iyengar, 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.publishing.losses import covered
from shoal.utility.objective import CellObjective, CellTerms, even, loss_terms


@dataclass(frozen=True, kw_only=True)
class Loss(CellObjective):
    """How much of its domain a published value covers, per attribute from 0 (one leaf) to 1 (everything, or left
    out), as a geometric mean of the attributes: Π(1 + L)^(1/d) - 1.

    The geometric mean prefers losing a little in every attribute over losing one attribute altogether.

    Does not see how the records spread over the values: a value that covers half of the leaves costs the same
    whether few or many records had one of them.

    Reference: V. Iyengar, Transforming data to satisfy privacy constraints, 2002; the geometric mean is ARX's.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), suppression=0.5, algorithm="optimal")
        >>> round(shoal.metrics.Loss().score(data, release).value, 6)
        0.5
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        return loss_terms(summary, weights)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        terms = self.terms(dataset.outline, even(len(dataset.hierarchies)))
        losses = terms.each(covered(dataset, release))
        mean = float(np.expm1(np.log1p(losses) @ terms.weights))
        how = "share of the domain that a cell covers, from one leaf (0) to all (1): geometric mean"
        detail = dict(zip(release.schema.quasi, losses.tolist(), strict=True))
        return Finding(name="loss", value=mean, unit="share", how=how, detail=detail)
