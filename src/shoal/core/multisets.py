"""Multisets as text: `{20:1,23:2}` is one 20 and two 23. The braces keep spreadsheets from reading a time of day."""

from __future__ import annotations

import re
from collections.abc import Iterable

_QUOTED = re.compile(r'[",:]|^\s|\s$|^$')
_ENTRY = re.compile(r'(?:"((?:[^"]|"")*)"|([^",:]*)):([1-9][0-9]{0,17})(,|\}$)')


def spelled(entries: Iterable[tuple[str | None, int]]) -> str:
    """A multiset of values with how often each occurs; the missing value is written as nothing.

    Values that could be mistaken for something else (with a comma, a colon, quotes or blanks at an end, or empty) stand
    in quotes, in which quotes are doubled.

    Example:
        >>> spelled([("F", 2), (None, 1), ("a,b", 1), ("", 3)])
        '{F:2,:1,"a,b":1,"":3}'
    """
    return "{" + ",".join(f"{'' if value is None else _plain(value)}:{count}" for value, count in entries) + "}"


def _plain(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if _QUOTED.search(value) else value


def parsed(text: str | None) -> list[tuple[str | None, int]] | None:
    """The values of a multiset and how often each occurs; None when the text is none.

    Example:
        >>> parsed('{F:2,:1,"a,b":1,"":3}')
        [('F', 2), (None, 1), ('a,b', 1), ('', 3)]
        >>> parsed("[20-30]") is None
        True
    """
    if text is None or not (text.startswith("{") and text.endswith("}")):
        return None
    found: list[tuple[str | None, int]] = []
    at, more = 1, ","
    while more == ",":
        entry = _ENTRY.match(text, at)
        if entry is None:
            return None
        inside, plain, count, more = entry.groups()
        found.append((plain or None if inside is None else inside.replace('""', '"'), int(count)))
        at = entry.end()
    return found
