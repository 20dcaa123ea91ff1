"""k-anonymity (Samarati and Sweeney, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts.model import Levels, Model


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Model):
    """Every combination of published quasi-identifier values occurs at least `k` times.

    Promises: whoever knows only the quasi-identifiers of a person cannot narrow that person down to fewer than
    `k` records.

    Does not protect against: learning the sensitive value when a class has only one (homogeneity), background
    knowledge, or columns that should have been quasi-identifiers and were not named.

    Reference: L. Sweeney, k-anonymity: a model for protecting privacy, 2002.

    Example:
        >>> import polars, shoal
        >>> classes = shoal.read(polars.DataFrame({"sex": list("ffm")}), quasi=["sex"]).summary
        >>> KAnonymity(k=2).holds(classes).tolist(), KAnonymity(k=2).measure(classes).value
        ([True, False], 1)
    """

    k: Annotated[int, Ge(1), Doc("the least number of records in a class")]

    asks: ClassVar[str] = "k"
    level: ClassVar[str] = "k"
    how: ClassVar[str] = "the size of the smallest class"
    unit: ClassVar[str] = "records"
    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    by_size: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    examples: ClassVar = ({"k": 4},)

    @property
    def claim(self) -> str:
        return f"{self.k}-anonymous"

    @property
    def least(self) -> int:
        return self.k

    def levels(self, classes: Classes) -> Levels:
        return classes.headcounts

    def sql(self) -> str:
        return "COUNT(*)"
