"""What the models of sensitive attributes share: each attribute on its own, the worst class decides."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts import Model
from shoal.core.finding import Finding
from shoal.errors import SchemaError

SLACK = 1e-12
"""How far, as a share of the bound, rounding may carry a level past it. Counts of records that differ do not come
that close to each other below 10¹² records, so that it only decides what are ties by the definition."""

Levels = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class SensitiveModel(Model):
    """A model that gives every class a level, by the counts of its sensitive values, and bounds it.

    Every sensitive attribute is judged on its own unless one is named; all of them must keep the bound. The
    population is that of the whole original table, also of the records that a release leaves out, so that leaving
    records out never changes what is true of the other classes.
    """

    column: Annotated[
        str | None, Doc("the sensitive attribute that it is about; by default every one there is, each on its own")
    ] = None

    suppression_monotone: ClassVar[bool] = True
    level: ClassVar[str]
    """The name of the level, which is the name of the finding."""
    how: ClassVar[str]
    """How the level of a table is computed."""
    more_is_safer: ClassVar[bool]
    """Whether the bound is the least level a class may have, or the greatest."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """What the level of every class is held against."""

    @abstractmethod
    def levels(self, histogram: Histogram) -> Levels:
        """The level that each class has."""

    def keeps(self, levels: Levels) -> NDArray[np.bool_]:
        """Which levels keep the bound."""
        slack = SLACK * abs(self.bound)
        kept: NDArray[np.bool_] = levels >= self.bound - slack if self.more_is_safer else levels <= self.bound + slack
        return kept

    def histograms(self, classes: Classes) -> tuple[Histogram, ...]:
        """The sensitive attributes that it is about."""
        if self.column is not None:
            return (classes.histogram(self.column),)
        if not classes.sensitive:
            raise SchemaError(f"{type(self).__name__} needs a sensitive attribute and the schema names none; name one")
        return classes.sensitive

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        verdict: NDArray[np.bool_] = classes.sizes >= self.least
        for histogram in self.histograms(classes):
            verdict &= self.keeps(self.levels(histogram))
        return verdict

    def measure(self, classes: Classes) -> Finding:
        worst = {}
        for histogram in self.histograms(classes):
            levels = self.levels(histogram)
            extreme = levels.min if self.more_is_safer else levels.max
            worst[histogram.column] = extreme().item() if len(levels) else 0
        value = min(worst.values()) if self.more_is_safer else max(worst.values())
        return Finding(
            name=self.level, value=value, bound=self.bound, holds=bool(self.holds(classes).all()), how=self.how,
            detail=worst if len(worst) > 1 else {},
        )  # fmt: skip
