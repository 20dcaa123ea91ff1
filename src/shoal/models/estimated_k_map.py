"""k-map against a population that survey weights estimate (Sweeney, 2001; Emam and Dankar, 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.model import Levels, Model


@dataclass(frozen=True, kw_only=True)
class EstimatedKMap(Model):
    """Every combination of published quasi-identifier values stands for at least `k` people of the population, as the
    survey weights estimate it: the weights of its people add up to `k` or more.

    The table is a sample, and its weight column says how many people each record stands for. Without such a column the
    model is refused. Recipients can verify it only where the weights are published as means; otherwise `verify` says
    that it cannot be measured.

    Promises: whoever does not know who was interviewed, and looks for a person by the quasi-identifiers, finds about
    `k` people of the population who look the same. It is weaker than k-anonymity, and loses less.

    Does not protect against: attackers who know that a person was interviewed, because a class may hold one record;
    wrong weights, because the number of people is estimated and not counted; learning the sensitive value of a class
    that has only one.

    Reference: K. El Emam, F. K. Dankar, Protecting privacy using k-anonymity, 2008; L. Sweeney, Computational
    disclosure control: a primer on data privacy protection, 2001.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffm"), "weight": [30.0, 40.0, 20.0]})
        >>> classes = shoal.read(table, quasi=["sex"], weight="weight").summary
        >>> model = shoal.models.EstimatedKMap(k=50)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 20.0)
    """

    k: Annotated[float, Ge(1), Doc("the least number of people of the population whom a class stands for")]

    asks: ClassVar[str] = "k"
    level: ClassVar[str] = "estimated-k-map"
    how: ClassVar[str] = "the sum of the survey weights in the class where it is least"
    unit: ClassVar[str] = "people"
    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    counts_population: ClassVar[bool] = True
    examples: ClassVar = ({"k": 4.0},)

    @property
    def claim(self) -> str:
        return f"{self.k:g}-mapped by the survey weights"

    def levels(self, classes: Classes) -> Levels:
        population = classes.population
        return classes.headcounts.astype(np.float64) if population is None else population

    def explanation(self, classes: Classes) -> str:
        return self.how

    def sql(self) -> str:
        return "SUM(population)"
