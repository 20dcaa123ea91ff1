"""β-likeness (Cao and Karras, 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.contracts.model import SLACK, UNBOUNDED, Levels
from shoal.core.sensitive import SensitiveModel, fewest


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(SensitiveModel):
    """No sensitive value is more frequent in a class than in the whole table by more than `beta` times its share
    there: (p − q)/q ≤ β. The enhanced form also demands (p − q)/q ≤ −ln q, which matters for frequent values.

    Promises: finding a person's class raises the belief in any sensitive value by the factor 1 + `beta` at most;
    a rare value stays rare.

    Does not protect against: beliefs that fall (a value may be absent from a class), values that mean the same
    (similarity), identity disclosure.

    Merging classes keeps it. `measure` gives the smallest β that holds, which is infinite in the enhanced form
    when a class breaks the part of the bound that does not depend on β.

    Reference: J. Cao, P. Karras, Publishing microdata with a robust privacy guarantee, 2012.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.models.BetaLikeness(beta=0.5)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([False, True], 1.0)
    """

    beta: Annotated[float, Gt(0), Doc("the greatest relative gain of a sensitive value's share")]
    enhanced: Annotated[bool, Doc("whether the gain is also bounded by −ln of the value's share in the table")] = False

    merge_monotone: ClassVar[bool] = True
    by_population: ClassVar[bool] = True
    asks: ClassVar[str] = "beta"
    level: ClassVar[str] = "beta"
    how: ClassVar[str] = "the greatest relative gain of a sensitive value's share in a class over the whole table"
    more_is_safer: ClassVar[bool] = False
    examples: ClassVar = ({"beta": 0.9}, {"beta": 0.9, "enhanced": True, "column": "disease"})

    def variety_among(self, histogram: Histogram) -> int:
        return fewest((1 + self.beta) * histogram.priors, 1.0)

    def levels_of(self, histogram: Histogram) -> Levels:
        priors = histogram.priors[histogram.values]
        gains = np.full(len(priors), np.inf)
        np.divide(histogram.shares - priors, priors, out=gains, where=priors > 0)
        if self.enhanced:
            caps = -np.log(priors, out=np.zeros_like(priors), where=priors > 0)
            gains[gains > caps * (1 + SLACK) + SLACK] = np.inf
        return histogram.greatest(np.maximum(gains, 0.0))

    def sql(self) -> str:
        gain = "(n * 1.0 / size) / (prior * 1.0 / records) - 1"
        cap = f"WHEN {gain} > -LN(prior * 1.0 / records) * {1 + SLACK!r} + {SLACK!r} THEN {UNBOUNDED} "
        return f"MAX(CASE {cap if self.enhanced else ''}WHEN {gain} > 0 THEN {gain} ELSE 0 END)"
