"""Recursive (c, l)-diversity (Machanavajjhala and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.sensitive import Levels, SensitiveModel


@dataclass(frozen=True, kw_only=True)
class RecursiveLDiversity(SensitiveModel):
    """In every class the most frequent sensitive value occurs less than `c` times as often as the `l`-th most
    frequent one and all rarer ones together: r₁ < c·(r_l + … + r_m), counts in descending order.

    Promises: the most frequent value is not too frequent, and stays so when `l` − 2 values are ruled out.

    Does not protect against: values that mean the same (similarity), a class that differs much from the whole
    table (skewness).

    Merging classes keeps it. `measure` gives the greatest r₁/(r_l + … + r_m) for the given `l`: the table has
    (c, l)-diversity for every `c` above that figure, and for none when a class has fewer than `l` values.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.RecursiveLDiversity(c=2, l=2)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 2.0)
    """

    c: Annotated[float, Gt(0), Doc("how many times the tail the most frequent value must stay below")]
    l: Annotated[int, Ge(1), Doc("the rank at which the tail begins")]  # noqa: E741

    merge_monotone: ClassVar[bool] = True
    level: ClassVar[str] = "recursive-c"
    how: ClassVar[str] = "the greatest ratio of the most frequent count to the tail's; c must exceed it"
    more_is_safer: ClassVar[bool] = False

    @property
    def least(self) -> int:
        return self.l

    @property
    def bound(self) -> float:
        return self.c

    def keeps(self, levels: Levels) -> NDArray[np.bool_]:
        # The definition is strict, and a ratio of two counts is rounded once: a tie shows as equality.
        kept: NDArray[np.bool_] = levels < self.c
        return kept

    def levels(self, histogram: Histogram) -> Levels:
        from shoal.kernels.diversity import tails

        most, tail = histogram.greatest(histogram.counts), tails(histogram.starts, histogram.counts, self.l)
        ratios: Levels = np.divide(most, tail, out=np.where(most > 0, np.inf, 0.0), where=tail > 0)
        return ratios
