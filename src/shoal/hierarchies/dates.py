"""Calendar levels of dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from typing_extensions import Doc

from shoal.core.contracts import Builder
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.schema import Kind
from shoal.core.values import Values
from shoal.errors import HierarchyError

Unit = Literal["day", "month", "quarter", "year", "decade"]
UNITS: tuple[Unit, ...] = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True, kw_only=True)
class Dates(Builder):
    """Day, month, quarter, year, decade, then the top, for dates and times in ISO form.

    Example:
        >>> days = Values.of("born", Kind.DATE, ["1984-05-17", "1984-06-02", "1991-01-30"])
        >>> [level.tolist() for level in Dates(units=["month", "decade"]).build(days).labels[1:]]
        [['1984-05', '1984-06', '1991-01'], ['1980s', '1990s'], ['*']]
    """

    units: Annotated[tuple[Unit, ...], Doc("the levels, from fine to coarse")] = ("month", "quarter", "year", "decade")

    examples: ClassVar[Examples] = ({}, {"units": ("year",)})

    def build(self, values: Values) -> Hierarchy:
        if values.kind is not Kind.DATE:
            raise HierarchyError(
                f"column {values.column!r} is {values.kind}; calendar levels need dates like 1984-05-17"
            )
        if not self.units or list(self.units) != sorted(set(self.units), key=UNITS.index):
            raise HierarchyError(
                f"the hierarchy of column {values.column!r}: units go from fine to coarse: {', '.join(UNITS)}"
            )
        units = self.units
        if "day" in units and all(len(text) == len("1984-05-17") for text in values.texts):
            units = tuple(unit for unit in units if unit != "day")
        paths = [[text, *(_rounded(text, unit) for unit in units), TOP] for text in values.texts]
        return Hierarchy.from_paths(values.column, paths)


def _rounded(text: str, unit: Unit) -> str:
    year, month = text[:4], int(text[5:7])
    return {
        "day": text[:10],
        "month": text[:7],
        "quarter": f"{year}-Q{(month + 2) // 3}",
        "year": year,
        "decade": f"{year[:3]}0s",
    }[unit]
