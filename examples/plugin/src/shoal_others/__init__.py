"""A privacy model for Shoal: enough people of a class do not have its most frequent value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.contracts.model import Levels
from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class OthersAtLeast(SensitiveModel):
    """In every class at least `others` people do not have its most frequent sensitive value.

    Promises: whoever takes the most frequent value of a class for everybody's is wrong about that many people.

    Does not protect against: guesses that are mostly right, in a class that is large; values that mean the same.

    Example:
        >>> import pyarrow, shoal
        >>> table = pyarrow.table({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "hiv"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> OthersAtLeast(others=1).holds(classes).tolist()
        [True, False]
    """

    others: Annotated[int, Ge(1), Doc("how many people of a class do not have its most frequent value, at least")]

    asks: ClassVar[str] = "others"
    level: ClassVar[str] = "others"
    how: ClassVar[str] = "the fewest people of a class who do not have its most frequent value"
    unit: ClassVar[str] = "people"
    merge_monotone: ClassVar[bool] = True
    examples: ClassVar = ({"others": 2}, {"others": 1, "column": "disease"})

    def levels_of(self, histogram: Histogram) -> Levels:
        levels: Levels = histogram.sizes - histogram.greatest(histogram.counts)
        return levels

    def sql(self) -> str:
        return "MAX(size) - MAX(n)"
