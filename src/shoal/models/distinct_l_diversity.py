"""Distinct l-diversity (Machanavajjhala and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(SensitiveModel):
    """Every class has at least `l` different sensitive values.

    Promises: whoever finds a person's class still has to choose among `l` sensitive values.

    Does not protect against: guessing by frequency (one of the values may be almost certain), values that mean
    the same (similarity), a class that differs much from the whole table (skewness).

    Merging classes keeps it. A missing sensitive value counts as a value.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmm"), "disease": ["flu", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.DistinctLDiversity(l=2)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 1)
    """

    l: Annotated[int, Ge(1), Doc("the least number of different sensitive values in a class")]  # noqa: E741

    merge_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    asks: ClassVar[str] = "l"
    level: ClassVar[str] = "distinct-l"
    how: ClassVar[str] = "the fewest different sensitive values in a class"
    unit: ClassVar[str] = "values"
    kernel: ClassVar[str] = "DISTINCT"
    examples: ClassVar = ({"l": 3}, {"l": 2, "column": "disease"})

    @property
    def claim(self) -> str:
        return f"distinct {self.l}-diverse"

    @property
    def least(self) -> int:
        return self.l

    def sql(self) -> str:
        return "COUNT(*)"
