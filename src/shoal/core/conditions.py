"""Conditions on a column, and what a published label says about them: surely, possibly, and with what probability."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.hierarchy import DATES, INTERVAL, TOP, Hierarchy, number
from shoal.errors import NotDefined, ParameterError, quoted, unknown_columns

Floats = NDArray[np.float64]
_COMPARED = re.compile(r"(<=|>=|<|>|!=|==?|in\b|is\b)\s*(.*)", re.DOTALL)
_RANGE = re.compile(r"(\S+)\s*\.\.\s*(\S+)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MISSING = {"missing": True, "not missing": False}


class Meaning(NamedTuple):
    """What each label of a column says: the probability that its value meets a condition, whether it surely does, and
    whether it can."""

    chance: Floats
    sure: NDArray[np.bool_]
    possible: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What a column's value must be: between two numbers, one of some texts, or missing.

    `values` and numbers are not printed: they may be values of a table.

    Example:
        >>> Condition.parsed("age", "20..30").low, Condition.parsed("age", "< 30").open
        (20.0, (False, True))
    """

    column: str
    low: float = field(default=-math.inf, repr=False)
    high: float = field(default=math.inf, repr=False)
    open: tuple[bool, bool] = (False, False)
    values: frozenset[str] | None = field(default=None, repr=False)
    missing: bool | None = None
    negated: bool = False

    @classmethod
    def parsed(cls, column: str, text: str) -> Condition:
        """A condition as people write it: `<= 30`, `20..30`, `flu`, `= flu`, `!= flu`, `in flu, cold`, `is missing`."""
        text = text.strip()
        found = _COMPARED.match(text)
        sign, rest = (found[1], found[2].strip()) if found else ("", text)
        between = _RANGE.fullmatch(rest)
        if sign in ("", "in") and between and not math.isnan(quantity(between[1]) + quantity(between[2])):
            return cls(column=column, low=quantity(between[1]), high=quantity(between[2]))
        if sign == "is" and rest in _MISSING:
            return cls(column=column, missing=_MISSING[rest])
        if sign and sign[0] in "<>":
            end, strictly = quantity(rest), "=" not in sign
            if math.isnan(end):
                raise ParameterError(
                    f"the condition on column {quoted(column)} compares with something that is no number and no date"
                )
            if sign[0] == "<":
                return cls(column=column, high=end, open=(False, strictly))
            return cls(column=column, low=end, open=(strictly, False))
        values = [part.strip() for part in next(csv.reader([rest], skipinitialspace=True), [])]
        if sign != "in":
            values = [rest.strip('"')]
        if not any(values) or sign == "is":
            raise ParameterError(
                f"the condition on column {quoted(column)} cannot be read; write one such as '<= 30', '20..30', "
                "'= flu', '!= flu', 'in flu, cold' or 'is missing'"
            )
        return cls(column=column, values=frozenset(values), negated=sign == "!=")

    @property
    def numeric(self) -> bool:
        """Whether it bounds a number."""
        return self.values is None and self.missing is None

    def meaning(self, labels: Labels) -> Meaning:
        """What the labels of the column say about it."""
        if self.missing is not None:
            return self._of_missing(labels)
        chance, sure, possible = labels.inside(self) if self.numeric else labels.among(self.values or frozenset())
        if self.negated:
            present = ~labels.absent
            chance, sure, possible = (1 - chance) * present, ~possible & present, ~sure & present
        return Meaning(chance, sure, possible)

    def _of_missing(self, labels: Labels) -> Meaning:
        surely = labels.absent if self.missing else ~labels.absent & ~labels.unknown
        possibly = labels.absent | labels.unknown if self.missing else ~labels.absent
        chance = np.where(labels.unknown, labels.present if not self.missing else 1 - labels.present, surely)
        return Meaning(chance.astype(np.float64), surely, possibly)


def where(conditions: Mapping[str, Any] | Iterable[str], names: Sequence[str]) -> tuple[Condition, ...]:
    """Conditions as people give them: by column, or each as one text that starts with a column's name."""
    if isinstance(conditions, Mapping):
        pairs = [(name, text if isinstance(text, str) else _spelled(text)) for name, text in conditions.items()]
    else:
        pairs = [_split(text, names) for text in conditions]
    unknown = [name for name, _ in pairs if name not in names]
    if unknown:
        raise unknown_columns(unknown, names)
    return tuple(Condition.parsed(name, text) for name, text in pairs)


