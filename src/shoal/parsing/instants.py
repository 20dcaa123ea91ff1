"""Instants: days and times by the clocks on walls and in UTC, as numbers and as ISO texts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

DAY = 86_400
NANOS = 10**9

Days = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Instants:
    """What texts mean: the day (counted from 1970-01-01) and the nanosecond of it by the clock on the wall.

    `sound` says which texts are dates at all, `timed` which of them name a time, `zoned` which of those say how far
    that clock is from UTC, and `ahead` by how many seconds.
    """

    sound: Mask
    days: Days
    nanos: Days
    timed: Mask
    zoned: Mask
    ahead: Days

    @cached_property
    def times(self) -> bool:
        """Whether some are not midnight, or a midnight comes twice because the clock was set back to it."""
        if bool((self.nanos[self.sound] != 0).any()):
            return True
        ahead = np.where(self.zoned, self.ahead, 0)[self.sound]
        if not ahead.any():
            return False
        days = self.days[self.sound]
        return len(np.unique(np.stack([days, ahead]), axis=1).T) > len(np.unique(days))

    @property
    def _instants(self) -> tuple[Days, Days]:
        """Whole seconds since 1970 began, in UTC as far as that is known, and what nanoseconds are left."""
        return self.days * DAY + self.nanos // NANOS - self.ahead, self.nanos % NANOS

    def spelled(self, *, times: bool) -> list[str | None]:
        """Each in ISO form, as 1984-05-17, 1984-05-17T10:22:00 or 1984-05-17T10:22:00+02:00; None where there is no
        date."""
        texts = np.datetime_as_string(self.days.astype("M8[D]")).astype(object)
        timed = self.timed & self.sound & times
        if timed.any():
            seconds = (self.days * DAY + self.nanos // NANOS)[timed].astype("M8[s]")
            texts[timed] = np.datetime_as_string(seconds)
            rest = self.nanos % NANOS
            for place in np.flatnonzero(timed & (rest != 0)).tolist():
                texts[place] += f".{rest[place]:09d}".rstrip("0")
            offsets, which = np.unique(self.ahead, return_inverse=True)
            named = np.array([*map(_offset, offsets.tolist())], dtype=object)[which]
            texts[timed & self.zoned] += named[timed & self.zoned]
        texts[~self.sound] = None
        spellings: list[str | None] = texts.tolist()
        return spellings

    def quantities(self, *, times: bool) -> NDArray[np.float64]:
        """Days, or seconds where there are times, in UTC where they have a zone; not-a-number where there is none."""
        seconds, rest = self._instants
        return np.where(self.sound, seconds + rest / NANOS if times else self.days.astype(np.float64), np.nan)

    def by(self, clock: str) -> Instants:
        """The same moments by one clock. What names no offset is by that clock already, a day without a time its first
        moment."""
        seconds, rest = self._instants
        known = np.where(self.sound & ~self.zoned, in_utc(np.where(self.zoned, 0, seconds), clock), seconds)
        wall = on_the_wall(np.where(self.sound, known, 0), clock)
        every = np.ones(len(wall), np.bool_)
        return Instants(self.sound, wall // DAY, wall % DAY * NANOS + rest, every, every, wall - known)

    @cached_property
    def in_order(self) -> bool:
        """Whether later moments are never on earlier days, and every clock is whole minutes from UTC: a few clocks were
        set back across midnight, and before there were zones each town had a clock of its own."""
        order = np.lexsort(self._instants[::-1])
        days = self.days[order][self.sound[order]]
        return bool(np.all(np.diff(days) >= 0) and np.all(self.ahead[self.sound] % 60 == 0))

    def otherwise(self, other: Instants) -> Instants:
        """These moments, and in the place of what is no date here the other ones."""
        arrays = (np.where(self.sound, getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return Instants(self.sound | other.sound, *list(arrays)[1:])


def on_the_wall(seconds: Days, clock: str) -> Days:
    """What a clock shows at seconds in UTC."""
    shown: Days = filled(pc.local_timestamp(pa.array(seconds, pa.timestamp("s", clock))).cast(pa.int64()))
    return shown


def in_utc(seconds: Days, clock: str) -> Days:
    """When a clock shows a time: for the first time where it does so twice, and when it leaps where it never does."""
    moments = pa.array(seconds, pa.timestamp("s"))
    known = pc.assume_timezone(moments, clock, ambiguous="earliest", nonexistent="earliest")
    shown: Days = filled(known.cast(pa.int64()))
    return shown


def clock_of(ahead: Days) -> str:
    """The clock of moments that are all as many seconds ahead of UTC; nothing where they are not, or not by minutes."""
    offsets = np.unique(ahead)
    if len(offsets) > 1 or offsets[0] % 60:
        return ""
    return "UTC" if offsets[0] == 0 else _offset(int(offsets[0]))


def _offset(ahead: int) -> str:
    if ahead == 0:
        return "Z"
    hours, rest = divmod(abs(ahead), 3600)
    seconds = f":{rest % 60:02d}" if rest % 60 else ""
    return f"{'-' if ahead < 0 else '+'}{hours:02d}:{rest // 60:02d}{seconds}"


def of_typed(values: pa.Array) -> Instants:
    """Dates and times as Arrow holds them; where they have a zone, by its clock."""
    kind = values.type
    every = np.ones(len(values), np.bool_)
    if not pa.types.is_timestamp(kind):
        days = values.cast(pa.date32()).cast(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64)
        return Instants(every, days, np.zeros_like(days), ~every, ~every, np.zeros_like(days))
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    counts = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
    seconds, nanos = counts // per_second, counts % per_second * (NANOS // per_second)
    nothing = np.zeros_like(seconds)
    moments = Instants(
        every, seconds // DAY, seconds % DAY * NANOS + nanos, every, np.full(len(values), kind.tz is not None), nothing
    )
    return moments if kind.tz is None else moments.by(kind.tz)


def filled(column: pa.Array) -> NDArray[Any]:
    """An array without missing entries: they become nothing, zero."""
    array: NDArray[Any] = column.fill_null(False if pa.types.is_boolean(column.type) else 0).to_numpy(
        zero_copy_only=False
    )
    return array
