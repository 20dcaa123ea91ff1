"""What cells mean to whoever reads them: numbers, moments and texts, however they are spelled.

Written from the documentation of formats, without Shoal's code.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
PADDED = re.compile(r"[+-]?0\d")
"""Digits that are a code: numbers do not begin like that."""
DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?")
DAY_FIRST = re.compile(r"(\d\d)/(\d\d)/(\d{4})")
EPOCH = dt.datetime(1970, 1, 1)
SECOND = dt.timedelta(seconds=1)
DAY = 86_400
HYPHENS = "\u2010\u2011"


@lru_cache(10_000)
def bare(text: str) -> str:
    """A text as it looks: composed characters, one kind of blank and of hyphen, and nothing that is not seen."""
    if text.isascii() and text.isprintable():
        return text.strip()
    found = []
    for sign in text.replace("\r\n", "\n").replace("\r", "\n"):
        kind = unicodedata.category(sign)
        if sign in "\n\t":
            found.append(sign)
        elif kind[0] == "Z" or sign.isspace():
            found.append(" ")
        elif kind not in ("Cc", "Cf"):
            found.append("-" if sign in HYPHENS else sign)
    return unicodedata.normalize("NFC", "".join(found)).strip()


@lru_cache(10_000)
def _spelled_number(text: str) -> Fraction | None:
    try:
        return Fraction(Decimal(text.strip()))
    except (InvalidOperation, ValueError, OverflowError):
        return None


def number(value: Any) -> Fraction | None:
    """A value as an exact number, if it is a finite one."""
    if isinstance(value, str):
        return _spelled_number(value)
    try:
        if isinstance(value, float):  # what it is written as, which is what a reader sees
            return Fraction(Decimal(repr(value)))
        exact = isinstance(value, (int, Decimal, Fraction)) and not isinstance(value, bool)
        return Fraction(value) if exact else None
    except (InvalidOperation, ValueError, OverflowError):
        return None


def quantity(raw: Any, kind: pa.DataType) -> Fraction | None:
    """A raw value as an exact number: a span of time in its unit, a narrow float by its own shortest spelling."""
    if isinstance(raw, str):
        return number(bare(raw))
    spelled = pa.types.is_duration(kind) or pa.types.is_floating(kind)
    return number(arrow_text(raw, kind) if spelled and raw is not None else raw)


def plain(exact: Fraction) -> str:
    """A number with a finite decimal expansion as people write it."""
    scaled, places = exact, 0
    while scaled.denominator != 1 and places < 400:
        scaled, places = scaled * 10, places + 1
    digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
    whole, rest = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    return ("-" if exact < 0 else "") + whole + (f".{rest}" if rest else "")


def moment(raw: Any, kind: pa.DataType) -> Fraction | None:
    """The second that a date or a time is, in UTC where it has a zone, else by the clock on the wall; None where there
    is no date."""
    if isinstance(raw, dt.datetime):
        since = (raw if raw.tzinfo is None else raw.astimezone(dt.UTC).replace(tzinfo=None)) - EPOCH
        return Fraction(since // dt.timedelta(microseconds=1), 10**6)
    if isinstance(raw, dt.date):
        return Fraction((raw - EPOCH.date()).days * DAY)
    return _spelled_moment(raw) if isinstance(raw, str) else None


@lru_cache(10_000)
def _spelled_moment(text: str) -> Fraction | None:
    parts = DATE.fullmatch(iso(bare(text)))
    if parts is None:
        return None
    try:
        when = dt.datetime.fromisoformat(f"{parts[1]}T{parts[2] or '00:00'}{_offset(parts[4])}")
    except ValueError:
        return None
    ahead = when.utcoffset() or dt.timedelta()
    return Fraction((when.replace(tzinfo=None) - ahead - EPOCH) // SECOND) + Fraction(parts[3] or 0)


def _offset(text: str | None) -> str:
    if text in (None, "Z"):
        return "" if text is None else "+00:00"
    return text if ":" in text else f"{text[:3]}:{text[3:] or '00'}"


def iso(text: str) -> str:
    """A date whose day comes first, in ISO form."""
    return DAY_FIRST.sub(r"\3-\2-\1", text) if DAY_FIRST.fullmatch(text) else text


def clocks(raw: Any, kind: pa.DataType) -> list[dt.datetime]:
    """What clocks show at a moment, to the second: the one that it is told by, that of its column, and UTC."""
    seconds = moment(raw, kind)
    if seconds is None:
        return []
    found = [EPOCH + dt.timedelta(seconds=int(seconds // 1))]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        found.append(found[0].replace(tzinfo=dt.UTC).astimezone(zone(kind.tz)).replace(tzinfo=None))
    if isinstance(raw, str):
        parts = DATE.fullmatch(iso(bare(raw)))
        assert parts is not None
        found.append(dt.datetime.fromisoformat(f"{parts[1]}T{parts[2] or '00:00'}"))
    return found


def zones(ahead: int) -> set[str]:
    """How a clock that is so many seconds ahead of UTC is told."""
    hours, rest = divmod(abs(ahead), 3600)
    return {f"{'-' if ahead < 0 else '+'}{hours:02d}:{rest // 60:02d}"} | ({"Z"} if not ahead else set())


def zone(name: str) -> dt.tzinfo:
    if name[0] in "+-":
        return dt.datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or dt.UTC
    return ZoneInfo(name)


def spellings(value: Any, kind: pa.DataType) -> set[str]:
    """Every way in which a file may spell a value that is not missing."""
    if isinstance(value, str):
        return {value, value.strip(), bare(value), idle(value.strip()), iso(value.strip())}
    texts = {str(value)}
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not pa.types.is_nested(held) and not pa.types.is_binary(held):
        texts.add(arrow_text(value, held))
    if type(value) is dt.date:  # which some frames keep as midnight
        texts.add(f"{value.isoformat()} 00:00:00")
    if isinstance(value, bool):
        texts.add(str(value).lower())
    if isinstance(value, float):
        narrow = float(str(pa.scalar(value, held).cast(pa.string()))) if pa.types.is_float32(held) else value
        texts |= {repr(narrow), repr(value), f"{value:.17g}"}
        if narrow == int(narrow):
            texts |= {str(int(narrow)), "-0" if narrow == 0 else str(int(narrow))}
    if isinstance(value, Decimal):
        texts |= {str(value.normalize())} | ({repr(float(value))} if number(float(value)) == value else set())
    return texts | {idle(text) for text in texts}


def arrow_text(value: Any, kind: pa.DataType) -> str:
    """A value as Arrow spells it."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        moment = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        held = pa.array([moment], pa.timestamp(kind.unit)).cast(pa.int64()).cast(kind)
    else:
        held = pa.array([value], kind)
    if pa.types.is_duration(kind):
        held = held.cast(pa.int64())
    try:
        text: str = held.cast(pa.string())[0].as_py()
    except pa.ArrowException:  # zones that Arrow's library of zones does not know
        text = str(value)
    return text


def idle(text: str) -> str:
    """A time without a fraction of nothing."""
    return re.sub(r"(?<=:\d\d)\.0+(?!\d)", "", text)
