"""Multisets as text: `{20:1,23:2}` is one 20 and two 23. The braces keep spreadsheets from reading a time of day."""

from __future__ import annotations

import re
from collections.abc import Sequence

Entries = list[tuple[str | None, int]]
"""The values of a multiset and how often each occurs."""

_ODD = re.compile(r'[",:]|^\s|\s$|^$')
_ENTRY = re.compile(r'(?:"((?:[^"]|"")*)"|([^",:]*)):([1-9][0-9]{0,17})(,|\}$)')


def spelled_value(value: str | None) -> str:
    """A value as it stands in a multiset: the missing one as nothing, and in quotes, which are doubled inside, whatever
    could be mistaken for something else: with a comma, a colon, quotes or blanks at an end, or empty."""
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if _ODD.search(value) else value


def spelled_multiset(values: Sequence[str], counts: Sequence[int]) -> str:
    """A multiset of spelled values.

    Example:
        >>> spelled_multiset([spelled_value(value) for value in ("F", None, "a,b", "")], [2, 1, 1, 3])
        '{F:2,:1,"a,b":1,"":3}'
    """
    return "{" + ",".join([f"{value}:{count}" for value, count in zip(values, counts, strict=True)]) + "}"


def parsed(text: str | None) -> Entries | None:
    """What a multiset holds; None when the text is none.

    Example:
        >>> parsed('{F:2,:1,"a,b":1,"":3}')
        [('F', 2), (None, 1), ('a,b', 1), ('', 3)]
        >>> parsed("[20-30]") is None
        True
    """
    if text is None or not (text.startswith("{") and text.endswith("}")):
        return None
    entries: Entries = []
    at, more = 1, ","
    while more == ",":
        entry = _ENTRY.match(text, at)
        if entry is None:
            return None
        quoted, plain, count, more = entry.groups()
        entries.append((plain or None if quoted is None else quoted.replace('""', '"'), int(count)))
        at = entry.end()
    return entries
