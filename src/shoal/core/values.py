"""Values: the distinct values of a column, which is what a hierarchy is built from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.formats import dated
from shoal.core.formatting import counted
from shoal.core.hierarchy import Floats
from shoal.core.schema import Kind
from shoal.errors import SchemaError
from shoal.parsing.dates import Calendar, read
from shoal.parsing.labels import ascending, number

FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
"""Texts of the first form are formulas to a spreadsheet, which runs them, unless they are of the second."""


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """Distinct values in their natural order, as text, and as numbers where they are numbers or dates.

    The missing value is not among them; every hierarchy gets a leaf for it where the column needs one. Dates have the
    `calendar` that they are read by; `form` is the format where it is none that needs no word. A `doubt` is a question
    about the format that somebody has to answer, `notes` are what should be known about it. Numbers that are taken as
    `codes` are categories.
    """

    column: str
    kind: Kind
    texts: NDArray[Any]
    numbers: Floats | None = None
    calendar: Calendar | None = None
    form: str | None = None
    doubt: str | None = None
    notes: tuple[str, ...] = ()
    codes: bool = False

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
            reading = dated(column, texts, read(texts, "iso"))
            assert reading.quantities is not None
            order = chronological(texts, reading.quantities)
            ordered = np.array(texts, dtype=object)[order]
            return cls(column, kind, ordered, reading.quantities[order], reading.calendar)
        return cls(column, kind, np.array(sorted(texts), dtype=object))

    def quantities(self, texts: Sequence[str]) -> Floats:
        """Texts of earlier releases as the numbers that this column has; what it cannot have is refused."""
        what, lost = "numbers", 0
        if self.calendar is None:
            numbers = np.array([number(text) for text in texts], dtype=np.float64)
        else:
            moments = self.calendar.moments(texts)
            numbers, what = moments.quantities(times=self.calendar.times), "dates"
            lost = 0 if self.calendar.times else int((moments.nanos[moments.sound] != 0).sum())
        unfit = int(np.sum(~np.isfinite(numbers)))
        if unfit or lost:
            what, none = (what, "none") if unfit else ("days only", "at a time of day")
            raise SchemaError(
                f"column {self.column!r} has {what}, and {counted(unfit or lost, 'values')} of earlier releases "
                f"{'is' if (unfit or lost) == 1 else 'are'} {none}; say with --kind that it is categorical, or begin a "
                "new series"
            )
        return numbers


def chronological(texts: Sequence[str], quantities: Floats) -> NDArray[np.int64]:
    """The order of dates; moments that are the same in floating point stand in the order of their spellings, which is
    that of time but for the letter behind those in UTC."""
    keys = [(quantity, text.rstrip("Z")) for quantity, text in zip(quantities.tolist(), texts, strict=True)]
    return np.array(sorted(range(len(texts)), key=keys.__getitem__), dtype=np.int64)
