"""Patterns: how a column spells its dates, such as `%d.%m.%Y`; `%-d` is a day without an idle zero."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

_PART = r"%-?[dmYyHMS]"
_PARTS = re.compile(rf"{_PART}(?:[-./:T ]{_PART})*")
_PADDED = re.compile(r"%([dmH])")
_ISO = re.compile(r"(?P<Y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:T(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d))?")
_SHORT_YEARS = range(1969, 2069)
"""The years that two digits stand for."""


def written(text: str, pattern: str) -> str | None:
    """An ISO date or time in a pattern; None where it is none, or the pattern would leave something of it out.

    Example:
        >>> written("2020-02-01", "%-d.%m.%y"), written("2020-02-01T10:05:30", "%d.%m.%Y %H:%M"), written("2020", "%Y")
        ('1.02.20', None, None)
    """
    parts = _ISO.fullmatch(text)
    if parts is None or (parts["H"] is not None) != ("H" in pattern):
        return None
    if ("M" not in pattern and parts["M"] not in (None, "00")) or (
        "S" not in pattern and parts["S"] not in (None, "00")
    ):
        return None
    if "y" in pattern and int(parts["Y"]) not in _SHORT_YEARS:
        return None

    def part(sign: re.Match[str]) -> str:
        figures: str = parts["Y"][2:] if sign[0] == "%y" else parts[sign[0][-1]]
        return (figures.lstrip("0") or "0") if "-" in sign[0] else figures

    return re.sub(_PART, part, pattern)


def padded_like(texts: Sequence[str], dates: Sequence[str], pattern: str) -> str:
    """The pattern with idle zeros where all the texts, which spell these ISO dates, have them; nothing where it is one
    that could be mistaken for something else than a date.

    Example:
        >>> padded_like(["1.02.2020", "12.11.2020"], ["2020-02-01", "2020-11-12"], "%d.%m.%Y")
        '%-d.%m.%Y'
    """
    if not _PARTS.fullmatch(pattern):
        return ""
    count = len(_PADDED.findall(pattern))
    for idle in product(("", "-"), repeat=count):
        zeros = iter(idle)
        candidate = _PADDED.sub(lambda part: f"%{next(zeros)}{part[1]}", pattern)  # noqa: B023
        if all(written(date, candidate) == text for text, date in zip(texts, dates, strict=True)):
            return candidate
    return pattern
