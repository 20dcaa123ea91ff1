"""Recursive (c, l)-diversity (Machanavajjhala and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge, Gt
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.finding import Finding
from shoal.core.sensitive import SensitiveModel

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure


@dataclass(frozen=True, kw_only=True)
class RecursiveLDiversity(SensitiveModel):
    """In every class the most frequent sensitive value occurs less than `c` times as often as the `l`-th most
    frequent one and all rarer ones together: r₁ < c·(r_l + … + r_m), counts in descending order.

    Promises: the most frequent value is not too frequent, and stays so when `l` − 2 values are ruled out.

    Does not protect against: values that mean the same (similarity), a class that differs much from the whole
    table (skewness).

    Merging classes keeps it. The level of a class is the greatest `l` for the given `c`, and questions are about that
    one. `measure` gives the greatest r₁/(r_l + … + r_m) for the given `l`: the table has (c, l)-diversity for every
    `c` above that figure, and for none when a class has fewer than `l` values.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.models.RecursiveLDiversity(c=2, l=2)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 2.0)
    """

    c: Annotated[float, Gt(0), Doc("how many times the tail the most frequent value must stay below")]
    l: Annotated[int, Ge(1), Doc("the rank at which the tail begins")]  # noqa: E741

    merge_monotone: ClassVar[bool] = True
    asks: ClassVar[str] = "l"
    level: ClassVar[str] = "recursive-c"
    how: ClassVar[str] = "the greatest ratio of the most frequent count to the tail's; c must exceed it"
    kernel_ceiling: ClassVar[str] = "DISTINCT"
    examples: ClassVar = ({"c": 1.5, "l": 2}, {"c": 3, "l": 2, "column": "disease"})

    @property
    def claim(self) -> str:
        return f"recursive ({self.c:g}, {self.l})-diverse"

    @property
    def least(self) -> int:
        return self.l

    def compiled(self, histogram: Histogram) -> Measure:
        from shoal.kernels import levels as kernel

        return kernel.Measure(kernel.RECURSIVE, histogram.priors, self.c)

    def sql(self) -> str:
        return f"SUM(CASE WHEN most * 1.0 / tail < {self.c!r} THEN 1 ELSE 0 END)"

    def measure(self, classes: Classes) -> Finding:
        from shoal.kernels import levels as kernel

        worst = {}
        for parts in (histogram.parts for histogram in self.histograms(classes)):
            measure = kernel.Measure(kernel.RATIO, parts.priors, float(self.l))
            ratios = kernel.by_class(parts.starts, parts.values, parts.counts, measure)
            worst[parts.column] = float(ratios.max(initial=0.0))
        finding = super().measure(classes)
        return replace(finding, value=max(worst.values()), bound=self.c, detail=worst if len(worst) > 1 else {})
