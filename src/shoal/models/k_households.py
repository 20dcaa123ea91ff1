"""k-anonymity counted in households."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.model import Levels, Model


@dataclass(frozen=True, kw_only=True)
class KHouseholds(Model):
    """Every combination of published quasi-identifier values occurs in at least `k` different households.

    Households are told apart by the household column. As every household in a class has a person there, the class
    also has at least `k` people: this is k-anonymity, in people and in households. For more people than households,
    name k-anonymity beside it.

    Promises: whoever knows only the quasi-identifiers of a person cannot narrow the person's household down to fewer
    than `k`. Without it, a class of five people may be one family.

    Does not protect against: whoever knows all members of a household and sees which records belong together, as
    pseudonyms of households show it; sensitive values that all households of a class share.

    Reference: A. Hundepool et al., Statistical disclosure control, 2012, on hierarchical data.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "home": [1, 2, 1, 1, 3]})
        >>> classes = shoal.read(table, quasi=["sex"], household="home").summary
        >>> shoal.models.KHouseholds(k=3).holds(classes).tolist(), shoal.models.KHouseholds(k=3).measure(classes).value
        ([False, False], 2)
    """

    k: Annotated[int, Ge(1), Doc("the least number of households in a class")]

    asks: ClassVar[str] = "k"
    level: ClassVar[str] = "k-households"
    how: ClassVar[str] = "the households in the class that has the fewest"
    unit: ClassVar[str] = "households"
    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    counts_households: ClassVar[bool] = True
    examples: ClassVar = ({"k": 3},)

    @property
    def claim(self) -> str:
        return f"{self.k}-anonymous by households"

    @property
    def least(self) -> int:
        return self.k

    def levels(self, classes: Classes) -> Levels:
        return classes.household_counts

    def explanation(self, classes: Classes) -> str:
        return self.how

    def sql(self) -> str:
        return "COUNT(DISTINCT household)"
