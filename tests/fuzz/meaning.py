"""What cells mean: which are missing, which are the same value, and whether a published one is true of its record.

Written from the documentation of formats and hierarchies, without Shoal's code.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import pyarrow as pa
from tests.fuzz.case import Case, Column, Given
from tests.fuzz.definitions import Attribute

NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
DATES = re.compile(r"\[(.+) - (.+)\]")
INTERVAL = re.compile(r"\[(.+?)-(-?[\d.]+(?:e[+-]?\d+)?)([\])])", re.IGNORECASE)
WIDER = 1e-9
"""How far a published number may be off by rounding, as a share of it."""


def number(value: Any) -> Fraction | None:
    """A value as an exact number, if it is a finite one."""
    try:
        if isinstance(value, str):
            return Fraction(Decimal(value.strip()))
        if isinstance(value, float):  # what it is written as, which is what a reader sees
            return Fraction(Decimal(repr(value)))
        exact = isinstance(value, (int, Decimal, Fraction)) and not isinstance(value, bool)
        return Fraction(value) if exact else None
    except (InvalidOperation, ValueError, OverflowError):
        return None


def quantity(raw: Any, kind: pa.DataType) -> Fraction | None:
    """A raw value as an exact number: a span of time in its unit, a narrow float by its own shortest spelling."""
    spelled = pa.types.is_duration(kind) or pa.types.is_floating(kind)
    return number(_arrow_text(raw, kind) if spelled and raw is not None else raw)


def moment(raw: Any, kind: pa.DataType) -> Fraction | None:
    """The second that a date is, by the clock on the wall; None where there is no date."""
    text = raw.strip() if isinstance(raw, str) else _arrow_text(raw, kind) if isinstance(raw, dt.date) else ""
    parts = DATE.fullmatch(text)
    if parts is None:
        return None
    try:
        when = dt.datetime.fromisoformat(f"{parts[1]}T{parts[2] or '00:00'}")
    except ValueError:
        return None
    return Fraction((when - dt.datetime(1970, 1, 1)) // dt.timedelta(seconds=1)) + Fraction(parts[3] or 0)


def spellings(value: Any, kind: pa.DataType) -> set[str]:
    """Every way in which a file may spell a value that is not missing."""
    if isinstance(value, str):
        return {value, value.strip(), _idle(value.strip())}
    texts = {str(value)}
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not pa.types.is_nested(plain) and not pa.types.is_binary(plain):
        texts.add(_arrow_text(value, plain))
    if isinstance(value, bool):
        texts.add(str(value).lower())
    if isinstance(value, float):
        narrow = float(str(pa.scalar(value, plain).cast(pa.string()))) if pa.types.is_float32(plain) else value
        texts |= {repr(narrow), repr(value), f"{value:.17g}"}
        if narrow == int(narrow):
            texts |= {str(int(narrow)), "-0" if narrow == 0 else str(int(narrow))}
    if isinstance(value, Decimal):
        texts |= {str(value.normalize())} | ({repr(float(value))} if number(float(value)) == value else set())
    return texts | {_idle(text) for text in texts}


def _arrow_text(value: Any, kind: pa.DataType) -> str:
    """A value as Arrow spells it."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        moment = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        held = pa.array([moment], pa.timestamp(kind.unit)).cast(pa.int64()).cast(kind)
    else:
        held = pa.array([value], kind)
    if pa.types.is_duration(kind):
        held = held.cast(pa.int64())
    try:
        text: str = held.cast(pa.string())[0].as_py()
    except pa.ArrowException:  # zones that Arrow's library of zones does not know
        text = str(value)
    return text


def _idle(text: str) -> str:
    """A time without a fraction of nothing."""
    return re.sub(r"(?<=:\d\d)\.0+(?!\d)", "", text)


