"""What a model, a metric, an algorithm, a hierarchy builder and an engine must offer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.core.finding import Finding
from shoal.core.grouping import Codes
from shoal.core.parameters import Parametrized

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.dataset import Dataset
    from shoal.core.hierarchy import Hierarchy
    from shoal.core.policy import Policy
    from shoal.core.pseudonyms import Pseudonyms
    from shoal.core.recoding import Recoding
    from shoal.core.release import Release
    from shoal.core.run import Run
    from shoal.core.schema import Schema
    from shoal.core.values import Values


Levels = NDArray[Any]

SLACK = 1e-12
"""How far rounding may carry a level past its bound, as a share of a bound above 1. What is a tie by the definition
keeps the bound; whatever else this lets through differs from a tie by less than anyone can use."""


class Model(Parametrized, ABC):
    """A privacy model: gives every class a level and bounds it by a parameter. The worst class decides.

    This is the one definition of the notion: anonymizing, verifying and the questions of the diagnosis all ask it.
    """

    asks: ClassVar[str]
    """The parameter that bounds the level, which questions of the diagnosis are about."""

    level: ClassVar[str]
    """The name of the level, which is the name of the finding."""

    how: ClassVar[str]
    """How the level of a table is computed."""

    more_is_safer: ClassVar[bool] = True
    """Whether the bound is the least level that a class may have, or the greatest."""

    merge_monotone: ClassVar[bool]
    """Whether the union of two classes that satisfy it satisfies it too. Then adding attributes never makes the level
    of a table better, and questions can be asked about sets of attributes."""

    suppression_monotone: ClassVar[bool]
    """Whether a class that satisfied it still does when records of other classes are left out.

    What a class is compared with, the population, stays that of the whole original table.
    """

    growth_monotone: ClassVar[bool] = False
    """Whether a class that satisfies it still does when any records join it; then no part of a class that breaks it
    satisfies it, and searches prune far more."""

    by_size: ClassVar[bool] = False
    """Whether its level is the size of the class, so that a class satisfies it as soon as it has `least` records."""

    by_population: ClassVar[bool] = False
    """Whether it compares a class with the whole table, whose counts of sensitive values a manifest then must state."""

    needs_sensitive: ClassVar[bool] = False
    """Whether it looks at sensitive values."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]]
    """Parameters of models that make sense, and that together show every parameter. Examples are about a column
    `disease`, some of whose values are `cancer`, `flu` and `hiv`."""

    @property
    def least(self) -> int:
        """A size that every class that satisfies it has."""
        return 1

    @property
    def bound(self) -> float | int:
        """What the level of every class is held against."""
        value: float | int = getattr(self, self.asks)
        return value

    @property
    def whole(self) -> bool:
        """Whether levels are whole numbers."""
        return isinstance(self.bound, int)

    @property
    def threshold(self) -> float:
        """The worst level that keeps the bound."""
        if self.whole:
            return self.bound
        slack = SLACK * max(abs(self.bound), 1.0)
        return self.bound - slack if self.more_is_safer else self.bound + slack

    @abstractmethod
    def levels(self, classes: Classes) -> Levels:
        """The level of each class: the safest value of the parameter `asks` with which the class satisfies the model,
        whatever that parameter is now; infinitely bad when there is none."""

    def keeps(self, levels: Levels) -> NDArray[np.bool_]:
        """Which levels keep the bound."""
        kept: NDArray[np.bool_] = levels >= self.threshold if self.more_is_safer else levels <= self.threshold
        return kept

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it satisfies the model."""
        return self.keeps(self.levels(classes))

    def judge(self, classes: Classes) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """For each class, whether it satisfies the model, and how many of its records have to be left out at least,
        however it is split. A model that knows more than that one part breaks it lets searches prune more."""
        holds = self.holds(classes)
        return holds, np.where(holds | (not self.merge_monotone), 0, 1)

    def measure(self, classes: Classes) -> Finding:
        """The level of the model that the classes have, held against the parameter."""
        levels = self.levels(classes)
        return Finding(
            name=self.level, value=self.told(self.worst(levels)), bound=self.bound,
            holds=bool(self.keeps(levels).all()), how=self.how,
        )  # fmt: skip

    def worst(self, levels: Levels) -> float | int:
        """The worst of some levels; 0 when there are none."""
        found: float | int = (levels.min() if self.more_is_safer else levels.max()).item() if len(levels) else 0
        return found

    def told(self, level: float) -> float | int:
        """A level as people read it."""
        return int(level) if self.whole and math.isfinite(level) else level

    def sql(self) -> str | None:
        """The level of a class as an SQL aggregate, where it has one.

        It is over the rows of a class, or with `needs_sensitive` over its distinct sensitive values: `n` counts one in
        the class, `prior` in the whole table; `size` and `records` count the class and the table, `most` is the
        greatest n of the class, and `tail` the sum of n over this value and all that are no more frequent.
        """
        return None

    def concealed(self, schema: Schema) -> Model:
        """The same model as a manifest may show it: without any value of a cell among its parameters."""
        return self


class Metric(Parametrized, ABC):
    """A measure of what a release lost, or of what it is still good for."""

    @abstractmethod
    def score(self, dataset: Dataset, release: Release) -> Finding:
        """The measure of a release of a dataset."""


class Algorithm(Parametrized, ABC):
    """An anonymizer: decides how a table is recoded so that a policy holds."""

    @abstractmethod
    def search(self, dataset: Dataset, policy: Policy, run: Run) -> Recoding:
        """The recoding; raises `InfeasibleError` when no release satisfies the policy."""


class Builder(Parametrized, ABC):
    """Makes a hierarchy for the distinct values of a column."""

    @abstractmethod
    def build(self, values: Values) -> Hierarchy:
        """The hierarchy; raises `HierarchyError` when the values do not suit it."""


class Published(Protocol):
    """A published table in an engine's hands."""

    @property
    def records(self) -> int: ...

    def labels(self, name: str) -> Sequence[str | None]:
        """The distinct values of a column, as text; `group` uses their positions as codes."""
        ...

    def group(self, attributes: Sequence[str], sensitive: Sequence[tuple[str, Hierarchy | None]]) -> Classes:
        """The classes of the published values. Sensitive codes are leaves, or positions in `labels`."""
        ...

    def frame(self) -> Any:
        """The table as the type that came in."""
        ...

    def write(self, path: Path) -> None:
        """Writes the table in the format that the path's ending names."""
        ...


class Table(Protocol):
    """A table in an engine's hands: what touches rows, and the summary."""

    @property
    def records(self) -> int: ...

    def group(self, attributes: Sequence[str], sensitive: Sequence[str]) -> Classes:
        """Distinct tuples with counts and histograms, computed where the data live."""
        ...

    def codes(self, name: str) -> Codes:
        """A column as integers, row by row."""
        ...

    def apply(self, schema: Schema, recoding: Recoding, *, seed: int, pseudonyms: Pseudonyms | None) -> Published:
        """The published table: recoded, shuffled, without the records that are left out."""
        ...
