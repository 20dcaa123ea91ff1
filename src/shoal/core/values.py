"""Values: the distinct values of a column, which is what a hierarchy is built from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.dates import Calendar, read
from shoal.core.hierarchy import Floats, ascending, number
from shoal.core.schema import Kind

FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
"""Texts of the first form are formulas to a spreadsheet, which runs them, unless they are of the second."""


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """Distinct values in their natural order, as text, and as numbers where they are numbers or dates.

    The missing value is not among them; every hierarchy gets a leaf for it where the column needs one. Dates have the
    `calendar` that they are read by; `form` is the format where it is none that needs no word. A `doubt` is a question
    about the format that somebody has to answer, `notes` are what should be known about it.
    """

    column: str
    kind: Kind
    texts: NDArray[Any]
    numbers: Floats | None = None
    calendar: Calendar | None = None
    form: str | None = None
    doubt: str | None = None
    notes: tuple[str, ...] = ()

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
        if kind is Kind.DATE:
            moments = read(texts, "iso")
            numbers = moments.quantities(times=moments.times)
            order = chronological(texts, numbers)
            calendar = Calendar("iso", moments.times)
            return cls(column, kind, np.array(texts, dtype=object)[order], numbers[order], calendar)
        return cls(column, kind, np.array(sorted(texts), dtype=object))


def chronological(texts: Sequence[str], quantities: Floats) -> NDArray[np.int64]:
    """The order of dates; equal moments that are spelled in different ways stand in the order of their spellings."""
    return np.array(sorted(range(len(texts)), key=lambda place: (quantities[place], texts[place])), dtype=np.int64)
