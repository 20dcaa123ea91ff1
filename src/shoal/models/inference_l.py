"""(d, l)-inference under functional dependencies (after Wang and Liu, 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.adversary.twins import twins
from shoal.core.classes import Histogram
from shoal.core.contracts.model import Levels
from shoal.core.sensitive import SensitiveModel


@dataclass(frozen=True, kw_only=True)
class InferenceL(SensitiveModel):
    """Every sensitive value has at least `l` − 1 *twins*: values that occur exactly as often as it in every class.

    Promises: whoever knows that the sensitive value determines another attribute (a functional dependency), or is
    determined by one, knows that attribute of everybody and who is in which class, guesses a person's value right with
    probability 1/`l` at most, also by joining what all classes say. Twins can be exchanged for each other in every
    assignment that the attacker must still consider, so that they are equally likely. The bound is reached where
    different values go with different values of the other attribute.

    Does not protect against: knowing *which* value goes with which other attribute (a dependency that names a value),
    values that mean the same, people who are found by their quasi-identifiers.

    Reconstructed: the papers that describe the model name it without its definition, which here is that no
    posterior exceeds 1/`l` and no link between a value and a value of the other attribute 1/*d*. What a release file
    tells is classes and counts, not the other attribute, so the model is the condition that suffices for the first part
    whatever the dependency is; the attack `functional-dependency`, which knows the original table, measures both parts.
    Sufficient, not necessary: where the other attribute is coarse, a table that breaks it may resist.

    It judges the classes of a table all together: one class may break the twins of another.

    Reference: H. Wang, R. Liu, Privacy-preserving publishing microdata with full functional dependencies, 2011.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmmm"), "disease": ["flu", "hiv", "flu", "hiv", "gout", "cold"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> shoal.models.InferenceL(l=2).measure(classes).value
        2
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "flu", "hiv", "gout"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> shoal.models.InferenceL(l=2).levels(classes).tolist()
        [2.0, 1.0]
    """

    l: Annotated[int, Ge(1), Doc("the least number of values that occur equally often in every class")]  # noqa: E741

    merge_monotone: ClassVar[bool] = True
    suppression_monotone: ClassVar[bool] = False
    whole_table: ClassVar[bool] = True
    counts_people: ClassVar[bool] = False
    asks: ClassVar[str] = "l"
    level: ClassVar[str] = "inference-l"
    how: ClassVar[str] = "the fewest sensitive values that occur equally often in every class"
    unit: ClassVar[str] = "values"
    examples: ClassVar = ({"l": 2}, {"l": 2, "column": "disease"})

    @property
    def least(self) -> int:
        return self.l

    def levels_of(self, histogram: Histogram) -> Levels:
        """The fewest twins of a value of each class, the value included."""
        owners = histogram.owners.astype(np.int32)
        blocks = twins(owners, histogram.values, histogram.counts, len(histogram.population))
        return -histogram.greatest(-blocks[histogram.values].astype(np.float64))

    def sql(self) -> str:
        return "MIN(twins)"
