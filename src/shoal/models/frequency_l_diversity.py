"""Frequency l-diversity: no sensitive value makes up more than 1/l of a class (Xiao and Tao, 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.contracts.model import SLACK, Levels
from shoal.core.sensitive import SensitiveModel, plain

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure


@dataclass(frozen=True, kw_only=True)
class FrequencyLDiversity(SensitiveModel):
    """No sensitive value makes up more than 1/`l` of any class.

    Promises: whoever finds a person's class guesses the sensitive value right with probability 1/`l` at most.

    Does not protect against: values that mean the same (similarity), a rare value that is much more frequent in
    a class than in the whole table (skewness), knowledge that rules values out.

    Merging classes keeps it. A table has a release that satisfies it only if no value makes up more than 1/`l` of
    all records. The level is the size of the class over the count of its most frequent value, one division of
    whole numbers, so that the comparison with a whole `l` is exact.

    Reference: X. Xiao, Y. Tao, Anatomy: simple and effective privacy preservation, 2006.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.FrequencyLDiversity(l=2)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 1.5)
    """

    l: Annotated[float, Ge(1), Doc("the reciprocal of the greatest share that a sensitive value may have")]  # noqa: E741

    merge_monotone: ClassVar[bool] = True
    asks: ClassVar[str] = "l"
    level: ClassVar[str] = "frequency-l"
    how: ClassVar[str] = "the least ratio of the size of a class to the count of its most frequent sensitive value"
    kernel: ClassVar[str] = "FREQUENCY"
    kernel_ceiling: ClassVar[str] = "DISTINCT"
    examples: ClassVar = ({"l": 2}, {"l": 1.5, "column": "disease"})

    @property
    def claim(self) -> str:
        return f"frequency {self.l:g}-diverse"

    @property
    def least(self) -> int:
        return ceil(self.l * (1 - SLACK))

    def levels_of(self, histogram: Histogram) -> Levels:
        if histogram.members is None:
            return super().levels_of(histogram)
        levels: Levels = histogram.members / np.maximum(histogram.greatest(histogram.counts), 1)
        return levels

    def bounding(self, histogram: Histogram) -> Measure | None:
        return self.compiled(histogram) if plain(histogram) else None

    def sql(self) -> str:
        return "MAX(size) * 1.0 / MAX(n)"
