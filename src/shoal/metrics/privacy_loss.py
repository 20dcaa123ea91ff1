"""Privacy loss (Li and Li, 2009): what the worst placed record's class tells beyond the whole table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.classes import Histogram
from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.hierarchy import Floats
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.utility.expected import divergence

BLOCK = 1 << 22
"""Entries of dense histograms that are looked at together."""


@dataclass(frozen=True, kw_only=True)
class PrivacyLoss(Metric):
    """How far the sensitive values of a class are from those of the whole table, for the class that is farthest: the
    Jensen-Shannon divergence in bits, from 0 (the classes tell nothing new) to 1. Of several sensitive attributes the
    worst counts; the detail has each. People are counted, not records, where the release tells whose they are.

    Does not see who can be found in a class, or what the other columns tell.

    Reference: T. Li, N. Li, On the tradeoff between privacy and utility in data publishing, 2009.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": ["M"] * 4 + ["F"] * 4,
        ...     "disease": ["flu", "hiv", "flu", "flu", "hiv", "cold", "flu", "cold"]})
        >>> data = shoal.read(table, quasi=["sex"], sensitive=["disease"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=4))
        >>> round(PrivacyLoss().score(data, release).value, 6)
        0.143156
    """

    def score(self, dataset: Dataset, release: Release) -> Finding:
        groups = release.in_people(release.view.groups())
        if not groups.sensitive:
            raise NotDefined("the table names no sensitive attribute, so there is nothing that classes could tell")
        worst = {histogram.column: _worst(histogram.parts) for histogram in groups.sensitive}
        detail = worst if len(worst) > 1 else {}
        how = "Li & Li: divergence of the sensitive values of a class from those of the table, for the worst class"
        return Finding(name="privacy-loss", value=max(worst.values()), unit="bits", detail=detail, how=how)


def _worst(histogram: Histogram) -> float:
    """The greatest divergence of any class."""
    overall, classes, values = histogram.distribution, len(histogram.starts) - 1, len(histogram.population)
    worst, step = 0.0, max(1, BLOCK // max(values, 1))
    for first in range(0, classes, step):
        last = min(first + step, classes)
        entries = slice(histogram.starts[first], histogram.starts[last])
        shares: Floats = np.zeros((last - first, values))
        cells = histogram.owners[entries] - first, histogram.values[entries]
        np.add.at(shares, cells, histogram.counts[entries])
        totals = shares.sum(axis=1, keepdims=True)
        filled = totals[:, 0] > 0
        divergences = divergence(overall, shares[filled] / totals[filled])
        worst = max(worst, float(divergences.max(initial=0.0)))
    return worst
