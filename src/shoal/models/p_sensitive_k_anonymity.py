"""p-sensitive k-anonymity (Truta and Vinay, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.finding import Finding
from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class PSensitiveKAnonymity(SensitiveModel):
    """Every class has at least `k` records and at least `p` different values of each sensitive attribute.

    Promises: k-anonymity, and that whoever finds a person's class still has to choose among `p` sensitive values.

    Does not protect against: guessing by frequency (one of the values may be almost certain), values that mean
    the same (similarity), a class that differs much from the whole table (skewness).

    Merging classes keeps it.

    Reference: T. Truta, B. Vinay, Privacy protection: p-sensitive k-anonymity property, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> shoal.models.PSensitiveKAnonymity(p=2, k=3).holds(classes).tolist()
        [False, True]
    """

    p: Annotated[int, Ge(1), Doc("the least number of different sensitive values in a class")]
    k: Annotated[int, Ge(1), Doc("the least number of records in a class")]

    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    asks: ClassVar[str] = "p"
    level: ClassVar[str] = "p"
    how: ClassVar[str] = "the fewest different sensitive values in a class"
    unit: ClassVar[str] = "values"
    kernel: ClassVar[str] = "DISTINCT"
    examples: ClassVar = ({"p": 3, "k": 4}, {"p": 2, "k": 5, "column": "disease"})

    @property
    def claim(self) -> str:
        return f"{self.p}-sensitive {self.k}-anonymous"

    @property
    def least(self) -> int:
        return max(self.p, self.k)

    @property
    def variety(self) -> int:
        return self.p

    @property
    def floor(self) -> int:
        return self.k

    def sql(self) -> str:
        return "COUNT(*)"

    def measure(self, classes: Classes) -> Finding:
        finding = super().measure(classes)
        return replace(finding, detail={**finding.detail, "k": int(classes.headcounts.min()) if len(classes) else 0})
