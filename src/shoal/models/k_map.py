"""k-map (Sweeney, 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.contracts.model import UNBOUNDED, Levels
from shoal.core.sensitive import SubsetModel


@dataclass(frozen=True, kw_only=True)
class KMap(SubsetModel):
    """Whoever belongs to a research subset shares the published quasi-identifiers with at least `k` people of the
    population, members of the subset or not.

    The table is the population; a sensitive column says who belongs to the subset, and `values` says which of its
    values mean that; the release shows the whole population. Other models should then name their own `column`.
    Classes without a member are free.

    Promises: whoever links a member's record to the population finds at least `k` people whom it may belong to.
    It is weaker than k-anonymity of the subset, and loses less.

    Does not protect against: attackers who know that a person belongs to the subset (the class may hold only one
    member), learning the sensitive value of a class that has only one.

    Merging classes keeps it.

    Reference: L. Sweeney, Computational disclosure control: a primer on data privacy protection, 2001.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmxx"), "member": ["no", "yes", "no", "yes", "yes"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["member"]).summary
        >>> model = shoal.models.KMap(k=2, values=("yes",))
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, True, True], 2)
    """

    k: Annotated[int, Ge(1), Doc("the least number of people of the population whom a member's record matches")]

    merge_monotone: ClassVar[bool] = True
    asks: ClassVar[str] = "k"
    level: ClassVar[str] = "k-map"
    how: ClassVar[str] = "the size of the smallest class that holds a member of the research subset"
    unit: ClassVar[str] = "records"
    examples: ClassVar = ({"k": 4, "values": ("cancer",)}, {"k": 3, "leaves": (0, 1), "column": "disease"})

    @property
    def claim(self) -> str:
        return f"{self.k}-mapped"

    def levels_of(self, histogram: Histogram) -> Levels:
        return np.where(self.members(histogram) > 0, histogram.sizes, np.inf)

    def sql(self) -> str:
        return f"CASE WHEN SUM(CASE WHEN chosen = 1 THEN n ELSE 0 END) > 0 THEN MAX(size) ELSE {UNBOUNDED} END"
