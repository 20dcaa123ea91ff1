"""Bounds on positive and negative disclosure (Machanavajjhala and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import SLACK, UNBOUNDED, Levels
from shoal.core.finding import Finding
from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class DisclosureBounds(SensitiveModel):
    """No class makes a sensitive value almost certain, nor rules one out: no share in a class is above 1 − `delta`
    (positive disclosure), and no value of the whole table has a share below `epsilon` (negative disclosure).

    Promises: whoever finds a person's class holds no sensitive value for more likely than 1 − `delta`, and none
    that the table has for less likely than `epsilon`.

    Does not protect against: a small share in the table that becomes a large one in a class, as long as it keeps
    the bounds; values that mean the same (similarity). It also counts a value as disclosed that the whole table
    gives away already.

    Merging classes keeps it. `measure` gives the greatest δ that holds, and the greatest ε in the detail.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.models.DisclosureBounds(delta=0.5, epsilon=0.1)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 0.0)
    """

    delta: Annotated[float, Ge(0), Le(1), Doc("how far every share in a class stays from certainty")]
    epsilon: Annotated[float, Ge(0), Le(1), Doc("the least share in a class of every value that the table has")] = 0.0

    merge_monotone: ClassVar[bool] = True
    by_population: ClassVar[bool] = True
    asks: ClassVar[str] = "delta"
    level: ClassVar[str] = "disclosure-delta"
    how: ClassVar[str] = "1 less the greatest share of a sensitive value in a class"
    examples: ClassVar = ({"delta": 0.5, "epsilon": 0.1}, {"delta": 0.4, "column": "disease"})

    def levels_of(self, histogram: Histogram) -> Levels:
        bounded = _least_shares(histogram) >= self.epsilon * (1 - SLACK)
        return np.where(bounded, self.figures(histogram), -np.inf)

    def figures(self, histogram: Histogram) -> Levels:
        distances: Levels = 1 - histogram.greatest(histogram.shares)
        return distances

    @property
    def sql_every(self) -> bool:
        return True

    def sql(self) -> str:
        least = f"MIN(n * 1.0 / size) >= {self.epsilon * (1 - SLACK)!r}"
        return f"CASE WHEN {least} THEN 1 - MAX(n * 1.0 / size) ELSE -{UNBOUNDED} END"

    def measure(self, classes: Classes) -> Finding:
        finding = super().measure(classes)
        least = [_least_shares(histogram.parts).min().item() for histogram in self.histograms(classes) if len(classes)]
        return replace(finding, detail={**finding.detail, "epsilon": min(least, default=0)})


def _least_shares(histogram: Histogram) -> Levels:
    """The least share that a value of the whole table has in each class; 0 where one is absent."""
    least: Levels = -histogram.greatest(-histogram.shares)
    least[(histogram.distinct > 0) & (histogram.distinct < np.count_nonzero(histogram.population))] = 0.0
    return least
