"""Conditions on a column, and what a published label says about them: surely, possibly, and with what probability."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.codebook import Spelling
from shoal.core.hierarchy import TOP, Hierarchy
from shoal.core.schema import Kind
from shoal.errors import NotDefined, ParameterError, quoted, unknown_columns
from shoal.parsing.identity import plain_number, plain_text, without_idle_fraction
from shoal.parsing.labels import DATES, INTERVAL, number

Floats = NDArray[np.float64]
_COMPARED = re.compile(r"(<=|>=|<|>|!=|==?|in\b|is\b)\s*(.*)", re.DOTALL)
_RANGE = re.compile(r"(\S.*?)\s*\.\.\s*(.*\S)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ZONE = re.compile(r"[T :]\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d)")
_FINER = re.compile(r"[.,]\d{6}(\d{1,3})")
"""What is finer than a microsecond."""
_MICROSECOND = timedelta(microseconds=1)
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

    `values` and numbers are not printed: they may be values of a table. Where an end is a moment with a zone,
    `by_clock` has the ends as their own clocks show them.

    Example:
        >>> Condition.parsed("age", "20..30").low, Condition.parsed("age", "< 30").open
        (Decimal('20'), (False, True))
    """

    column: str
    low: Decimal | float = field(default=-math.inf, repr=False)
    high: Decimal | float = field(default=math.inf, repr=False)
    open: tuple[bool, bool] = (False, False)
    values: frozenset[str] | None = field(default=None, repr=False)
    missing: bool | None = None
    negated: bool = False
    by_clock: tuple[Decimal | float, Decimal | float] | None = field(default=None, repr=False)

    @classmethod
    def parsed(cls, column: str, text: str) -> Condition:
        """A condition as people write it: `<= 30`, `20..30`, `flu`, `= flu`, `!= flu`, `in flu, cold`, `is missing`."""
        text = text.strip()
        found = _COMPARED.match(text)
        sign, rest = (found[1], found[2].strip()) if found else ("", text)
        between = _RANGE.fullmatch(rest)
        if sign in ("", "in") and between:
            first, last = exactly(between[1]), exactly(between[2])
            if first is not None and last is not None:
                return cls(column=column, low=first, high=last, by_clock=_by_clock(between[1], between[2]))
        if sign == "is" and rest in _MISSING:
            return cls(column=column, missing=_MISSING[rest])
        if sign and sign[0] in "<>":
            end, strictly = exactly(rest), "=" not in sign
            if end is None:
                raise ParameterError(
                    f"the condition on column {quoted(column)} compares with something that is no number and no date"
                )
            if sign[0] == "<":
                return cls(column=column, high=end, open=(False, strictly), by_clock=_by_clock(None, rest))
            return cls(column=column, low=end, open=(strictly, False), by_clock=_by_clock(rest, None))
        values = [part.strip() for part in next(csv.reader([rest], skipinitialspace=True), [])]
        if sign != "in":
            values = [rest.strip('"')]
        if not any(values) or sign == "is":
            raise ParameterError(
                f"the condition on column {quoted(column)} cannot be read; write one such as '<= 30', '20..30', "
                "'= flu', '!= flu', 'in flu, cold' or 'is missing'"
            )
        plain = frozenset(without_idle_fraction(plain_text(value)) for value in values)
        return cls(column=column, values=plain, negated=sign == "!=")

    @property
    def numeric(self) -> bool:
        """Whether it bounds a number."""
        return self.values is None and self.missing is None

    def holds(self, span: Span) -> bool:
        """Whether every number of a span lies between the ends."""
        above = self.low < span.low or (self.low == span.low and not self.open[0])
        return above and (span.high < self.high or (span.high == self.high and (span.half or not self.open[1])))

    def can_hold(self, span: Span) -> bool:
        """Whether some number of a span lies between the ends."""
        above = self.low < span.high or (self.low == span.high and not span.half and not self.open[0])
        return above and (span.low < self.high or (span.low == self.high and not self.open[1]))

    def read_by(self, labels: Labels) -> Condition:
        """The condition as it is meant of a column: where times have no zone, a moment is what its own clock shows."""
        if self.by_clock is None or labels.zoned:
            return self
        return replace(self, low=self.by_clock[0], high=self.by_clock[1])

    def meaning(self, labels: Labels) -> Meaning:
        """What the labels of the column say about it."""
        if self.missing is not None:
            return self._of_missing(labels)
        if self.numeric:
            chance, sure, possible = labels.inside(self.read_by(labels))
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
        return "in " + ",".join('"' + _text(value).replace('"', '""') + '"' for value in given)
    return f"= {_text(given)}"


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


