"""Height (Samarati, 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.utility.objective import CellObjective, CellTerms


@dataclass(frozen=True, kw_only=True)
class Height(CellObjective):
    """The levels of the quasi-identifiers, summed; in a local recoding the mean over the published records.

    Does not charge for records that are left out, and the steps of all hierarchies count alike, however many values
    they merge.

    Reference: P. Samarati, Protecting respondents' identities in microdata release, 2001.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["F", "M", "M"], "born": ["x", "x", "y"]})
        >>> data = shoal.read(table, quasi=["sex", "born"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=3), algorithm="optimal", objective="height")
        >>> shoal.metrics.Height().score(data, release).value
        2.0
    """

    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        costs = tuple(
            np.repeat(np.arange(tree.height + 1, dtype=np.float64)[:, None], tree.size, axis=1)
            for tree in summary.hierarchies
        )
        count = len(costs)
        spans = np.full(count, float(summary.records))
        return CellTerms(costs, np.zeros(count), spans, count * weights, left_out="nothing")

    def score(self, dataset: Dataset, release: Release) -> Finding:
        sizes = release.view.people().sizes
        levels = release.view.cells().levels @ sizes
        mean = float(levels.sum()) / max(int(sizes.sum()), 1)
        how = "levels of the quasi-identifiers, summed; the mean over the published records"
        return Finding(name="height", value=mean, unit="levels", how=how)
