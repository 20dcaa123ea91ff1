"""Loss, arithmetic (Iyengar, 2002)."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.publishing.losses import covered
from shoal.utility.objective import CellObjective, CellTerms, even, loss_terms


@dataclass(frozen=True, kw_only=True)
class LossArithmetic(CellObjective):
    """How much of its domain a published value covers, per attribute from 0 (one leaf) to 1 (everything, or left
    out), as the mean of the attributes.

    Does not see how the records spread over the values, and does not mind when one attribute is lost altogether as
    long as the others gain.

    Reference: V. Iyengar, Transforming data to satisfy privacy constraints, 2002.

    Example:
        >>> import polars, shoal
        >>> data = shoal.read(polars.DataFrame({"age": [20, 20, 30, 40]}), quasi=["age"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2), suppression=0.5, algorithm="optimal")
        >>> round(shoal.metrics.LossArithmetic().score(data, release).value, 6)
        0.5
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        return loss_terms(summary, weights, geometric=False)

    def score(self, dataset: Dataset, release: Release) -> Finding:
        terms = self.terms(dataset.outline, even(len(dataset.hierarchies)))
        losses = terms.each(covered(dataset, release))
        how = "share of the domain that a cell covers, from one leaf (0) to all (1): mean of the attributes"
        detail = dict(zip(release.schema.quasi, losses.tolist(), strict=True))
        mean = float(losses @ terms.weights)
        return Finding(name="loss-arithmetic", value=mean, unit="share", how=how, detail=detail)
