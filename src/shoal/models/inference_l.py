"""(d, l)-inference under functional dependencies (after Wang and Liu, 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.classes import Histogram
from shoal.core.sensitive import SensitiveModel

if TYPE_CHECKING:
    from shoal.kernels.levels import Measure


@dataclass(frozen=True, kw_only=True)
class InferenceL(SensitiveModel):
    """In every class each sensitive value has at least `l` − 1 others that occur exactly as often.

    Promises: knowing that the sensitive value determines another attribute (a functional dependency), knowing that
    attribute of everybody in a class and how often each sensitive value occurs there, an attacker who looks at that
    class alone guesses a person's value right with probability 1/`l` at most. All holders of a value must share one
    value of the other attribute, so counts that differ tell values apart; values that occur equally often can
    be exchanged for each other in every assignment that the attacker must still consider.

    Does not protect against: joining what several classes say about one value, knowing *which* value goes with
    which other attribute, values that mean the same. Sufficient, not necessary: a class that breaks it may resist.

    Reconstructed: the papers that describe the model name it without its definition. Here the dependencies *d*
    are all those whose left side is the sensitive attribute, so that the check needs no knowledge of them.
    Merging classes does not keep it: two values that tie in one class need not tie in the union.

    Reference: H. Wang, R. Liu, Privacy-preserving publishing microdata with full functional dependencies, 2011.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"sex": list("ffmmm"), "disease": ["flu", "hiv", "hiv", "hiv", "flu"]})
        >>> classes = shoal.read(table, quasi=["sex"], sensitive=["disease"]).summary
        >>> model = shoal.InferenceL(l=2)
        >>> model.holds(classes).tolist(), model.measure(classes).value
        ([True, False], 1)
    """

    l: Annotated[int, Ge(1), Doc("the least number of values of a class that occur equally often")]  # noqa: E741

    merge_monotone: ClassVar[bool] = False
    asks: ClassVar[str] = "l"
    level: ClassVar[str] = "inference-l"
    how: ClassVar[str] = "the fewest sensitive values of a class that occur equally often"
    examples: ClassVar = ({"l": 2}, {"l": 2, "column": "disease"})

    @property
    def least(self) -> int:
        return self.l

    def compiled(self, histogram: Histogram) -> Measure:
        from shoal.kernels import levels as kernel

        return kernel.Measure(kernel.TIES, histogram.priors)
