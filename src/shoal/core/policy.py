"""Policy: what must hold in a release, and what may be given up for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.core import seeds
from shoal.core.classes import Classes
from shoal.core.contracts.model import Model
from shoal.core.finding import Finding
from shoal.core.release_history import History
from shoal.errors import ParameterError


class Objective(Protocol):
    """What a policy minimizes: any metric. A policy stands below metrics and does not know more of them."""

    def score(self, dataset: Any, release: Any, /) -> Finding: ...


def allowed(share: float, records: int) -> int:
    """How many records a share of them allows to leave out; a share that rounding carried below a whole number of
    records allows that number.

    Example:
        >>> allowed(0.29, 100), allowed(0.299, 10)
        (29, 2)
    """
    return int(share * records + 1e-9)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Models that every published class satisfies, a budget of records to leave out, a loss to minimize, a seed.

    The seed is the holder's secret: whoever knows it and the table can repeat every choice that was made at random.
    The `history` has what was published before of the same people, where a ledger tells.
    """

    models: tuple[Model, ...]
    suppression: float = 0.0
    objective: Objective | None = None
    seed: int = 0
    history: History | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (
            isinstance(self.suppression, bool)
            or not isinstance(self.suppression, Real)
            or not 0 <= self.suppression <= 1
        ):
            raise ParameterError("suppression is a share of the records, between 0 and 1")
        seeds.checked(self.seed)

    @property
    def least(self) -> int:
        """A size that every published class has."""
        return max((model.least for model in self.models), default=1)

    def check_apart(self, who: str) -> None:
        """Raises when a model judges the table as a whole, for somebody who looks at a few classes at a time."""
        for model in self.models:
            if model.whole_table:
                raise ParameterError(
                    f"{type(model).__name__} judges all classes of a table together, and {who} looks at a few at a "
                    "time; use dependency-safe, a full-domain search, or a clustering without refinement"
                )

    def by_class(self) -> Policy:
        """A policy that implies it, whose models judge each class by itself as far as such models are known."""
        models = tuple(model.by_class() for model in self.models)
        return self if models == self.models else replace(self, models=models)

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it satisfies every model."""
        verdict = np.ones(len(classes), dtype=np.bool_)
        for model in self.models:
            verdict &= model.holds(classes)
        return verdict

    def unions_hold(self, *, people: bool) -> bool:
        """Whether the union of classes that satisfy the policy always does. Where people are counted, somebody may be
        in several classes, and only models that any record may join are sure to survive."""
        return all(model.growth_monotone or (model.merge_monotone and not people) for model in self.models)

    def budget(self, records: int) -> int:
        """How many of so many records may be left out."""
        return allowed(self.suppression, records)
