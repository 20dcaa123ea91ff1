"""Words for people: names of a table as they may be shown, and numbers with their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from unicodedata import category

from shoal.errors import Unshown

UNSHOWN = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
JOINERS = "\u200c\u200d"
"""They have no form of their own, and words of some languages need them."""


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with a mark in the place of each character that would steer a terminal or break a picture.

    Example:
        >>> printable("age\x1b[2J")
        'age�[2J'
    """
    if isinstance(text, Unshown):
        return repr(text)
    return "".join(
        "\ufffd" if category(letter) in UNSHOWN and letter not in JOINERS + keep else letter for letter in text
    )


SINGULAR = {"classes": "class", "people": "person", "declared analyses": "declared analysis"}
"""Of nouns that do not just lose their s."""


def counted(count: int, plural: str) -> str:
    """A number of things.

    Example:
        >>> counted(30162, "records"), counted(1, "classes")
        ('30,162 records', '1 class')
    """
    return f"{count:,} {SINGULAR.get(plural, plural.removesuffix('s')) if count == 1 else plural}"


def percent(share: float) -> str:
    """A share in percent. What is not nothing, or not all, is never rounded to it.

    Example:
        >>> percent(0.1234), percent(0.05), percent(0.00001), percent(0.9999), percent(1)
        ('12 %', '5 %', '< 0.1 %', '> 99.9 %', '100 %')
    """
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    hundredths = 100 * share
    shown = f"{hundredths:.0f}" if 9.95 <= hundredths < 99 else f"{hundredths:.1f}".removesuffix(".0")
    return f"{shown} %"


def amount(value: Any, unit: str = "") -> str:
    """A value with its unit.

    Example:
        >>> amount(0.2, "share"), amount(5, "records"), amount(53741.72, "bits"), amount(None)
        ('20 %', '5 records', '53,742 bits', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{str(name).replace('_', ' ')} {amount(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(amount(each) for each in value)
    if isinstance(value, (int, float)) and unit == "share":
        return percent(value)
    if isinstance(value, int):
        return counted(value, unit) if unit else f"{value:,}"
    if isinstance(value, float):
        shown = f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
        return f"{shown} {unit}".rstrip()
    return str(value)


def enumerated(names: Sequence[str]) -> str:
    """Names in a sentence.

    Example:
        >>> enumerated(["age", "sex", "race"])
        'age, sex and race'
    """
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def in_html(headings: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> str:
    """A table for a notebook; what a name holds is shown, never run."""

    def cells(texts: Iterable[str], tag: str) -> str:
        return "".join(f"<{tag} style='text-align:left'>{escape(printable(text))}</{tag}>" for text in texts)

    above = f"<p>{escape(printable(caption))}</p>" if caption else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"{above}<table><thead><tr>{cells(headings, 'th')}</tr></thead><tbody>{body}</tbody></table>"
