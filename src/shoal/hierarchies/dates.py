"""Calendar levels of dates, and ages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import TOP, Floats, Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError, ParameterError

Days = NDArray[np.int64]

CALENDAR = ("day", "month", "quarter", "year", "decade")
WEEKS = ("day", "week")
AGES = ("age", "5-years", "10-years", "20-years")
_YEARS = re.compile(r"([1-9]\d{0,2})-years")


@dataclass(frozen=True, kw_only=True)
class Dates(Builder):
    """Day, month, quarter, year, decade, then the top: 1984-05-17, 1984-05, 1984-Q2, 1984, 1980s.

    A week (1984-W20, as ISO counts them) lies across months and years, so `week` goes with `day` only. With a
    `reference` date the levels are ages on that day, in full years, and spans of them such as `5-years`. Times are
    dropped at the level of days; the days of times with a zone are those of the column's clock.

    Example:
        >>> from shoal.core.schema import Kind
        >>> days = Values.of("born", Kind.DATE, ["1984-05-17", "1984-06-02", "1991-01-30"])
        >>> [level.tolist() for level in Dates(units=["month", "decade"]).build(days).labels[1:]]
        [['1984-05', '1984-06', '1991-01'], ['1980s', '1990s'], ['*']]
        >>> ages = Dates(reference="2026-06-01", units=["age", "10-years"]).build(days)
        >>> [level.tolist() for level in ages.labels[1:]]
        [['42', '41', '35'], ['[40-49]', '[30-39]'], ['*']]
    """

    units: Annotated[
        tuple[str, ...],
        Doc(
            "the levels, from fine to coarse: day, month, quarter, year, decade, or day and week; with a reference age "
            "and spans such as 5-years; by default all but weeks, and with a reference age, 5, 10 and 20 years"
        ),
    ] = ()
    reference: Annotated[str | None, Doc("the day, such as 2026-01-01, on which ages are counted")] = None

    examples: ClassVar[Examples] = (
        {},
        {"units": ("year",)},
        {"units": ("day", "week")},
        {"reference": "2026-01-01", "units": ("age", "5-years", "15-years")},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference is not None and _day(self.reference) is None:
            raise ParameterError("Dates: reference: a day is written like 2026-01-01")
        if self.reference is None and not all(unit in (*CALENDAR, *WEEKS) for unit in self.units):
            raise ParameterError(f"Dates: units: choose from {', '.join(CALENDAR)} and week; ages need a reference")
        if self.reference is not None and not all(_span(unit) for unit in self.units):
            raise ParameterError("Dates: units: with a reference a level is age, or a span such as 5-years")

    def build(self, values: Values) -> Hierarchy:
        where = f"the hierarchy of column {values.column!r}"
        if values.calendar is None or values.numbers is None:
            raise HierarchyError(
                f"column {values.column!r} is {values.kind}; calendar levels need dates like 1984-05-17"
            )
        units = self.units or (CALENDAR if self.reference is None else AGES)
        if not _nested(units):
            raise HierarchyError(
                f"{where}: units go from fine to coarse ({', '.join(CALENDAR)}), weeks go with days only, and each "
                "span of years fits into the next"
            )
        times = values.calendar.times
        days = _days(values)
        levels = [_level(days, unit, self.reference, where) for unit in units if times or unit != "day"]
        rows, labels = [np.arange(len(days))], [values.texts]
        bounds: list[tuple[Floats, Floats]] = [(values.numbers, values.numbers)]
        for level in levels:
            rows.append(level.codes)
            labels.append(level.labels)
            # A node of times ends where the next day begins, one of days with its last day.
            bounds.append((values.calendar.begins(level.first), values.calendar.begins(level.last + int(times))))
        rows.append(np.zeros(len(days), dtype=np.int64))
        labels.append(np.array([TOP], dtype=object))
        bounds.append((values.numbers[:1], values.numbers[-1:]))
        codes = np.ascontiguousarray(np.array(rows, dtype=np.int32))
        return Hierarchy(values.column, codes, tuple(labels), values.numbers, tuple(bounds), calendar=values.calendar)


class _Level(NamedTuple):
    """The node of each date, and of each node its label, its first day and its last one."""

    codes: Days
    labels: NDArray[Any]
    first: Days
    last: Days


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _nested(units: tuple[str, ...]) -> bool:
    """Whether every node of a level lies in one of the next."""
    if all(unit in CALENDAR for unit in units):
        return list(units) == sorted(set(units), key=CALENDAR.index)
    if all(unit in WEEKS for unit in units):
        return list(units) == sorted(set(units), key=WEEKS.index)
    spans = [_span(unit) for unit in units]
    return all(span > 0 for span in spans) and all(wide > fine and wide % fine == 0 for fine, wide in pairwise(spans))


def _span(unit: str) -> int:
    """How many years a level of ages joins; 0 when it is none."""
    years = _YEARS.fullmatch(unit)
    return 1 if unit == "age" else int(years[1]) if years else 0


def _days(values: Values) -> Days:
    """The day of each date: from its text, which is exact, or else from its number of days or seconds."""
    assert values.calendar is not None and values.numbers is not None
    moments = values.calendar.moments(values.texts.tolist())
    return np.where(moments.sound, moments.days, values.calendar.days(values.numbers))


def _level(days: Days, unit: str, reference: str | None, where: str) -> _Level:
    if reference is not None:
        return _ages(days, _span(unit), reference, where)
    number, first, label = _UNITS[unit]
    nodes, codes = np.unique(number(days), return_inverse=True)
    return _Level(codes, np.array([label(int(node)) for node in nodes], object), first(nodes), first(nodes + 1) - 1)


def _ages(days: Days, span: int, reference: str, where: str) -> _Level:
    """Ages in full years; who is older was born earlier, so nodes go from the oldest down."""
    months = days.astype("M8[D]").astype("M8[M]")
    month, day = months.astype(np.int64) % 12 + 1, days - months.astype("M8[D]").astype(np.int64) + 1
    on = date.fromisoformat(reference)
    to_come = (month > on.month) | ((month == on.month) & (day > on.day))
    ages = on.year - (months.astype(np.int64) // 12 + 1970) - to_come
    late = int((ages < 0).sum())
    if late:
        raise HierarchyError(f"{where}: {late:,} of its {len(days):,} distinct dates are after the reference")
    nodes, starts, codes = np.unique(-(ages // span), return_index=True, return_inverse=True)
    spans = [-int(node) * span for node in nodes]
    labels = [str(age) if span == 1 else f"[{age}-{age + span - 1}]" for age in spans]
    return _Level(codes, np.array(labels, object), days[starts], days[np.append(starts[1:], len(days)) - 1])


def _months(days: Days) -> Days:
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def _first_of_month(months: Days) -> Days:
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def _week(node: int) -> str:
    """The name of the week whose Thursday, like that of 1970-01-01, is a multiple of seven; its year is that day's."""
    thursday = np.datetime64(node * 7, "D")
    year = thursday.astype("M8[Y]")
    number = int((thursday - year.astype("M8[D]")).astype(np.int64)) // 7 + 1
    return f"{int(year.astype(np.int64)) + 1970:04d}-W{number:02d}"


_UNITS: dict[str, tuple[Callable[[Days], Days], Callable[[Days], Days], Callable[[int], str]]] = {
    "day": (lambda days: days, lambda nodes: nodes, lambda node: str(np.datetime64(node, "D"))),
    "week": (lambda days: (days + 3) // 7, lambda nodes: nodes * 7 - 3, _week),
    "month": (_months, _first_of_month, lambda node: f"{node // 12 + 1970:04d}-{node % 12 + 1:02d}"),
    "quarter": (
        lambda days: _months(days) // 3,
        lambda nodes: _first_of_month(nodes * 3),
        lambda node: f"{node // 4 + 1970:04d}-Q{node % 4 + 1}",
    ),
    "year": (
        lambda days: _months(days) // 12,
        lambda nodes: _first_of_month(nodes * 12),
        lambda node: f"{node + 1970:04d}",
    ),
    "decade": (
        lambda days: (_months(days) // 12 + 1970) // 10,
        lambda nodes: _first_of_month((nodes * 10 - 1970) * 12),
        lambda node: f"{node * 10:04d}s",
    ),
}
"""For each unit the number of the node that a day is in, the first day of a node, and its label."""
