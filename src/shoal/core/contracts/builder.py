"""What a hierarchy builder must offer: a hierarchy for the values of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod

from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Parametrized
from shoal.core.values import Values


class Builder(Parametrized, ABC):
    """Makes a hierarchy for the distinct values of a column."""

    @abstractmethod
    def build(self, values: Values) -> Hierarchy:
        """The hierarchy; raises `HierarchyError` when the values do not suit it."""
