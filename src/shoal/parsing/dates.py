"""Dates: which texts are dates, and what day or moment they are. The one definition of a date."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ParameterError
from shoal.parsing.date_patterns import padded_like, writer
from shoal.parsing.instants import DAY, NANOS, Days, Instants, Mask, filled, in_utc, of_typed, on_the_wall
from shoal.parsing.recognition import Recognition

ORDERS = ("iso", "day-first", "month-first")
"""Named formats; any other one is written as `strptime` takes it."""
DAMAGED = 0.1
"""Up to this share of its distinct values a column of dates may hold what is no date, which then counts as missing."""
_PATTERN = (
    r"^(?P<first>\d{1,4})(?P<sign>[-./])(?P<second>\d{1,2})(?P<again>[-./])(?P<third>\d{1,4})"
    r"(?:(?P<gap>T| +)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp][Mm]))?(?: ?(?P<offset>[Zz]|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?))?)?$"
)
_SHORT = re.compile(r"\d{1,2}([-./])\d{1,2}\1\d{2}")
_COMPACT = re.compile(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")

_ANY = datetime(2001, 2, 3, tzinfo=UTC)
_FIRST = datetime(1970, 1, 1).toordinal()


def checked(form: str) -> str:
    """A format of dates, when it is one and reads no ISO date otherwise than ISO does."""
    if form in ORDERS:
        return form
    try:
        whole = _by_pattern(_ANY.strftime(form), form)
        other = _by_pattern(f"{_ANY:%Y-%m-%d}", form)
    except (ValueError, re.error):
        whole = None
    if whole is None or whole.date() != _ANY.date():
        raise ParameterError(
            f"a date format is {', '.join(ORDERS)}, or a pattern with day, month and year such as %d.%m.%y"
        )
    if other is not None and other.date() != _ANY.date():
        raise ParameterError("this date format exchanges day and month of ISO dates; write the dates anew")
    return form


def _by_pattern(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


class _DateParts:
    """Texts taken apart: three numbers and a time, where they are written so."""

    def __init__(self, texts: Sequence[str]) -> None:
        parts = pc.extract_regex(pa.array(texts, pa.large_string()), _PATTERN)
        names = [field.name for field in parts.type]
        self.parts = dict(zip(names, parts.flatten(), strict=True))
        self.shaped: Mask = parts.is_valid().to_numpy(zero_copy_only=False)
        lengths = {name: filled(pc.utf8_length(self.parts[name])) for name in ("first", "third")}
        same = filled(pc.equal(self.parts["sign"], self.parts["again"])).astype(np.bool_)
        self.year_first: Mask = self.shaped & same & (lengths["first"] == 4) & (lengths["third"] <= 2)
        self.year_last: Mask = self.shaped & same & (lengths["first"] <= 2) & (lengths["third"] == 4)
        self.timed: Mask = filled(pc.not_equal(self.parts["gap"], "")).astype(np.bool_)
        self.clock_fits: Mask = np.ones(len(texts), np.bool_)
        self.zoned: Mask = np.zeros(len(texts), np.bool_)
        self.nanos, self.ahead = np.zeros((2, len(texts)), np.int64)
        if self.timed.any():
            self._read_clock()

    def _read_clock(self) -> None:
        """Takes the times apart."""
        hours, half = self.number("hour"), pc.utf8_lower(self.parts["half"]).fill_null("")
        halved = filled(pc.not_equal(half, "")).astype(np.bool_)
        by_twelve = hours % 12 + 12 * filled(pc.equal(half, "pm"))
        hours_fit = np.where(halved, (hours >= 1) & (hours <= 12), hours <= 23)
        minutes, seconds = self.number("minute"), self.number("seconds")
        self.clock_fits = hours_fit & (minutes <= 59) & (seconds <= 59)
        digits = filled(pc.utf8_length(self.parts["fraction"])).astype(np.int64)
        counted = (np.where(halved, by_twelve, hours) * 60 + minutes) * 60 + seconds
        self.nanos = counted.astype(np.int64) * NANOS + self.number("fraction") * 10 ** (9 - digits)
        offsets = self.parts["offset"].fill_null("")
        self.zoned = filled(pc.not_equal(offsets, "")).astype(np.bool_)
        signs = np.where(filled(pc.starts_with(offsets, "-")), -1, 1)
        figures = pc.utf8_rpad(pc.replace_substring_regex(offsets, r"\D", ""), 6, "0")
        hours, minutes, seconds = (
            filled(pc.utf8_slice_codeunits(figures, at, at + 2).cast(pa.int64())) for at in (0, 2, 4)
        )
        self.ahead = signs * ((hours * 60 + minutes) * 60 + seconds).astype(np.int64)
        self.clock_fits &= (hours <= 23) & (minutes <= 59) & (seconds <= 59)

    def number(self, name: str) -> Days:
        part = self.parts[name]
        return filled(pc.if_else(pc.equal(part, ""), "0", part).cast(pa.int64())).astype(np.int64)

    def read(self, order: str) -> Instants:
        """As dates in one order."""
        first, second, third = (self.number(name) for name in ("first", "second", "third"))
        year, month, day = {
            "iso": (first, second, third), "day-first": (third, second, first), "month-first": (third, first, second),
        }[order]  # fmt: skip
        shaped = self.year_first if order == "iso" else self.year_last
        months = np.where(shaped, (year - 1970) * 12 + month - 1, 0).astype("M8[M]")
        days = months.astype("M8[D]").astype(np.int64) + np.where(shaped, day - 1, 0)
        fits = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("M8[D]").astype("M8[M]") == months)
        sound = shaped & fits & self.clock_fits & (year >= 1)
        return Instants(sound, days, self.nanos, self.timed & shaped, self.zoned & shaped, self.ahead)


def read(texts: Sequence[str], form: str) -> Instants:
    """Texts as dates of one format."""
    if form in ORDERS:
        return _DateParts(texts).read(form)
    count = len(texts)
    sound, timed, zoned = np.zeros((3, count), np.bool_)
    days, nanos, ahead = np.zeros((3, count), np.int64)
    midnight = not re.search(r"%[HIMSfpcX]", form)
    for place, text in enumerate(texts):
        moment = _by_pattern(text, form)
        if moment is None:
            continue
        sound[place], timed[place] = True, not midnight
        days[place] = moment.toordinal() - _FIRST
        nanos[place] = ((moment.hour * 60 + moment.minute) * 60 + moment.second) * NANOS + moment.microsecond * 1000
        offset = moment.utcoffset()
        zoned[place] = offset is not None
        ahead[place] = 0 if offset is None else round(offset.total_seconds())
    return Instants(sound, days, nanos, timed, zoned, ahead)


def recognized(texts: Sequence[str]) -> Recognition | None:
    """The format of a column of dates; None where it holds too few dates to be one.

    Both ends of a date that could be its day leave a doubt, unless some other value of the column settles which is.
    Values in several formats leave one, too: whatever is in the minority may have been meant otherwise.

    Example:
        >>> recognized(["17.05.1984", "02.06.1984"]).form, recognized(["05/17/1984", "06/02/1984"]).form
        ('day-first', 'month-first')
        >>> recognized(["01/02/1984", "03/04/1984"]).doubt
        'day-first and month-first both fit all 2 of its distinct dates'
    """
    if not texts or not _may_be_dates(texts):
        return None
    split = _DateParts(texts)
    iso, by_day, by_month = (split.read(order).sound for order in ORDERS)
    count = int((iso | by_day | by_month).sum())
    if not few_damaged(len(texts) - count, len(texts)):
        return None
    written = {f"year-last with {sign}": _signed(split, sign) & (by_day | by_month) for sign in "./-"}
    counts = {name: int(fits.sum()) for name, fits in {"iso": iso, **written}.items() if fits.any()}
    day_only, month_only = int((by_day & ~by_month).sum()), int((by_month & ~by_day).sum())
    if len(counts) == 1 and (day_only == 0 or month_only == 0):
        if "iso" in counts:
            return Recognition("iso")
        if day_only or month_only:
            return Recognition("day-first" if day_only else "month-first")
        return Recognition(
            doubt=f"day-first and month-first both fit all {count:,} of its distinct dates", choices=ORDERS[1:]
        )
    if len(counts) == 1:
        counts = {"day-first": day_only, "month-first": month_only, "either": int((by_day & by_month).sum())}
    listed = ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)
    return Recognition(doubt=f"its dates are written in several ways (distinct values: {listed})")


def pattern_of(dates: Mapping[str, str], form: str, *, times: bool) -> str:
    """The pattern in which the texts of a column spell these ISO dates; nothing where they go by several, or by ISO.

    Example:
        >>> pattern_of({"1/2/2020": "2020-02-01", "12/11/2020": "2020-11-12"}, "day-first", times=False)
        '%-d/%-m/%Y'
    """
    if form == "iso" or not dates:
        return ""
    if form not in ORDERS:
        return padded_like(dates, form)
    parts = _DateParts(list(dates)).parts
    signs, gaps = (pc.unique(parts[name]).to_pylist() for name in ("sign", "gap"))
    seconds = pc.unique(pc.not_equal(parts["seconds"], "")).to_pylist()
    odd = any(pc.any(pc.not_equal(parts[name], "")).as_py() for name in ("fraction", "half", "offset"))
    if odd or len(signs) > 1 or (times and (len(gaps) > 1 or len(seconds) > 1)):
        return ""
    pattern = signs[0].join(("%d", "%m", "%Y") if form == "day-first" else ("%m", "%d", "%Y"))
    if times:
        pattern += f"{gaps[0]}%H:%M{':%S' if seconds[0] else ''}"
    return padded_like(dates, pattern)


def undated(texts: Sequence[str]) -> int:
    """How many texts are dates in none of the named formats."""
    split = _DateParts(texts)
    return len(texts) - int(np.any([split.read(order).sound for order in ORDERS], axis=0).sum())


def _signed(split: _DateParts, sign: str) -> Mask:
    return filled(pc.equal(split.parts["sign"], sign)).astype(np.bool_)


def _may_be_dates(texts: Sequence[str]) -> bool:
    """A look at the length and the first sign, which is all that most columns of other texts need."""
    others = 0
    for text in texts:
        others += not 8 <= len(text) <= 40 or not text[0].isdigit()
        if not few_damaged(others, len(texts)):
            return False
    return True


def few_damaged(damaged: int, count: int) -> bool:
    """Whether so many values that are no date leave a column one of dates."""
    return damaged <= DAMAGED * count


def hint(texts: Sequence[str]) -> str | None:
    """What a column seems to hold that is read as dates only when somebody says so."""
    if texts and all(_SHORT.fullmatch(text) for text in texts):
        return "looks like dates with years of two digits, which are read as dates when a format says so (%d.%m.%y)"
    if len(texts) > 1 and all(_COMPACT.fullmatch(text) for text in texts):
        return "looks like dates without separators, which are read as dates when a format says so (%Y%m%d)"
    return None


@dataclass(frozen=True)
class Calendar:
    """How the dates of a column are read and spelled: the format, whether times count, and by whose `clock`: that of a
    zone or a fixed offset such as +02:00; nothing where times have no zone. They are published in the `pattern`, in ISO
    form where there is none."""

    form: str = "iso"
    times: bool = False
    clock: str = ""
    pattern: str = ""

    def moments(self, texts: Sequence[str]) -> Instants:
        """Texts in the column's format, or else in ISO form, which is how labels spell them; by the column's clock.

        Example:
            >>> Calendar("day-first").moments(["17.05.1984", "1984-05-18", "x"]).spelled(times=False)
            ['1984-05-17', '1984-05-18', None]
            >>> Calendar(times=True, clock="Europe/Berlin").moments(["2020-07-01T08:00Z"]).spelled(times=True)
            ['2020-07-01T10:00:00+02:00']
        """
        moments = read(texts, self.form)
        if self.form != "iso" and not moments.sound.all():
            moments = moments.otherwise(read(texts, "iso"))
        return moments.by(self.clock) if self.clock else moments

    def spellings(self, texts: Sequence[str]) -> list[str | None]:
        """Each text as labels spell it, whatever it is written like; None where it is no date.

        Example:
            >>> Calendar(times=True).spellings(["2020-01-01 10:00", "2020-01-01T10:00:00.0", "2020-01-01"])
            ['2020-01-01T10:00:00', '2020-01-01T10:00:00', '2020-01-01T00:00:00']
        """
        moments = self.moments(texts)
        return replace(moments, timed=moments.sound).spelled(times=self.times)

    def written(self, texts: Sequence[str]) -> list[str | None]:
        """Each ISO text as the column spells it; None where the pattern has no spelling for it.

        Example:
            >>> Calendar("day-first", pattern="%d.%m.%Y").written(["2020-02-01", "2020-02"])
            ['01.02.2020', None]
        """
        return [*map(writer(self.pattern), texts)]

    def spelled(self, quantity: float) -> str:
        """The date, or the moment where times count, that a quantity is closest to.

        Example:
            >>> Calendar().spelled(0.4), Calendar(times=True).spelled(0.4)
            ('1970-01-01', '1970-01-01T00:00:00')
        """
        if not self.clock:
            return str(np.datetime64(round(quantity), "s" if self.times else "D"))
        second = of_typed(pa.array([round(quantity)], pa.timestamp("s", self.clock)))
        return str(second.spelled(times=True)[0])

    def days(self, quantities: NDArray[np.float64]) -> Days:
        """The days, by the column's clock, that quantities are on."""
        counts = np.floor(quantities).astype(np.int64)
        if not self.times:
            return counts
        return (on_the_wall(counts, self.clock) if self.clock else counts) // DAY

    def begins(self, days: Days) -> NDArray[np.float64]:
        """The quantities of the first moments of days."""
        if not self.times:
            return days.astype(np.float64)
        seconds = days * DAY
        return (in_utc(seconds, self.clock) if self.clock else seconds).astype(np.float64)