def values_of(column: Column, case: Case) -> list[Hashable]:
    """What each cell of a column with a role is, None for a missing one; equal values are equal."""
    typed = not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type)
    typed &= not pa.types.is_dictionary(column.type)
    found: list[Hashable] = []
    for value in column.values:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            found.append(None)
        elif typed:
            exact = number(value)
            found.append(value if exact is None else exact)
        else:
            text = _idle(value.strip())
            found.append(None if not text or text in case.missing or value in case.missing else text)
    if typed or column.kind not in (None, "numeric"):
        return found
    texts = {text for text in found if text is not None}
    odd = {text for text in texts if NO_NUMBER.fullmatch(str(text))}
    if odd and texts - odd and all(number(text) is not None for text in texts - odd):
        found = [None if text in odd else text for text in found]
    return [number(text) if column.kind == "numeric" and text is not None else text for text in found]


class Lexicon:
    """The values of a column by their spellings."""

    def __init__(self, column: Column, case: Case) -> None:
        self.column = column
        self.values = values_of(column, case)
        self.known: dict[str, Hashable] = {}
        for raw, value in zip(column.values, self.values, strict=True):
            if value is not None:
                for text in spellings(raw, column.type):
                    self.known.setdefault(text, value)

    def read(self, shown: Any, kind: pa.DataType | None) -> Hashable:
        """The value that a published cell is; raises StopIteration where it is none of the column's."""
        if shown is None or shown == "":
            return None
        texts = spellings(shown, kind or self.column.type)
        for text in sorted(texts):
            if text in self.known:
                return self.known[text]
        exact = number(shown)
        if exact is not None:  # a number that is spelled in another way
            return next(value for text, value in self.known.items() if number(text) == exact)
        raise StopIteration


def covers(shown: Any, raw: Any, value: Hashable, column: Column, kind: pa.DataType | None) -> bool | None:
    """Whether a published cell of a quasi-identifier is true of a record; None where it is a number or a date that can
    only be the mean of its class."""
    if shown is None or shown == "":
        return value is None
    text = shown if isinstance(shown, str) else None
    tops = {"*"} | ({path[-1] for path in column.hierarchy.paths} if isinstance(column.hierarchy, Given) else set())
    if text in tops:
        return True
    if value is None:
        return False
    own = spellings(raw, column.type)
    if (_idle(text.strip()) in own) if text is not None else bool(own & spellings(shown, kind or column.type)):
        return True
    exact = quantity(raw, column.type)
    if exact is not None and text is not None and _inside(exact, text):
        return True
    if exact is not None and number(shown) is not None:
        return True if number(shown) == exact else None
    if text is None:
        return False
    if text.startswith("{") and any(f"|{spelled}|" in f"|{text[1:-1]}|" for spelled in own):
        return True
    if any(_generalizes(text, spelled, column) for spelled in own):
        return True
    when = moment(raw, column.type)
    if when is None or column.kind not in (None, "date"):
        return False
    ends = DATES.fullmatch(text)
    if ends is not None:
        first, last = moment(ends[1], column.type), moment(ends[2], column.type)
        return first is not None and last is not None and first <= when <= last
    shown_day = moment(text, column.type)
    return None if shown_day is not None and shown_day != when else shown_day == when


def _inside(exact: Fraction, text: str) -> bool:
    slack = abs(exact) * Fraction(WIDER)
    interval = INTERVAL.fullmatch(text)
    if interval:
        low, high = number(interval[1]), number(interval[2])
        return low is not None and high is not None and low - slack <= exact <= high + slack
    bound = number(text[1:]) if text[:1] in ("<", "≥") else None
    return bound is not None and (exact < bound + slack if text[0] == "<" else exact >= bound - slack)


