"""Weighted hierarchical distance (Li and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.metric import Metric
from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.loss import climb
from shoal.core.parameters import Examples
from shoal.core.release import Release


@dataclass(frozen=True, kw_only=True)
class Whd(Metric):
    """How far the quasi-identifier cells climbed in their hierarchies, as a mean: 0 for the table itself, 1 when
    everything is at the top.

    In a hierarchy of height H the step from level i to level i + 1 weighs 1/(H − i)^`beta`, so that steps close to
    the top, which take more away, cost more; a cell costs the weights of its steps over those of all H steps. A
    cell of a left-out record costs 1. The detail has the mean of each attribute.

    Does not look at how many values a step joins, or at distances between numbers. An interval that is no node of
    the hierarchy counts as the closest node above it, and a value that is alone under its ancestor as itself.

    Reference: J. Li and others, Achieving k-anonymity by clustering in attribute hierarchical structures, 2006.

    Example:
        >>> import polars, shoal
        >>> tree = shoal.Hierarchy.from_paths("zip", [("11", "1*", "*"), ("12", "1*", "*"), ("21", "2*", "*")])
        >>> table = polars.DataFrame({"zip": ["11", "12", "21", "21"]})
        >>> data = shoal.read(table, quasi=["zip"], hierarchies={"zip": tree})
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=2))
        >>> round(Whd().score(data, release).value, 4), Whd(beta=0).score(data, release).value
        (0.1667, 0.25)
    """

    beta: Annotated[float, Ge(0), Doc("how much more steps close to the top cost; 0: all steps cost the same")] = 1.0

    examples: ClassVar[Examples] = ({}, {"beta": 0.0})

    def score(self, dataset: Dataset, release: Release) -> Finding:
        cells, sizes = release.view.cells(), release.view.people().sizes
        means = {}
        for position, hierarchy in enumerate(dataset.hierarchies):
            costs = climb(hierarchy, self.beta)[hierarchy.ancestor_levels(cells.low[position], cells.high[position])]
            means[hierarchy.column] = float(np.dot(costs, sizes) + release.suppressed) / dataset.records
        how = f"mean weighted distance that the quasi-identifier cells climbed, beta {self.beta:g}"
        return Finding(name="whd", value=sum(means.values()) / len(means), detail=means, unit="share", how=how)
