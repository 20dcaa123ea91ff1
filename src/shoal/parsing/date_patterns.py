"""Patterns: how a column spells its dates, such as `%d.%m.%Y`; `%-d` is a day without an idle zero."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product

_PART = r"%-?[dmYyHMS]"
_PARTS = re.compile(rf"{_PART}(?:[-./:T ]{_PART})*")
_PARTED = re.compile(_PART)
_NAMED = re.compile(r"%-?([dmYyHMS])")
_PADDED = re.compile(r"%([dmH])")
_ISO = re.compile(r"(?P<Y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:T(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d))?")
_SHORT_YEARS = range(1969, 2069)
"""The years that two digits stand for."""


def writer(pattern: str) -> Callable[[str], str | None]:
    """What spells an ISO date or time in a pattern; it gives None for what is none, and where the pattern would leave
    something out.

    Example:
        >>> writer("%-d.%m.%y")("2020-02-01"), writer("%d.%m.%Y %H:%M")("2020-02-01T10:05:30"), writer("%Y")("2020")
        ('1.02.20', None, None)
    """
    names = _names(pattern)
    template = _NAMED.sub("%s", pattern)
    shortened = [place for place, part in enumerate(_PARTED.findall(pattern)) if "-" in part]
    short_year = "%y" in pattern
    timed, lacking = "H" in names, [part for part in "MS" if part not in names]

    def written(text: str) -> str | None:
        date = _ISO.fullmatch(text)
        if date is None or (date["H"] is not None) != timed:
            return None
        if timed and any(date[part] != "00" for part in lacking):
            return None
        figures = [date[name] for name in names]
        if short_year:
            if int(date["Y"]) not in _SHORT_YEARS:
                return None
            figures[names.index("Y")] = date["Y"][2:]
        for place in shortened:
            figures[place] = figures[place].lstrip("0") or "0"
        return template % tuple(figures)

    return written


def separated(pattern: str) -> bool:
    """Whether a pattern has each part of a date once and as a number, with a sign between any two: no other label
    can be taken for such a date.

    Example:
        >>> separated("%d.%m.%y"), separated("%Y%m%d"), separated("%d.%m.%Y %y"), separated("%d.%m.%Y:%M")
        (True, False, False, False)
    """
    names = _names(pattern)
    whole = {"d", "m", "Y"} <= {*names} and ("H" in names or not {"M", "S"} & {*names})
    return whole and len({*names}) == len(names) and _PARTS.fullmatch(pattern) is not None


def _names(pattern: str) -> list[str]:
    """The parts of a date that a pattern has; a year counts as one whether it is short or not."""
    return ["Y" if name == "y" else name for name in _NAMED.findall(pattern)]


def padded_like(dates: Mapping[str, str], pattern: str) -> str:
    """The pattern with idle zeros unless all the texts, which spell these ISO dates, do without them; nothing where
    what it spells could be mistaken for something else than a date.

    Example:
        >>> padded_like({"1.02.2020": "2020-02-01", "12.11.2020": "2020-11-12"}, "%d.%m.%Y")
        '%-d.%m.%Y'
        >>> padded_like({"20200201": "2020-02-01"}, "%Y%m%d")
        ''
    """
    if not separated(pattern):
        return ""
    for idle in product(("", "-"), repeat=len(_PADDED.findall(pattern))):
        pieces = _PADDED.split(pattern)
        names = [f"%{zeros}{name}" for zeros, name in zip(idle, pieces[1::2], strict=True)]
        candidate = pieces[0] + "".join(name + rest for name, rest in zip(names, pieces[2::2], strict=True))
        written = writer(candidate)
        if all(written(date) == text for text, date in dates.items()):
            return candidate
    return pattern
