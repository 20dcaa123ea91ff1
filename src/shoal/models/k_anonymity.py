"""k-anonymity (Samarati and Sweeney, 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.classes import Classes
from shoal.core.contracts import Model
from shoal.core.finding import Finding


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Model):
    """Every combination of published quasi-identifier values occurs at least `k` times.

    Promises: whoever knows only the quasi-identifiers of a person cannot narrow that person down to fewer than
    `k` records.

    Does not protect against: learning the sensitive value when a class has only one (homogeneity), background
    knowledge, or columns that should have been quasi-identifiers and were not named.

    Reference: L. Sweeney, k-anonymity: a model for protecting privacy, 2002.

    Example:
        >>> from shoal.core.classes import summarize
        >>> classes = summarize(["sex"], [np.array([0, 0, 1], np.int32)], [2])
        >>> KAnonymity(k=2).holds(classes).tolist(), KAnonymity(k=2).measure(classes).value
        ([True, False], 1)
    """

    k: Annotated[int, Ge(1), Doc("the least number of records in a class")]

    merge_monotone: ClassVar[bool] = True
    identity: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = True
    growth_monotone: ClassVar[bool] = True
    by_size: ClassVar[bool] = True

    @property
    def least(self) -> int:
        return self.k

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        return classes.sizes >= self.k

    def measure(self, classes: Classes) -> Finding:
        smallest = int(classes.sizes.min()) if len(classes) else 0
        return Finding(
            name="k", value=smallest, bound=self.k, holds=smallest >= self.k or not len(classes),
            how="the size of the smallest class",
        )  # fmt: skip
