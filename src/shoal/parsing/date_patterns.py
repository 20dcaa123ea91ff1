"""Patterns: how a column spells its dates, such as `%d.%m.%Y`; `%-d` is a day without an idle zero."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    if any(sign not in pattern and parts[sign] not in (None, "00") for sign in "MS"):
        return None
    if "y" in pattern and int(parts["Y"]) not in _SHORT_YEARS:
        return None

    def part(sign: re.Match[str]) -> str:
        figures: str = parts["Y"][2:] if sign[0] == "%y" else parts[sign[0][-1]]
        return (figures.lstrip("0") or "0") if "-" in sign[0] else figures

    return re.sub(_PART, part, pattern)


def padded_like(dates: Mapping[str, str], pattern: str) -> str:
    """The pattern with idle zeros unless all the texts, which spell these ISO dates, do without them; nothing where
    what it spells could be mistaken for something else than a date.

    Example:
        >>> padded_like({"1.02.2020": "2020-02-01", "12.11.2020": "2020-11-12"}, "%d.%m.%Y")
        '%-d.%m.%Y'
        >>> padded_like({"20200201": "2020-02-01"}, "%Y%m%d")
        ''
    """
    if not _PARTS.fullmatch(pattern):
        return ""
    for idle in product(("", "-"), repeat=len(_PADDED.findall(pattern))):
        pieces = _PADDED.split(pattern)
        names = [f"%{zeros}{name}" for zeros, name in zip(idle, pieces[1::2], strict=True)]
        candidate = pieces[0] + "".join(name + rest for name, rest in zip(names, pieces[2::2], strict=True))
        if all(written(date, candidate) == text for text, date in dates.items()):
            return candidate
    return pattern
