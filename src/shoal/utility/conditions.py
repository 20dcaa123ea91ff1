"""Conditions on a column: what its value must be, as people write it."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from shoal.core.date_labels import as_iso
from shoal.errors import ParameterError, quoted, unknown_columns
from shoal.parsing.identity import plain_text, without_idle_fraction
from shoal.utility.published_labels import Labels, Meaning
from shoal.utility.quantities import Bounds, End, clock_ends, exactly

_COMPARED = re.compile(r"(<=|>=|<|>|!=|==?|in\b|is\b)\s*(.*)", re.DOTALL)
_RANGE = re.compile(r"(\S.*?)\s*\.\.\s*(.*\S)")
_MISSING = {"missing": True, "not missing": False}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What a column's value must be: between two numbers, one of some texts, or missing.

    `values` and numbers are not printed: they may be values of a table. Where an end is a moment with a zone,
    `by_clock` has the ends as their own clocks show them.

    Example:
        >>> Condition.parsed("age", "20..30").low, Condition.parsed("age", "< 30").open
        (Decimal('20'), (False, True))
    """

    column: str
    low: End = field(default=-math.inf, repr=False)
    high: End = field(default=math.inf, repr=False)
    open: tuple[bool, bool] = (False, False)
    values: frozenset[str] | None = field(default=None, repr=False)
    missing: bool | None = None
    negated: bool = False
    by_clock: tuple[End, End] | None = field(default=None, repr=False)

    @classmethod
    def parsed(cls, column: str, text: str, form: str | None = None) -> Condition:
        """A condition as people write it: `<= 30`, `20..30`, `flu`, `= flu`, `!= flu`, `in flu, cold`, `is missing`.
        Its dates may be in the `form` of the column."""
        text = text.strip()
        compared = _COMPARED.match(text)
        sign, rest = (compared[1], compared[2].strip()) if compared else ("", text)
        between = _RANGE.fullmatch(rest)
        if sign in ("", "in") and between:
            begin, end = _dates([between[1], between[2]], form)
            first, last = exactly(begin), exactly(end)
            if first is not None and last is not None:
                return cls(column=column, low=first, high=last, by_clock=clock_ends(begin, end))
        if sign == "is" and rest in _MISSING:
            return cls(column=column, missing=_MISSING[rest])
        if sign and sign[0] in "<>":
            (rest,), strictly = _dates([rest], form), "=" not in sign
            bound = exactly(rest)
            if bound is None:
                raise ParameterError(
                    f"the condition on column {quoted(column)} compares with something that is no number and no date"
                )
            if sign[0] == "<":
                return cls(column=column, high=bound, open=(False, strictly), by_clock=clock_ends(None, rest))
            return cls(column=column, low=bound, open=(strictly, False), by_clock=clock_ends(rest, None))
        values = [part.strip() for part in next(csv.reader([rest], skipinitialspace=True), [])]
        if sign != "in":
            values = [rest.strip('"')]
        if not any(values) or sign == "is":
            raise ParameterError(
                f"the condition on column {quoted(column)} cannot be read; write one such as '<= 30', '20..30', "
                "'= flu', '!= flu', 'in flu, cold' or 'is missing'"
            )
        plain = frozenset(_dates([without_idle_fraction(plain_text(value)) for value in values], form))
        return cls(column=column, values=plain, negated=sign == "!=")

    @property
    def numeric(self) -> bool:
        """Whether it bounds a number."""
        return self.values is None and self.missing is None

    def bounds(self, labels: Labels) -> Bounds:
        """The ends as they are meant of a column: where times have no zone, a moment is what its own clock shows."""
        by_clock = None if labels.zoned else self.by_clock
        return Bounds(*(by_clock or (self.low, self.high)), self.open)

    def meaning(self, labels: Labels) -> Meaning:
        """What the labels of the column say about it."""
        if self.missing is not None:
            return self._of_missing(labels)
        if self.numeric:
            chance, sure, possible = labels.inside(self.bounds(labels))
        else:
            chance, sure, possible = labels.among(self.values or frozenset())
        if self.negated:
            present = ~labels.absent
            chance, sure, possible = (1 - chance) * present, ~possible & present, ~sure & present
        return Meaning(chance, sure, possible)

    def _of_missing(self, labels: Labels) -> Meaning:
        surely = labels.absent if self.missing else ~labels.absent & ~labels.unknown
        possibly = labels.absent | labels.unknown if self.missing else ~labels.absent
        chance = np.where(labels.unknown, labels.present if not self.missing else 1 - labels.present, surely)
        return Meaning(chance.astype(np.float64), surely, possibly)


def _dates(texts: list[str], form: str | None) -> list[str]:
    """Texts with dates of a format in ISO form."""
    return texts if form is None else [str(text) for text in as_iso(texts, form)]


def where(
    conditions: Mapping[str, Any] | Iterable[str], names: Sequence[str], forms: Mapping[str, str | None] | None = None
) -> tuple[Condition, ...]:
    """Conditions as people give them: by column, or each as one text that starts with a column's name; `forms` are the
    formats of dates by column."""
    if isinstance(conditions, Mapping):
        pairs = [(name, text if isinstance(text, str) else _spelled(text)) for name, text in conditions.items()]
    else:
        pairs = [_split(text, names) for text in conditions]
    unknown = [name for name, _ in pairs if name not in names]
    if unknown:
        raise unknown_columns(unknown, names)
    return tuple(Condition.parsed(name, text, (forms or {}).get(name)) for name, text in pairs)


def _spelled(wanted: Any) -> str:
    """Python's values as conditions: a number or text is itself, a list one of several, a pair of numbers a range."""
    if isinstance(wanted, tuple) and len(wanted) == 2 and all(isinstance(end, (int, float)) for end in wanted):
        return f"{wanted[0]}..{wanted[1]}"
    if isinstance(wanted, (list, tuple, set, frozenset)):
        return "in " + ",".join('"' + _text(value).replace('"', '""') + '"' for value in wanted)
    return f"= {_text(wanted)}"


def _text(value: Any) -> str:
    """A value as labels spell it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    """The column that a condition starts with, the longest there is, and the rest."""
    text = text.strip()
    fitting = [name for name in names if text.startswith(name) and _COMPARED.match(text[len(name) :].lstrip())]
    if not fitting:
        raise ParameterError("a condition is written COLUMN, a comparison and a value: 'age <= 30', 'sex = F'")
    name = max(fitting, key=len)
    return name, text[len(name) :]
