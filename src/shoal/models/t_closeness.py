"""t-closeness (Li, Li and Venkatasubramanian, 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.sensitive import SensitiveModel, fewest
from shoal.errors import SchemaError

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure


@dataclass(frozen=True, kw_only=True)
class TCloseness(SensitiveModel):
    """The sensitive values of every class are distributed like those of the whole table, up to the distance `t`.

    Promises: finding a person's class moves the belief about the sensitive value by no more than `t`, in Earth
    Mover's Distance from what the whole table says already.

    Does not protect against: identity disclosure (a class may be a single record when `t` is large), what the
    whole table itself gives away. How much a bound means depends on the distance between values:

    - `equal`: any two values are at distance 1; half the sum of the differences of the shares.
    - `ordered`: values that occur are ranked by the order of the hierarchy's leaves, which is numeric for numbers;
      the first and the last are at distance 1. A missing value ranks before all others.
    - `hierarchical`: the level of the closest common ancestor over the height of the hierarchy.

    Merging classes keeps it, because the distance is convex. Distances are sums of rounded shares: a class keeps
    the bound when it exceeds it by no more than 10⁻¹². Repeating a table changes no bit of the result.

    Reference: N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.TCloseness(t=0.2)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([False, False], 0.25)
    """

    t: Annotated[float, Ge(0), Le(1), Doc("the greatest distance from the whole table that a class may have")]
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical"], Doc("what the distance of two sensitive values is")
    ] = "equal"

    merge_monotone: ClassVar[bool] = True
    by_population: ClassVar[bool] = True
    asks: ClassVar[str] = "t"
    level: ClassVar[str] = "t"
    how: ClassVar[str] = "the greatest distance of the sensitive values of a class from those of the whole table"
    more_is_safer: ClassVar[bool] = False
    examples: ClassVar = ({"t": 0.3}, {"t": 0.3, "distance": "hierarchical", "column": "disease"})

    def variety_among(self, histogram: Histogram) -> int:
        # A class is as far from the table as the share of the values that it lacks, or farther.
        return fewest(histogram.distribution, 1 - self.t) if self.distance == "equal" else 1

    @property
    def claim(self) -> str:
        return f"{self.t:g}-close"

    def compiled(self, histogram: Histogram) -> Measure:
        from shoal.kernels import levels as kernel

        priors = histogram.distribution
        if self.distance == "equal":
            return kernel.Measure(kernel.EQUAL, priors)
        if self.distance == "ordered":
            occurs = histogram.population > 0
            ranks = (np.cumsum(occurs) - 1).astype(np.int32)
            cumulated = np.cumsum(priors[occurs])
            running = np.append(0.0, np.cumsum(cumulated))[:-1]
            return kernel.Measure(kernel.ORDERED, priors, nodes=ranks[None], masses=np.stack([cumulated, running]))
        if histogram.hierarchy is None:
            raise SchemaError(f"sensitive column {histogram.column!r} needs a hierarchy for the hierarchical distance")
        nodes = histogram.hierarchy.codes[:-1]
        masses = np.stack([np.bincount(level, priors, minlength=len(priors)) for level in nodes])
        return kernel.Measure(kernel.TREE, priors, nodes=nodes, masses=masses)

    def ceiling(self, histogram: Histogram) -> Measure | None:
        from shoal.kernels import levels as kernel

        return kernel.Measure(kernel.APART, histogram.distribution) if self.distance == "equal" else None

    @property
    def sql_every(self) -> bool:
        return self.distance != "equal"

    def sql(self) -> str:
        if self.distance == "ordered":
            return "COALESCE(SUM(ABS(ahead)) / NULLIF(COUNT(*) - 1, 0), 0)"
        if self.distance == "hierarchical":
            return "SUM(apart)"
        more = "n * 1.0 / mass - prior * 1.0 / whole"
        return f"SUM(CASE WHEN {more} > 0 THEN {more} ELSE 0 END)"
