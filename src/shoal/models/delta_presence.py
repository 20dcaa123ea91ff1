"""δ-presence (Nergiz, Atzori and Clifton, 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import SLACK, UNBOUNDED, Levels
from shoal.core.finding import Finding
from shoal.core.sensitive import SubsetModel
from shoal.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class DeltaPresence(SubsetModel):
    """In every class the share of people who belong to a research subset is between `delta_min` and `delta_max`.

    The table is the population; a sensitive column says who belongs to the subset, and `values` says which of its
    values mean that; the release shows the whole population. Other models should then name their own `column`.

    Promises: whoever knows the quasi-identifiers of everybody in the population cannot tell that a person belongs
    to the subset with a probability above `delta_max`, nor that the person does not with one above 1 − `delta_min`.

    Does not protect against: what the other sensitive attributes of a class give away about the subset's members;
    attackers who know a smaller population than the table.

    Merging classes keeps it. `measure` gives the greatest share, and the least one in the detail.

    Reference: M. Nergiz, M. Atzori, C. Clifton, Hiding the presence of individuals from shared databases, 2007.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "member": ["no", "yes", "yes", "yes", "no"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["member"]).summary
        >>> model = shoal.models.DeltaPresence(delta_min=0.1, delta_max=0.5, values=("yes",))
        >>> model.holds(classes).tolist(), model.measure(classes).detail
        ([True, False], {'least': 0.5})
    """

    delta_min: Annotated[float, Ge(0), Le(1), Doc("the least share of the subset in a class")] = 0.0
    delta_max: Annotated[float, Ge(0), Le(1), Doc("the greatest share of the subset in a class")]

    merge_monotone: ClassVar[bool] = True
    counts_people: ClassVar[bool] = False
    asks: ClassVar[str] = "delta_max"
    level: ClassVar[str] = "delta-presence"
    how: ClassVar[str] = "the greatest share of a class that belongs to the research subset"
    unit: ClassVar[str] = "share"
    more_is_safer: ClassVar[bool] = False
    examples: ClassVar = (
        {"delta_min": 0.1, "delta_max": 0.4, "values": ("cancer",)},
        {"delta_max": 0.5, "leaves": (0,), "column": "disease"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta_min > self.delta_max:
            raise ParameterError("DeltaPresence: delta_min must not be above delta_max")

    def levels_of(self, histogram: Histogram) -> Levels:
        shares = self.figures(histogram)
        return np.where(shares >= self.delta_min * (1 - SLACK), shares, np.inf)

    def figures(self, histogram: Histogram) -> Levels:
        shares: Levels = self.members(histogram) / np.maximum(histogram.sizes, 1)
        return shares

    def sql(self) -> str:
        share = "SUM(CASE WHEN chosen = 1 THEN n ELSE 0 END) * 1.0 / MAX(size)"
        return f"CASE WHEN {share} >= {self.delta_min * (1 - SLACK)!r} THEN {share} ELSE {UNBOUNDED} END"

    def measure(self, classes: Classes) -> Finding:
        finding = super().measure(classes)
        (histogram,) = self.histograms(classes)
        return replace(finding, detail={"least": self.figures(histogram.parts).min().item() if len(classes) else 0})
