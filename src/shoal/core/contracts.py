"""What a model, a metric, an algorithm, a hierarchy builder and an engine must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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


class Model(Parametrized, ABC):
    """A privacy model: which classes satisfy it, and which level of it a table has."""

    merge_monotone: ClassVar[bool]
    """Whether the union of two classes that satisfy it satisfies it too."""

    suppression_monotone: ClassVar[bool]
    """Whether a class that satisfied it still does when records of other classes are left out.

    What a class is compared with, the population, stays that of the whole original table.
    """

    growth_monotone: ClassVar[bool] = False
    """Whether a class that satisfies it still does when any records join it; then no part of a class that breaks it
    satisfies it, and searches prune far more."""

    by_size: ClassVar[bool] = False
    """Whether a class satisfies it as soon as it has `least` records."""

    by_population: ClassVar[bool] = False
    """Whether it compares a class with the whole table, whose counts of sensitive values a manifest then must state."""

    @property
    def least(self) -> int:
        """A size that every class that satisfies it has."""
        return 1

    @abstractmethod
    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it satisfies the model."""

    def judge(self, classes: Classes) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """For each class, whether it satisfies the model, and how many of its records have to be left out at least,
        however it is split. A model that knows more than that one part breaks it lets searches prune more."""
        holds = self.holds(classes)
        return holds, np.where(holds | (not self.merge_monotone), 0, 1)

    @abstractmethod
    def measure(self, classes: Classes) -> Finding:
        """The level of the model that the classes have, held against the parameter."""

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
