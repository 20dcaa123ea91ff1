"""δ-disclosure privacy (Brickell and Shmatikov, 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nextafter
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.contracts.model import SLACK, UNBOUNDED, Levels
from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(SensitiveModel):
    """For every class and sensitive value the share in the class and the share in the whole table differ by a
    factor of less than e^`delta`: |ln(p/q)| < δ.

    Promises: finding a person's class neither raises nor lowers the belief in any sensitive value by that factor.

    Does not protect against: identity disclosure, what the whole table itself gives away.

    `strict` is the definition: a value that is absent from a class has an infinite difference. Otherwise, as some
    tools do, only the values that a class has are compared, and then anyone learns which values are ruled out.
    Merging classes keeps the strict form. It does not keep the other one: a value that one class lacks and the
    other has just often enough is too rare in both together.

    Reference: J. Brickell, V. Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized
    data publishing, 2008.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> shoal.models.DeltaDisclosure(delta=1).holds(classes).tolist()
        [True, False]
        >>> round(shoal.models.DeltaDisclosure(delta=1, strict=False).measure(classes).value, 4)
        0.6931
    """

    delta: Annotated[float, Gt(0), Doc("what the logarithm of the ratio of the shares must stay below")]
    strict: Annotated[bool, Doc("whether a value that a class lacks counts, as infinitely different")] = True

    by_population: ClassVar[bool] = True
    asks: ClassVar[str] = "delta"
    level: ClassVar[str] = "delta"
    how: ClassVar[str] = "the greatest |ln(share in a class / share in the whole table)|; delta must exceed it"
    more_is_safer: ClassVar[bool] = False
    examples: ClassVar = ({"delta": 1.0}, {"delta": 0.7, "strict": False, "column": "disease"})

    @property
    def merge_monotone(self) -> bool:  # type: ignore[override]
        return self.strict

    @property
    def threshold(self) -> float:
        # The definition is strict: a tie breaks the bound, rounded or not.
        return nextafter(self.delta * (1 - SLACK), 0.0)

    def levels_of(self, histogram: Histogram) -> Levels:
        priors = histogram.priors[histogram.values]
        ratios = np.divide(histogram.shares, priors, out=np.full(len(priors), np.inf), where=priors > 0)
        levels = histogram.greatest(np.abs(np.log(ratios)))
        if self.strict:
            levels[(histogram.distinct > 0) & (histogram.distinct < np.count_nonzero(histogram.population))] = np.inf
        return levels

    @property
    def sql_every(self) -> bool:
        return self.strict

    def sql(self) -> str:
        ratio = "ABS(LN((n * 1.0 / size) / (prior * 1.0 / records)))"
        return f"MAX(CASE WHEN n = 0 THEN {UNBOUNDED} ELSE {ratio} END)"
