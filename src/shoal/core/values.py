"""Values: the distinct values of a column, which is what a hierarchy is built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.hierarchy import Floats, ascending, number
from shoal.core.schema import Kind

FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
"""Texts of the first form are formulas to a spreadsheet, which runs them, unless they are of the second."""


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """Distinct values in their natural order, as text, and as numbers where they are numbers.

    The missing value is not among them; every hierarchy gets a leaf for it where the column needs one.
    """

    column: str
    kind: Kind
    texts: NDArray[Any]
    numbers: Floats | None = None

    @classmethod
    def of(cls, column: str, kind: Kind, texts: list[str]) -> Values:
        """Values from texts in any order.

        Example:
            >>> Values.of("age", Kind.NUMERIC, ["30", "9"]).texts.tolist()
            ['9', '30']
        """
        if kind is Kind.NUMERIC:
            numbers = np.array([number(text) for text in texts], dtype=np.float64)
            order = ascending(texts, numbers)
            return cls(column, kind, np.array(texts, dtype=object)[order], numbers[order])
        return cls(column, kind, np.array(sorted(texts), dtype=object))
