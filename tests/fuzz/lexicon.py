"""The values of a column: which cells are the same value, which are missing, and of which records a cell is true."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, Literal

import pyarrow as pa
from tests.fuzz.case import Case, Column, Given
from tests.fuzz.definitions import Attribute, Group, shares, spread
from tests.fuzz.meaning import (
    DATE,
    DAY_FIRST,
    EPOCH,
    NO_NUMBER,
    PADDED,
    SECOND,
    arrow_text,
    bare,
    clocks,
    idle,
    moment,
    number,
    plain,
    quantity,
    spellings,
    zones,
)  # fmt: skip

DATES = re.compile(r"\[(.+) - (.+)\]")
ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d")
INTERVAL = re.compile(r"\[(.+?)-(-?[\d.]+(?:e[+-]?\d+)?)([\])])", re.IGNORECASE)

Reading = Literal["numbers", "moments", "texts"]


class Lexicon:
    """How a recipient understands a column with a role: as numbers or moments where every value is one, else as texts.
    `values` has what each record says, None where it says nothing."""

    def __init__(self, column: Column, case: Case) -> None:
        self.column = column
        held = [self._present(raw, case) for raw in column.values]
        self.reading = self._read_as([raw for raw in held if raw is not None])
        if self.reading == "numbers":  # what spells not-a-number among numbers is missing
            held = [None if isinstance(raw, str) and NO_NUMBER.fullmatch(raw) else raw for raw in held]
        self.values = [None if raw is None else self._meant(raw, column.type) for raw in held]
        earlier = [self._present(raw, case) for raw in column.earlier]
        self.known = {*self.values, *(self._meant(raw, column.type) for raw in earlier if raw is not None)} - {None}
        self._days = {
            when.date().isoformat(): value
            for raw, value in zip(held, self.values, strict=True)
            if self.reading == "moments" and raw is not None
            for when in clocks(raw, column.type)
            if when.time().isoformat() == "00:00:00"
        }
        texts = [raw for raw in held if isinstance(raw, str)]
        self.day_first = self.reading == "moments" and all(map(DAY_FIRST.fullmatch, texts)) and bool(texts)
        self._covered: dict[tuple[Any, int, bool], bool | None] = {}

    @staticmethod
    def _present(raw: Any, case: Case) -> Any:
        """What a cell holds; None where it is missing."""
        if raw is None or (isinstance(raw, float) and math.isnan(raw)):
            return None
        if not isinstance(raw, str):
            return raw
        text = idle(bare(raw))
        return None if not text or text in case.missing else text

    def _read_as(self, held: list[Any]) -> Reading:
        kind, said = self.column.type, self.column.kind
        if not _is_text(kind):
            dated = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
            texts = pa.types.is_boolean(kind) or pa.types.is_time(kind) or pa.types.is_null(kind)
            return "moments" if dated else "texts" if texts else "numbers"
        rest = [text for text in held if not NO_NUMBER.fullmatch(text)]
        if rest and all(number(text) is not None for text in rest):
            return "texts" if any(map(PADDED.match, rest)) and said != "numeric" else "numbers"
        return "moments" if held and all(moment(text, kind) is not None for text in held) else "texts"

    def _meant(self, cell: Any, kind: pa.DataType) -> Hashable:
        """The value of a cell that is not missing; None where it is none of the kind that the column has."""
        if self.reading == "numbers":
            return quantity(cell, kind)
        if self.reading == "moments":
            return moment(cell, kind)
        return idle(bare(cell if isinstance(cell, str) else arrow_text(cell, kind)))

    def read(self, cell: Any, kind: pa.DataType | None) -> Hashable:
        """The value that a published cell is; raises KeyError where it is none of the column's."""
        if cell is None or cell == "" or cell != cell:
            return None
        found = self._meant(cell, kind or self.column.type)
        if found not in self.known and isinstance(cell, str):  # a midnight is published as its day
            found = self._days.get(cell)
        if found not in self.known:
            raise KeyError
        return found

    def has(self, text: str) -> bool:
        try:
            return self.read(text, pa.string()) is not None
        except KeyError:
            return False

    # ------------------------------------------------------------------------------------------ what a cell is true of

    def covers(
        self, shown: Any, kind: pa.DataType | None, row: int, *, as_it_was: bool, sets: bool = True
    ) -> bool | None:
        """Whether a published cell of a quasi-identifier is true of a record; None where it is a number or a date that
        can only be the mean of its class. `as_it_was`: the manifest says that cells are values or `*`, so that one that
        looks like a set or an interval is a value. `sets`: it does not say that cells are labels of the hierarchy."""
        if self.day_first and isinstance(shown, str) and ISO_DAY.search(shown):
            return False  # days come out in the format that they came in
        if as_it_was:
            return shown == "*" or self._says(shown, kind, self.values[row])
        key = (shown if isinstance(shown, str) else repr(shown), row, sets)
        if key not in self._covered:
            self._covered[key] = self._covers(shown, kind, row, sets=sets)
        return self._covered[key]

    def _covers(self, shown: Any, kind: pa.DataType | None, row: int, *, sets: bool) -> bool | None:
        column, value = self.column, self.values[row]
        if shown is None or shown == "":
            return value is None
        text = shown if isinstance(shown, str) else None
        given = column.hierarchy
        if text == "*" or (isinstance(given, Given) and text in {path[-1] for path in given.paths}):
            return True
        if value is None:
            return False
        if self._says(shown, kind, value):
            return True
        exact = value if self.reading == "numbers" else None
        if isinstance(exact, Fraction):
            if text is not None and _inside(exact, text):
                return True
            if number(shown) is not None:
                return None
        if text is None:
            return False
        own = self._texts(row)
        if sets and text.startswith("{") and any(f"|{spelled}|" in f"|{text[1:-1]}|" for spelled in own):
            return True
        if any(self._generalizes(text, spelled, value) for spelled in own):
            return True
        return self._is_about(text, value) if self.reading == "moments" else False

    def _says(self, shown: Any, kind: pa.DataType | None, value: Hashable) -> bool:
        try:
            return self.read(shown, kind) == value
        except KeyError:
            return False

    def _texts(self, row: int) -> set[str]:
        """The ways in which a hierarchy may spell the value of a record."""
        raw, value = self.column.values[row], self.values[row]
        found = spellings(raw, self.column.type)
        if self.reading == "numbers" and isinstance(value, Fraction):
            found.add(plain(value))
        for when in clocks(raw, self.column.type) if self.reading == "moments" else ():
            found |= {when.date().isoformat(), when.isoformat(), when.isoformat(sep=" ")}
            # By the clock of a zone, or of UTC.
            ahead = (when - EPOCH) / SECOND - float(value // 1)  # type: ignore[operator]
            found |= {f"{when.isoformat()}{zone}" for zone in zones(int(ahead))}
        return found

    def _is_about(self, text: str, value: Any) -> bool | None:
        """Whether a label of dates is true of a moment; None: it is one date, and can only be a mean."""
        ends = DATES.fullmatch(text)
        if ends is not None:
            first, last = self._moment(ends[1]), self._moment(ends[2])
            return first is not None and last is not None and first <= value <= last
        return None if self._moment(text) is not None else False

    def _moment(self, text: str) -> Any:
        if text in self._days and DATE.fullmatch(text):
            return self._days[text]
        return moment(text, pa.string())

    def _generalizes(self, text: str, spelled: str, value: Hashable) -> bool:
        given = self.column.hierarchy
        if isinstance(given, Given):
            path = given.texts.get(spelled)
            if path is None and self._meant(spelled, pa.string()) != value:
                return False  # what a clock shows, which may be another moment where the tree has it
            if path is None:
                path = next((found for key, found in given.texts.items() if self._same(key, spelled)), ())
            return text in path
        masked = given is None or given.startswith("masking")
        if masked and len(text) == len(spelled) and all(a in ("*", b) for a, b in zip(text, spelled, strict=True)):
            return True
        if (given is None or given.startswith("dates")) and re.match(r"\d{4}-\d\d-\d\d", spelled):
            year, month = spelled[:4], int(spelled[5:7])
            return text in (spelled[:10], spelled[:7], f"{year}-Q{(month + 2) // 3}", year, f"{year[:3]}0s")
        if given is not None and given.startswith("ordering") and " – " in text:
            return self._between(text, spelled)
        return False

    def _same(self, one: str, other: str) -> bool:
        first, second = self._meant(one, pa.string()), self._meant(other, pa.string())
        return first is not None and first == second

    def _between(self, text: str, spelled: str) -> bool:
        """Whether a value lies between the two that a label names, in the natural order of the column."""
        for place in (found.start() for found in re.finditer(" – ", text)):
            first, last = text[:place], text[place + 3 :]
            ends = [self._meant(end, pa.string()) for end in (first, spelled, last)]
            if None not in ends and type(ends[0]) is type(ends[1]) and ends[0] <= ends[1] <= ends[2]:  # type: ignore[operator]
                return True
            if first <= spelled <= last:
                return True
        return False

    # ---------------------------------------------------------------------------------------------- as models see it

    def attribute(self, whole: Group, chosen: Sequence[str]) -> Attribute:
        """A sensitive column as models see it: how often each value is in the whole table, their order and their
        tree. A given hierarchy may name values that the column does not have."""
        priors = shares(whole)
        order = sorted(priors, key=lambda value: self._rank(value, priors))
        meant = frozenset(self.read(text, pa.string()) for text in chosen if self.has(text)) if chosen else None
        return Attribute(priors, spread(whole), order, self._paths(priors), meant)

    def _rank(self, value: Hashable, priors: Any) -> Any:
        """The place of a value in the order of its column: missing first, numbers by size, texts as a tree or the
        alphabet has them."""
        if value is None:
            return (0, 0)
        if isinstance(self.column.hierarchy, Given):
            return (1, _tree_order(self.column.hierarchy).index(self._leaf(self.column.hierarchy, value)))
        return (1, value)

    def _leaf(self, given: Given, value: Hashable) -> str:
        """The text of a given tree that a value is."""
        return next(key for key in given.texts if self._meant(key, pa.string()) == value)

    def _paths(self, priors: Any) -> dict[Hashable, tuple[Hashable, ...]]:
        """The path of each value to the top."""
        given = self.column.hierarchy
        if not isinstance(given, Given):
            return {value: (value, "*") for value in priors}
        height = len(given.paths[0])
        return {
            value: (None,) * (height - 1) + ("top",)
            if value is None
            else (value, *given.texts[self._leaf(given, value)][1:-1], "top")
            for value in priors
        }


def _is_text(kind: pa.DataType) -> bool:
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(held) or pa.types.is_large_string(held))


def _inside(exact: Fraction, text: str) -> bool:
    interval = INTERVAL.fullmatch(text)
    if interval:
        low, high = number(interval[1]), number(interval[2])
        if low is None or high is None:
            return False
        return low <= exact < high if interval[3] == ")" else low <= exact <= high
    bound = number(text[1:]) if text[:1] in ("<", "≥") else None
    return bound is not None and (exact < bound if text[0] == "<" else exact >= bound)


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
