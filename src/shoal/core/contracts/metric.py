"""What a metric must offer: the score of a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from shoal.core.dataset import Dataset
from shoal.core.finding import Finding
from shoal.core.parameters import Parametrized
from shoal.core.release import Release


class Metric(Parametrized, ABC):
    """A measure of what a release lost, or of what it is still good for."""

    quick: ClassVar[bool] = True
    """Whether it takes next to no time once classes are known. Every release is measured by the quick ones when it is
    made; `evaluate` measures by all."""

    flawless: ClassVar[float | None] = None
    """What the table itself scores, where the definition says it, so that nobody has to compute it."""

    compared: ClassVar[bool] = True
    """Whether its value for the table as it is, and for one with everything hidden, tells anything."""

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Columns that it looks at beside those with a role."""
        return ()

    @abstractmethod
    def score(self, dataset: Dataset, release: Release) -> Finding:
        """The measure of a release of a dataset."""
