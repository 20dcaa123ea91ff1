"""Entropy l-diversity (Machanavajjhala and others, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.contracts.model import SLACK
from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class EntropyLDiversity(SensitiveModel):
    """The entropy of the sensitive values of every class is at least ln `l`.

    Promises: the sensitive values of a class are together as uncertain as `l` equally frequent ones. It implies
    distinct l-diversity.

    Does not protect against: values that mean the same (similarity), a class that differs much from the whole
    table (skewness); and one value may still be far more frequent than 1/`l`.

    Merging classes keeps it. The level is the exponential of the natural entropy, and it keeps the bound when it
    falls short of it by no more than a 10⁻¹² part, so that a class of `l` equally frequent values does.

    Reference: A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.EntropyLDiversity(l=2)
        >>> model.holds(classes).tolist(), round(model.measure(classes).value, 4)
        ([True, False], 1.8899)
    """

    l: Annotated[float, Ge(1), Doc("the least effective number of sensitive values in a class")]  # noqa: E741

    merge_monotone: ClassVar[bool] = True
    asks: ClassVar[str] = "l"
    level: ClassVar[str] = "entropy-l"
    how: ClassVar[str] = "the exponential of the smallest entropy of the sensitive values of a class"
    kernel: ClassVar[str] = "ENTROPY"
    kernel_ceiling: ClassVar[str] = "DISTINCT"
    examples: ClassVar = ({"l": 2.5}, {"l": 2, "column": "disease"})

    @property
    def claim(self) -> str:
        return f"entropy {self.l:g}-diverse"

    @property
    def least(self) -> int:
        return ceil(self.l * (1 - SLACK))

    def sql(self) -> str:
        return "EXP(LN(MAX(mass)) - SUM(n * LN(n)) / MAX(mass))"
