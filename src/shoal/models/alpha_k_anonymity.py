"""(α, k)-anonymity (Wong and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import Levels
from shoal.core.finding import Finding
from shoal.core.sensitive import ChosenValuesModel, fewest


@dataclass(frozen=True, kw_only=True)
class AlphaKAnonymity(ChosenValuesModel):
    """Every class has at least `k` records, and none of the chosen sensitive values makes up more than the share
    `alpha` of any class; by default all values are chosen.

    Promises: k-anonymity, and that whoever finds a person's class believes in a chosen value with probability
    `alpha` at most.

    Does not protect against: learning values that were not chosen, values that mean the same (similarity), a
    chosen value that is much more frequent in a class than in the whole table (skewness).

    Merging classes keeps it. The chosen values never appear in a message, a finding or a manifest.

    Reference: R. Wong and others, (α, k)-anonymity: an enhanced k-anonymity model, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.models.AlphaKAnonymity(alpha=0.5, k=2)
        >>> model.holds(classes).tolist(), round(model.measure(classes).value, 4)
        ([True, False], 0.6667)
    """

    alpha: Annotated[float, Ge(0), Le(1), Doc("the greatest share of a class that a chosen value may have")]
    k: Annotated[int, Ge(1), Doc("the least number of records in a class")]

    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    asks: ClassVar[str] = "alpha"
    level: ClassVar[str] = "alpha"
    how: ClassVar[str] = "the greatest share of a class that a chosen sensitive value has"
    unit: ClassVar[str] = "share"
    more_is_safer: ClassVar[bool] = False
    examples: ClassVar = (
        {"alpha": 0.4, "k": 3, "values": ("hiv",)},
        {"alpha": 0.5, "k": 2, "column": "disease"},
        {"alpha": 0.4, "k": 3, "leaves": (2,)},
    )

    @property
    def claim(self) -> str:
        return f"({self.alpha:g}, {self.k})-anonymous"

    @property
    def least(self) -> int:
        return self.k

    @property
    def floor(self) -> int:
        return self.k

    def variety_among(self, histogram: Histogram) -> int:
        return fewest(np.where(self.chosen(histogram), self.alpha, 1.0), 1.0)

    def levels_of(self, histogram: Histogram) -> Levels:
        return histogram.greatest(np.where(self.chosen(histogram)[histogram.values], histogram.shares, 0.0))

    def sql(self) -> str:
        return "MAX(CASE WHEN chosen = 1 THEN n * 1.0 / size ELSE 0 END)"

    def measure(self, classes: Classes) -> Finding:
        finding = super().measure(classes)
        return replace(finding, detail={**finding.detail, "k": int(classes.headcounts.min()) if len(classes) else 0})
