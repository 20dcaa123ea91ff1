"""(ρ1, ρ2)-privacy (Evfimievski, Gehrke and Srikant, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Lt
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.contracts.model import SLACK, Levels
from shoal.core.sensitive import ChosenValuesModel
from shoal.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class RhoPrivacy(ChosenValuesModel):
    """Nothing unlikely becomes likely: no sensitive value whose share in the whole table is at most `rho1` has a
    share above `rho2` in any class, and none whose share is at least 1 − `rho1` has one below 1 − `rho2`.

    Promises: an attacker who knows the whole table's shares and finds a person's class has not moved from a belief
    up to `rho1` to one above `rho2`, neither in a value nor in its absence.

    Does not protect against: beliefs that rise and began above `rho1`, values that mean the same (similarity).
    By default all values are meant; chosen ones never appear in a message, a finding or a manifest.

    A share of exactly `rho1`, or of exactly 1 − `rho1`, counts, as in the first definition (2003). The one for
    published tables says "below" and "above", so whatever keeps this model keeps that one too.

    Merging classes keeps it. `measure` gives the smallest ρ2 that holds with the given ρ1.

    Reference: A. Evfimievski, J. Gehrke, R. Srikant, Limiting privacy breaches in privacy preserving data mining,
    2003; for published tables A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.models.RhoPrivacy(rho1=0.25, rho2=0.4)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([False, True], 0.5)
    """

    rho1: Annotated[float, Gt(0), Lt(1), Doc("up to which share in the whole table a value is unlikely")]
    rho2: Annotated[float, Gt(0), Lt(1), Doc("the greatest share in a class that an unlikely value may have")]

    merge_monotone: ClassVar[bool] = True
    by_population: ClassVar[bool] = True
    asks: ClassVar[str] = "rho2"
    level: ClassVar[str] = "rho2"
    how: ClassVar[str] = "the greatest share in a class of a value, or of its absence, that is unlikely in the table"
    unit: ClassVar[str] = "share"
    more_is_safer: ClassVar[bool] = False
    examples: ClassVar = (
        {"rho1": 0.35, "rho2": 0.5},
        {"rho1": 0.45, "rho2": 0.6, "values": ("hiv",), "column": "disease"},
        {"rho1": 0.35, "rho2": 0.5, "leaves": (0, 1)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rho1 >= self.rho2:
            raise ParameterError("RhoPrivacy: rho1 must be below rho2")

    def levels_of(self, histogram: Histogram) -> Levels:
        chosen = self.chosen(histogram) & (histogram.population > 0)
        rare = chosen & (histogram.priors <= self.rho1 + SLACK)
        common = chosen & (histogram.priors >= 1 - self.rho1 - SLACK)
        risen = histogram.greatest(np.where(rare[histogram.values], histogram.shares, 0.0))
        fallen = histogram.greatest(np.where(common[histogram.values], 1 - histogram.shares, 0.0))
        present = histogram.total(common[histogram.values].astype(np.int64))
        fallen[(present < np.count_nonzero(common)) & (histogram.distinct > 0)] = 1.0
        highest: Levels = np.maximum(risen, fallen)
        return highest

    @property
    def sql_every(self) -> bool:
        return True

    def sql(self) -> str:
        share, prior = "n * 1.0 / size", "prior * 1.0 / records"
        rare = f"MAX(CASE WHEN chosen = 1 AND {prior} <= {self.rho1 + SLACK!r} THEN {share} ELSE 0 END)"
        common = f"MAX(CASE WHEN chosen = 1 AND {prior} >= {1 - self.rho1 - SLACK!r} THEN 1 - {share} ELSE 0 END)"
        return f"CASE WHEN {rare} >= {common} THEN {rare} ELSE {common} END"