@dataclass(frozen=True, eq=False)
class Labels:
    """The distinct labels of a published column, and what they stand for.

    The `spelling` says how to read them: `raw` labels are values as they were, whatever they look like; of the others,
    see `Spelling`. Labels that are nodes need the `hierarchy`: a label that looks like a number may be one, too.
    `weights` counts the records of each label. The `kind` of the column says which spellings are one value; None: it is
    not known.
    """

    column: str
    texts: Sequence[str | None]
    weights: NDArray[Any]
    spelling: Spelling | Literal["raw"] = "raw"
    hierarchy: Hierarchy | None = None
    kind: Kind | None = None

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Which label is the missing value."""
        return np.array([text is None for text in self.texts], dtype=np.bool_)

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """Which label hides everything, also whether there is a value."""
        tops = set() if self.spelling == "raw" else {TOP}
        if self.spelling == "levels" and self.hierarchy is not None:
            tops.add(self.hierarchy.labels[-1][0])
        return np.array([text in tops for text in self.texts], dtype=np.bool_)

    @cached_property
    def zoned(self) -> bool:
        """Whether times of the column name a zone; all of them do, or none."""
        texts = self._tree.labels[0] if self.spelling == "levels" else self.texts
        return any(text is not None and ":" in text and _ZONE.search(text) for text in texts)

    @property
    def present(self) -> float:
        """The share of the records with a value, among those whose label tells."""
        told = ~self.unknown
        if not told.any():
            return 1.0
        return float(self.weights[told & ~self.absent].sum() / max(self.weights[told].sum(), 1))

    @cached_property
    def _tree(self) -> Hierarchy:
        """The hierarchy of labels that are its nodes."""
        if self.hierarchy is None:
            raise NotDefined(
                f"column {self.column!r} is published at levels of its hierarchy; give the hierarchy so that its "
                "labels can be understood"
            )
        return self.hierarchy

    @cached_property
    def _leaves(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last leaf that each label can stand for; the first is after the last where it is none."""
        ranges = np.zeros((2, len(self.texts)), np.int64)
        ranges[1] = -1
        for place, text in enumerate(self.texts):
            if text is not None and not self.unknown[place]:
                ranges[:, place] = _leaves_of(self._tree, self.column, text)
        return ranges[0], ranges[1]

    @cached_property
    def _spans(self) -> list[Span | None]:
        """The numbers that each label stands for; None where it stands for something else, or hides it."""
        hidden = self.absent | self.unknown
        texts = zip(self.texts, hidden.tolist(), strict=True)
        if self.spelling != "levels":
            intervals = self.spelling == "intervals"
            return [None if unclear else _span(text, intervals=intervals) for text, unclear in texts]
        tree, (first, last) = self._tree, self._leaves
        numbers = [_span(leaf, intervals=False) for leaf in tree.labels[0]]
        found: list[Span | None] = []
        for text, unclear, begin, end in zip(self.texts, hidden.tolist(), first.tolist(), last.tolist(), strict=True):
            under = [] if unclear else numbers[begin : end + 1]
            known = [leaf for leaf in under if leaf is not None]
            if not known or len(known) < len(under):
                found.append(None)
                continue
            hull = Span(min(leaf.low for leaf in known), max(leaf.high for leaf in known), False)
            wider = _span(text, intervals=True)
            # An interval stands for all that it holds, not only for the leaves that there are.
            found.append(wider if wider is not None and wider.low <= hull.low and hull.high <= wider.high else hull)
        return found

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """The least and the greatest number of each label; not-a-number where it stands for none."""
        ends = [(np.nan, np.nan) if span is None else (float(span.low), float(span.high)) for span in self._spans]
        low, high = np.array(ends, np.float64).reshape(-1, 2).T.copy()
        return low, high

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The least and the greatest number that each label stands for; all that the column shows where it hides it."""
        low, high = (ends.copy() for ends in self._ends)
        shown = ~np.isnan(low)
        if not shown.any() and not self.numeric:
            raise ParameterError(f"column {self.column!r} has no numbers; compare it with texts")
        if bool(np.any(~shown & ~self.absent & ~self.unknown)):
            raise NotDefined(
                f"column {self.column!r} is published with labels that are no numbers; give its hierarchy so that they "
                "can be understood"
            )
        if shown.any():
            low[self.unknown], high[self.unknown] = low[shown].min(), high[shown].max()
        elif self.hierarchy is not None and self.hierarchy.values is not None:  # all is hidden: any value there is
            first, last = (quantity(self.hierarchy.labels[0][at]) for at in (int(self.hierarchy.missing), -1))
            low[self.unknown], high[self.unknown] = first, last
        return low, high

    @property
    def numeric(self) -> bool:
        """Whether the column has numbers, shown or known by its hierarchy."""
        tree = self.hierarchy
        return not np.isnan(self._ends[0]).all() if tree is None else tree.values is not None and tree.ordered

    @cached_property
    def whole(self) -> bool:
        """Whether every number in the column is whole, so that an interval most likely is that many numbers."""
        ends = np.concatenate(self._ends)
        ends = ends[~np.isnan(ends)]
        return bool(np.all(ends == np.floor(ends)))

    def inside(self, wanted: Condition) -> Meaning:
        """What each label says about lying between two numbers. What is sure is so of any numbers, whole or not."""
        low, high = self.ends
        half = np.array([span is not None and span.half for span in self._spans], np.bool_)
        sure, possible = np.zeros((2, len(self.texts)), np.bool_)
        for place, span in enumerate(self._spans):
            if span is not None:
                sure[place], possible[place] = wanted.holds(span), wanted.can_hold(span)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.whole:
                # [20-29] is ten whole numbers
                last = high - half
                first = np.maximum(low, _whole_end(float(wanted.low), wanted.open[0], up=True))
                final = np.minimum(last, _whole_end(float(wanted.high), wanted.open[1], up=False))
                size, met = last - low + 1, np.maximum(final - first + 1, 0)
            else:
                size = high - low
                met = np.maximum(np.minimum(high, float(wanted.high)) - np.maximum(low, float(wanted.low)), 0)
            chance = np.clip(np.nan_to_num(met / np.where(size > 0, size, 1)), 0.0, 1.0)
        hidden = self.unknown
        chance = np.where(hidden, chance * self.present, np.where(sure, 1.0, chance * possible))
        return Meaning(np.where(self.absent, 0.0, chance), sure, possible | hidden)

    def among(self, values: frozenset[str]) -> Meaning:
        """What each label says about being one of some texts. Numbers and dates of a column that has them count,
        however they are spelled."""
        wanted = _Wanted(values, self.kind, by_clock=not self.zoned)
        if self.spelling == "levels":
            chance, sure, possible = self._under(wanted)
        else:
            chance, sure, possible = self._equal(wanted)
        hidden = self.unknown
        if hidden.any():
            told = ~hidden
            share = float((chance * self.weights)[told].sum() / max(self.weights[told].sum(), 1))
            if not told.any() and self.hierarchy is not None:  # all is hidden: any value there is
                share = sum(wanted.has(leaf) for leaf in self.hierarchy.labels[0]) / self.hierarchy.size
            chance[hidden], possible[hidden] = share, True
        return Meaning(chance, sure, possible)

    def _equal(self, wanted: _Wanted) -> Meaning:
        """Labels that are values, or intervals of numbers."""
        count = len(self.texts)
        chance, sure, possible = np.zeros(count), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for place, text in enumerate(self.texts):
            if text is None or self.unknown[place]:
                continue
            span = self._spans[place] if self.spelling == "intervals" else None
            if span is None or exactly(text) is not None:
                chance[place] = sure[place] = possible[place] = wanted.has(text)
                continue
            met = sum(span.holds(value) for value in wanted.quantities)
            size = float(span.high - span.low) + 1 - span.half
            sure[place] = bool(met) and span.low == span.high
            chance[place] = 1.0 if sure[place] else min(met / size, 1.0) if self.whole else 0.0
            possible[place] = met > 0 or text in wanted.values  # a text may look like an interval and be a value
        return Meaning(chance, sure, possible)

    def _under(self, wanted: _Wanted) -> Meaning:
        """Labels that are nodes: how many of the leaves under each are wanted."""
        first, last = self._leaves
        before = np.append(0, np.cumsum([wanted.has(leaf) for leaf in self._tree.labels[0]]))
        met, size = before[last + 1] - before[first], last - first + 1
        return Meaning(met / np.maximum(size, 1), (met == size) & (size > 0), met > 0)


class Span(NamedTuple):
    """The numbers from `low` to `high`, exactly; `half` leaves the greatest out."""

    low: Decimal
    high: Decimal
    half: bool

    def holds(self, value: Decimal) -> bool:
        """Whether a number lies in it."""
        return self.low <= value < self.high if self.half else self.low <= value <= self.high


class _Wanted:
    """Texts that are asked for in a column of a kind, and the numbers and days that they spell; `by_clock`: moments are
    what their own clocks show."""

    def __init__(self, values: frozenset[str], kind: Kind | None, *, by_clock: bool) -> None:
        self.values, self._kind, self._by_clock = values, kind, by_clock
        self.quantities = {exact for value in values if (exact := exactly(value, by_clock=by_clock)) is not None}
        self._same = {exact for value in values if (exact := self._identity(value)) is not None}

    def has(self, text: str | None) -> bool:
        """Whether a value is one of them."""
        if text is None:
            return False
        return text in self.values or (bool(self._same) and self._identity(text) in self._same)

    def _identity(self, text: str) -> Decimal | None:
        """The number or day that a value is, however it is spelled; None where only the same text is the same value:
        codes such as 007 and 7 are two."""
        if self._kind in (Kind.CATEGORICAL, Kind.TEXT):
            return None
        code = self._kind is None and math.isfinite(number(text)) and plain_number(text) is None
        return None if code else exactly(text, by_clock=self._by_clock)


def _leaves_of(tree: Hierarchy, column: str, label: str) -> tuple[int, int]:
    """The first and the last leaf that a label of a hierarchy can stand for."""
    found = [span for span in (tree.parse(label),) if span is not None]
    if label.startswith("{") and label.endswith("}"):
        # A set of values, which may have the sign between them inside.
        inner = f"|{label[1:-1]}|"
        found += [(leaf, leaf) for leaf, text in enumerate(tree.labels[0]) if text is not None and f"|{text}|" in inner]
    if not found:
        raise NotDefined(
            f"column {column!r} is published with labels that its hierarchy does not have; give the one that it was "
            "published with"
        )
    return min(first for first, _ in found), max(last for _, last in found)


def _whole_end(end: float, strictly: bool, *, up: bool) -> float:
    """The first whole number inside an end."""
    if not math.isfinite(end):
        return end
    rounded = math.ceil(end) if up else math.floor(end)
    step = 1 if up else -1
    return rounded + step if strictly and rounded == end else rounded


def _span(text: str | None, *, intervals: bool) -> Span | None:
    """The numbers that a label stands for: one, or those of an interval where labels may be intervals."""
    found = (INTERVAL.fullmatch(text) or DATES.fullmatch(text)) if intervals and text is not None else None
    if found is None:
        value = exactly(text)
        return None if value is None else Span(value, value, False)
    low, high = exactly(found[1]), exactly(found[2])
    return None if low is None or high is None else Span(low, high, not (text or "").endswith("]"))


def _by_clock(low: str | None, high: str | None) -> tuple[Decimal | float, Decimal | float] | None:
    """Two ends as their own clocks show them; None where they name no zone."""
    if not any(text is not None and _ZONE.search(text) for text in (low, high)):
        return None
    first, last = (exactly(text, by_clock=True) for text in (low, high))
    return -math.inf if first is None else first, math.inf if last is None else last


def exactly(text: str | None, *, by_clock: bool = False) -> Decimal | None:
    """The number that a text spells, for a date the number of its day, so that different ones stay different; None
    where it is neither. A moment with a zone is taken in UTC, or as its own clock shows it.

    Example:
        >>> exactly("2.50"), exactly("1970-01-02T12:00") - exactly("1970-01-01"), exactly("flu")
        (Decimal('2.50'), Decimal('1.5'), None)
    """
    if math.isfinite(number(text)):
        return Decimal(text or "")
    if text is not None and _DAY.match(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        passed = timedelta(
            days=moment.toordinal(), hours=moment.hour, minutes=moment.minute, seconds=moment.second,
            microseconds=moment.microsecond,
        )  # fmt: skip
        if not by_clock:
            passed -= moment.utcoffset() or timedelta()
        finer = _FINER.search(text)
        nanoseconds = passed // _MICROSECOND * 1000 + int(finer[1].ljust(3, "0") if finer else 0)
        return Decimal(nanoseconds) / (86_400 * 10**9)
    return None


def quantity(text: str | None) -> float:
    """The number that a text spells, for a date the number of its day, else not-a-number.

    Example:
        >>> quantity("2.5"), quantity("1970-01-02") - quantity("1970-01-01")
        (2.5, 1.0)
    """
    value = exactly(text)
    return math.nan if value is None else float(value)
