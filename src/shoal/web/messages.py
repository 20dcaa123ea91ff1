"""The words of the page, in every language, from one table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup, escape

from shoal.core.formatting import percent
from shoal.core.risk_line import risk_words

DEFAULT = "en"
NARROW = "\u202f"
"""A blank at which no line is broken: between a number and its sign."""


@cache
def table() -> dict[str, dict[str, str]]:
    """Each message by its key, in each language."""
    raw = tomllib.loads(files("shoal.web").joinpath("messages.toml").read_text(encoding="utf-8"))
    return dict(_flat(raw))


def _flat(raw: Mapping[str, Any], above: str = "") -> Any:
    for key, value in raw.items():
        if isinstance(value, dict) and all(isinstance(entry, str) for entry in value.values()) and DEFAULT in value:
            yield f"{above}{key}", value
        else:
            yield from _flat(value, f"{above}{key}.")


@cache
def languages() -> tuple[str, ...]:
    """The languages that the table has, the default one first."""
    names = dict.fromkeys(language for entry in table().values() for language in entry)
    return tuple(sorted(names, key=lambda language: (language != DEFAULT, language)))


@dataclass(frozen=True)
class Words:
    """The words of one language, with numbers as its readers write them.

    Example:
        >>> Words("de").number(30162), Words("en").number(30162)
        ('30.162', '30,162')
    """

    language: str = DEFAULT

    def __call__(self, key: str, **values: Any) -> str:
        """The message of a key; whole numbers among the values are spelled as numbers, and markup stays markup."""
        entry = table()[key]
        text = entry.get(self.language) or entry[DEFAULT]
        spelled = {name: self._spelled(value) for name, value in values.items()}
        marked = any(isinstance(value, Markup) for value in spelled.values())
        return (escape(text) if marked else text).format_map(spelled)

    def _spelled(self, value: Any) -> str:
        return (
            self.number(value)
            if isinstance(value, int) and not isinstance(value, bool)
            else value
            if isinstance(value, Markup)
            else str(value)
        )

    def has(self, key: str) -> bool:
        return key in table()

    def number(self, value: float | int) -> str:
        """A number: whole ones in full, others with four digits."""
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
        return self._local(text)

    def share(self, value: float) -> str:
        """A share in percent."""
        return self._local(percent(value)).replace(" ", NARROW)

    def risk(self, value: float) -> str:
        """A risk in percent: one in eleven is 9 %, as the limit is."""
        return self._local(risk_words(value)).replace(" ", NARROW)

    def seconds(self, value: float) -> str:
        """How long something takes, roughly."""
        if value < 60:
            return self("time.seconds", count=max(1, round(value)))
        return self("time.minutes", count=round(value / 60))

    def clock(self, when: datetime) -> str:
        return when.strftime("%H:%M")

    def _local(self, text: str) -> str:
        separators = table()["number.separators"].get(self.language, ",.")
        return text.translate(str.maketrans(",.", separators))


def preferred(accepted: str) -> str:
    """The language that a browser likes best of those that there are.

    Example:
        >>> preferred("de-AT,de;q=0.9,en;q=0.5"), preferred("fr")
        ('de', 'en')
    """
    weighed = []
    for place, entry in enumerate(accepted.split(",")):
        name, _, weight = entry.strip().partition(";q=")
        try:
            weighed.append((-float(weight or 1), place, name.partition("-")[0].lower()))
        except ValueError:
            continue
    return next((name for _, _, name in sorted(weighed) if name in languages()), DEFAULT)