def _generalizes(text: str, spelled: str, column: Column) -> bool:
    given = column.hierarchy
    if isinstance(given, Given):
        path = given.texts.get(spelled)
        if path is None:
            exact = number(spelled)
            path = next((found for key, found in given.texts.items() if exact is not None and number(key) == exact), ())
        return text in path
    masked = given is None or given.startswith("masking")
    if masked and len(text) == len(spelled) and all(a in ("*", b) for a, b in zip(text, spelled, strict=True)):
        return True
    if (given is None or given.startswith("dates")) and re.match(r"\d{4}-\d\d-\d\d", spelled):
        year, month = spelled[:4], int(spelled[5:7])
        return text in (spelled[:10], spelled[:7], f"{year}-Q{(month + 2) // 3}", year, f"{year[:3]}0s")
    if given is not None and given.startswith("ordering") and " – " in text:
        return _between(text, spelled, column)
    return False


def _between(text: str, spelled: str, column: Column) -> bool:
    """Whether a value lies between the two that a label names, in the natural order of the column."""
    for place in (found.start() for found in re.finditer(" – ", text)):
        first, last = text[:place], text[place + 3 :]
        ends = number(first), number(spelled), number(last)
        if None not in ends and ends[0] <= ends[1] <= ends[2]:  # type: ignore[operator]
            return True
        if first <= spelled <= last:
            return True
    return False


def attribute(lexicon: Lexicon, kept: Sequence[int], chosen: Sequence[str]) -> Attribute:
    """A sensitive column as models see it: how often each value is in the table, their order and their tree."""
    population = Counter(lexicon.values[row] for row in kept)
    priors = {value: count / len(kept) for value, count in population.items()}
    order = sorted(priors, key=lambda value: _rank(value, lexicon.column, priors))
    # A given hierarchy may name values that the column does not have, such as a text that is no number among numbers.
    meant = frozenset(lexicon.known[text] for text in chosen if text in lexicon.known) if chosen else None
    return Attribute(priors, order, _paths(lexicon.column, priors), meant)


def _rank(value: Hashable, column: Column, priors: Any) -> Any:
    """The place of a sensitive value in the order of its column: missing first, numbers by size, texts as a tree or
    the alphabet has them."""
    if value is None:
        return (0, 0)
    if isinstance(column.hierarchy, Given):
        return (1, _tree_order(column.hierarchy).index(_leaf(column.hierarchy, value)))
    numbers = [number(other) for other in priors if other is not None]
    if None not in numbers and len(set(numbers)) == len(numbers):
        return (1, number(value))
    return (1, str(value)) if isinstance(value, str) else (1, value)


def _leaf(given: Given, value: Hashable) -> str:
    """The text of a given tree that a value is: the same one, or else a number that is spelled in another way."""
    same = [key for key in given.texts if _idle(key) == value]
    exact = number(value)
    return next(iter(same), None) or next(key for key in given.texts if exact is not None and number(key) == exact)


def _tree_order(given: Given) -> list[str]:
    """The leaves of a given tree as a walk finds them: groups by their first leaf, numbers by their size."""
    leaves = list(given.texts)
    numbers = [number(leaf) for leaf in leaves]
    rank = dict(zip(leaves, numbers if None not in numbers else range(len(leaves)), strict=True))
    firsts: dict[tuple[int, str], Any] = {}
    for path in given.paths:
        for level, label in enumerate(path[1:], 1):
            firsts[level, label] = min(firsts.get((level, label), rank[path[0]]), rank[path[0]])
    levels = range(len(given.paths[0]) - 1, 0, -1)
    return sorted(leaves, key=lambda leaf: [*(firsts[level, given.texts[leaf][level]] for level in levels), rank[leaf]])


def _paths(column: Column, priors: Any) -> dict[Hashable, tuple[Hashable, ...]]:
    """The path of each sensitive value to the top."""
    given = column.hierarchy
    if not isinstance(given, Given):
        return {value: (value, "*") for value in priors}
    height = len(given.paths[0])
    return {
        value: (None,) * (height - 1) + ("top",) if value is None else (*given.texts[_leaf(given, value)][:-1], "top")
        for value in priors
    }
