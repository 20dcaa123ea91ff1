"""Quantities: the numbers and days that texts spell, exactly, and the spans of them that labels stand for."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from shoal.parsing.labels import DATES, INTERVAL, number

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ZONE = re.compile(r"[T :]\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d)")
_FINER = re.compile(r"[.,]\d{6}(\d{1,3})")
"""What is finer than a microsecond."""
_MICROSECOND = timedelta(microseconds=1)

End = Decimal | float
"""A number, or infinity."""


class Span(NamedTuple):
    """The numbers from `low` to `high`, exactly; `half` leaves the greatest out."""

    low: Decimal
    high: Decimal
    half: bool

    def holds(self, value: Decimal) -> bool:
        """Whether a number lies in it."""
        return self.low <= value < self.high if self.half else self.low <= value <= self.high

    @classmethod
    def of(cls, text: str | None, *, intervals: bool) -> Span | None:
        """The numbers that a label stands for: one, or those of an interval where labels may be intervals."""
        ends = (INTERVAL.fullmatch(text) or DATES.fullmatch(text)) if intervals and text is not None else None
        if ends is None:
            value = exactly(text)
            return None if value is None else cls(value, value, False)
        low, high = exactly(ends[1]), exactly(ends[2])
        return None if low is None or high is None else cls(low, high, not (text or "").endswith("]"))


class Bounds(NamedTuple):
    """The numbers between two ends; an `open` end is left out."""

    low: End
    high: End
    open: tuple[bool, bool]

    def hold(self, span: Span) -> bool:
        """Whether every number of a span lies between the ends."""
        above = self.low < span.low or (self.low == span.low and not self.open[0])
        return above and (span.high < self.high or (span.high == self.high and (span.half or not self.open[1])))

    def can_hold(self, span: Span) -> bool:
        """Whether some number of a span lies between the ends."""
        above = self.low < span.high or (self.low == span.high and not span.half and not self.open[0])
        return above and (span.low < self.high or (span.low == self.high and not self.open[1]))

    @property
    def whole(self) -> tuple[float, float]:
        """The first and the last whole number between the ends."""
        low, high = float(self.low), float(self.high)
        first = np.floor(low) + 1 if self.open[0] else np.ceil(low)
        last = np.ceil(high) - 1 if self.open[1] else np.floor(high)
        return float(first), float(last)


def names_zone(text: str | None) -> bool:
    """Whether a text is a time with a zone."""
    return text is not None and _ZONE.search(text) is not None


def clock_ends(low: str | None, high: str | None) -> tuple[End, End] | None:
    """Two ends as their own clocks show them; None where they name no zone."""
    if not names_zone(low) and not names_zone(high):
        return None
    first, last = (exactly(text, by_clock=True) for text in (low, high))
    return -math.inf if first is None else first, math.inf if last is None else last


def exactly(text: str | None, *, by_clock: bool = False) -> Decimal | None:
    """The number that a text spells, for a date the number of its day, so that different ones stay different; None
    where it is neither. A moment with a zone is taken in UTC, or as its own clock shows it.

    Example:
        >>> exactly("2.50"), exactly("1970-01-02T12:00") - exactly("1970-01-01"), exactly("flu")
        (Decimal('2.50'), Decimal('1.5'), None)
    """
    if math.isfinite(number(text)):
        return Decimal(text or "")
    if text is not None and _DAY.match(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        passed = moment.replace(tzinfo=None) - datetime.min + timedelta(days=1)
        if not by_clock:
            passed -= moment.utcoffset() or timedelta()
        finer = _FINER.search(text)
        nanoseconds = passed // _MICROSECOND * 1000 + int(finer[1].ljust(3, "0") if finer else 0)
        return Decimal(nanoseconds) / (86_400 * 10**9)
    return None


def quantity(text: str | None) -> float:
    """The number that a text spells, for a date the number of its day, else not-a-number.

    Example:
        >>> quantity("2.5"), quantity("1970-01-02") - quantity("1970-01-01")
        (2.5, 1.0)
    """
    value = exactly(text)
    return math.nan if value is None else float(value)