def _spelled(given: Any) -> str:
    """Python's values as conditions: a number or text is itself, a list one of several, a pair of numbers a range."""
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(end, (int, float)) for end in given):
        return f"{given[0]}..{given[1]}"
    if isinstance(given, (list, tuple, set, frozenset)):
        return "in " + ",".join('"' + str(value).replace('"', '""') + '"' for value in given)
    return f"= {given}"


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    """The column that a condition starts with, the longest there is, and the rest."""
    text = text.strip()
    fitting = [name for name in names if text.startswith(name) and _COMPARED.match(text[len(name) :].lstrip())]
    if not fitting:
        raise ParameterError("a condition is written COLUMN, a comparison and a value: 'age <= 30', 'sex = F'")
    name = max(fitting, key=len)
    return name, text[len(name) :]


@dataclass(frozen=True, eq=False)
class Labels:
    """The distinct labels of a published column, and what they stand for.

    `exact` says that every label is a value as it was (or hides it altogether); otherwise labels that are no numbers
    and no intervals are nodes of the `hierarchy`, which then must be there. `weights` counts the records of each label.
    """

    column: str
    texts: Sequence[str | None]
    weights: NDArray[Any]
    exact: bool
    hierarchy: Hierarchy | None = None

    @cached_property
    def _ends(self) -> Floats:
        """Of each label the least and the greatest number, and whether the greatest is left out."""
        return np.array([_span(text) for text in self.texts], np.float64).reshape(-1, 3)

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Which label is the missing value."""
        return np.array([text is None for text in self.texts], dtype=np.bool_)

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """Which label hides everything."""
        return np.array([text == TOP for text in self.texts], dtype=np.bool_)

    @property
    def present(self) -> float:
        """The share of the records with a value, among those whose label tells."""
        told = ~self.unknown
        if not told.any():
            return 1.0
        return float(self.weights[told & ~self.absent].sum() / max(self.weights[told].sum(), 1))

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The least and the greatest number that each label stands for; all that the column shows where it hides it."""
        low, high, _ = self._spans()
        return low, high

    def _spans(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        low, high, half = self._ends.T
        known = ~np.isnan(low)
        if not known.any() and not self.numeric:
            raise ParameterError(f"column {self.column!r} has no numbers; compare it with texts")
        strange = ~known & ~self.absent & ~self.unknown
        low, high = low.copy(), high.copy()
        if strange.any():
            for place in np.flatnonzero(strange).tolist():
                low[place], high[place] = self._node(self.texts[place])
        shown = ~np.isnan(low)
        if shown.any():
            low[self.unknown], high[self.unknown] = low[shown].min(), high[shown].max()
        elif self.hierarchy is not None and self.hierarchy.values is not None:  # all is hidden: any value there is
            first, last = (quantity(self.hierarchy.labels[0][at]) for at in (int(self.hierarchy.missing), -1))
            low[self.unknown], high[self.unknown] = first, last
        return low, high, half.astype(np.bool_)

    @property
    def numeric(self) -> bool:
        """Whether the column has numbers, shown or known by its hierarchy."""
        tree = self.hierarchy
        return not np.isnan(self._ends[:, 0]).all() if tree is None else tree.values is not None and tree.ordered

    def _node(self, label: str | None) -> tuple[float, float]:
        """The numbers under a node of the hierarchy."""
        tree = self.hierarchy
        found = None if tree is None else tree.parse(label)
        if tree is None or tree.values is None or found is None:
            raise NotDefined(
                f"column {self.column!r} is published with labels that are no numbers; give its hierarchy so that they "
                "can be understood"
            )
        first, last = found
        return float(tree.values[first]), float(tree.values[last])

    @cached_property
    def whole(self) -> bool:
        """Whether every number in the column is whole, so that an interval is that many numbers."""
        low, high, _ = self._ends.T
        ends = np.concatenate([low, high])
        ends = ends[~np.isnan(ends)]
        return bool(np.all(ends == np.floor(ends)))

    def inside(self, wanted: Condition) -> Meaning:
        """What each label says about lying between two numbers."""
        low, high, half = self._spans()
        if self.whole:
            # [20-29] is ten whole numbers
            last = high - half
            first = np.maximum(low, _whole_end(wanted.low, wanted.open[0], up=True))
            final = np.minimum(last, _whole_end(wanted.high, wanted.open[1], up=False))
            size, met = last - low + 1, np.maximum(final - first + 1, 0)
            sure, possible = met == size, met > 0
        else:
            size = high - low
            met = np.maximum(np.minimum(high, wanted.high) - np.maximum(low, wanted.low), 0)
            open_low, open_high = wanted.open
            sure = ((low > wanted.low) | ((low == wanted.low) & (not open_low))) & (
                (high < wanted.high) | ((high == wanted.high) & (half | (not open_high)))
            )
            possible = ((high > wanted.low) | ((high == wanted.low) & ~half & (not open_low))) & (
                (low < wanted.high) | ((low == wanted.high) & (not open_high))
            )
        chance = np.where(sure, 1.0, met / np.where(size > 0, size, 1))
        there, hidden = ~self.absent, self.unknown
        return Meaning(
            np.where(there, chance, 0.0) * np.where(hidden, self.present, 1.0),
            sure & there & ~hidden,
            (possible | hidden) & there,
        )

    def among(self, values: frozenset[str]) -> Meaning:
        """What each label says about being one of some texts."""
        numbers = [quantity(value) for value in values]
        wanted = {value for value in numbers if not math.isnan(value)}
        count = len(self.texts)
        chance, sure, possible = np.zeros(count), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for place, text in enumerate(self.texts):
            if text is None:
                continue
            low, high, _ = self._ends[place]
            if text in values or (low == high and low in wanted):
                chance[place], sure[place], possible[place] = 1, True, True
            elif low < high:
                met = sum(low <= value <= high for value in wanted)
                chance[place] = met / (high - low + 1) if self.whole else 0
                possible[place] = met > 0
            elif text != TOP and math.isnan(low) and not self.exact:
                chance[place], sure[place], possible[place] = self._under(text, values)
        hidden = self.unknown
        if hidden.any():
            told = ~hidden
            share = float((chance * self.weights)[told].sum() / max(self.weights[told].sum(), 1))
            if not told.any() and self.hierarchy is not None:  # all is hidden: any value there is
                share = sum(str(leaf) in values for leaf in self.hierarchy.labels[0]) / self.hierarchy.size
            chance[hidden], possible[hidden] = share, True
        return Meaning(chance, sure, possible)

    def _under(self, label: str, values: frozenset[str]) -> tuple[float, bool, bool]:
        tree = self.hierarchy
        if tree is None and label.startswith("{") and label.endswith("}"):
            members = label[1:-1].split("|")
            met = sum(member in values for member in members)
            return met / len(members), met == len(members), met > 0
        found = None if tree is None else tree.parse(label)
        if tree is None or found is None:
            raise NotDefined(
                f"column {self.column!r} is published at levels of its hierarchy; give the hierarchy so that its "
                "labels can be understood"
            )
        first, last = found
        met = sum(str(leaf) in values for leaf in tree.labels[0][first : last + 1])
        size = last - first + 1
        return met / size, met == size, met > 0


def _whole_end(end: float, strictly: bool, *, up: bool) -> float:
    """The first whole number inside an end."""
    if not math.isfinite(end):
        return end
    rounded = math.ceil(end) if up else math.floor(end)
    step = 1 if up else -1
    return rounded + step if strictly and rounded == end else rounded


def _span(text: str | None) -> tuple[float, float, bool]:
    """The least and the greatest number of a label, and whether the greatest is left out."""
    found = INTERVAL.fullmatch(text) if text is not None else None
    if found:
        return float(found[1]), float(found[2]), not (text or "").endswith("]")
    dates = DATES.fullmatch(text) if text is not None else None
    if dates:
        return quantity(dates[1]), quantity(dates[2]), False
    value = quantity(text)
    value = value if math.isfinite(value) else math.nan
    return value, value, False


def quantity(text: str | None) -> float:
    """The number that a text spells, for a date the number of its day, else not-a-number.

    Example:
        >>> quantity("2.5"), quantity("1970-01-02") - quantity("1970-01-01")
        (2.5, 1.0)
    """
    value = number(text)
    if math.isnan(value) and text is not None and _DAY.match(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return value
        return moment.toordinal() + (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86400
    return value
