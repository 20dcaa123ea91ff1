"""Hierarchy: each raw value of a column, and what it becomes at each level of generalization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.date_labels import as_iso
from shoal.core.hierarchy_paths import TOP as TOP
from shoal.core.hierarchy_paths import checked_paths, walk_order
from shoal.errors import HierarchyError
from shoal.parsing.dates import Calendar
from shoal.parsing.identity import are_plain_numbers, plain_number, plain_numbers, plain_text
from shoal.parsing.labels import DATES, INTERVAL, are_numbers, ascending, is_less, objects, spelled

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree over the raw values of a column, as a matrix of integers.

    Row `j` of `codes` says what each raw value (a *leaf*) becomes at level `j`; row 0 is the leaves
    themselves and the last row is all zero, the one value at the top. Leaves stand in the order of a walk
    through the tree, and numeric ones also in the order of their values, so that **every node is a
    contiguous range of leaves**. What a class of records is generalized to follows from its least and
    its greatest leaf alone.

    A missing value is a leaf of its own: the first one, under nothing but the top. Where there is a `calendar` the
    leaves are dates, and `values` are days or seconds.

    Example:
        >>> paths = [("47677", "476**", "*"), ("47602", "476**", "*"), ("47905", "479**", "*")]
        >>> tree = Hierarchy.from_paths("zip", paths)
        >>> tree.height, tree.size
        (2, 3)
        >>> tree.label(0, 1)
        '476**'
    """

    column: str
    codes: Codes
    labels: tuple[NDArray[Any], ...]
    values: Floats | None = None
    bounds: tuple[tuple[Floats, Floats], ...] | None = None
    missing: bool = False
    automatic: bool = False
    calendar: Calendar | None = None

    @property
    def height(self) -> int:
        """The number of times a raw value can be generalized."""
        return len(self.codes) - 1

    @property
    def size(self) -> int:
        """The number of leaves."""
        return int(self.codes.shape[1])

    @cached_property
    def starts(self) -> tuple[Codes, ...]:
        """For each level, the first leaf under each node."""
        return tuple(np.searchsorted(row, np.arange(row[-1] + 1)).astype(np.int32) for row in self.codes)

    @cached_property
    def stops(self) -> tuple[Codes, ...]:
        """For each level, the last leaf under each node."""
        return tuple(np.append(start[1:], np.int32(self.size)).astype(np.int32) - np.int32(1) for start in self.starts)

    def leaf_counts(self, level: int) -> NDArray[np.int64]:
        """The number of leaves under each node of a level."""
        return (self.stops[level] - self.starts[level] + 1).astype(np.int64)

    @cached_property
    def masks(self) -> bool:
        """Whether labels hide characters of the raw values, which are codes then and not quantities."""
        return any(TOP in (label or "") for level in self.labels[1:-1] for label in level)

    @cached_property
    def ordered(self) -> bool:
        """Whether the leaves are quantities in ascending order, so that an interval of them makes sense."""
        if self.values is None or self.masks:
            return False
        present = self.values[int(self.missing) :]
        steps = np.diff(present)
        if not (np.all(np.isfinite(present)) and np.all(steps >= 0)):
            return False
        alike = np.flatnonzero(steps == 0) + int(self.missing) if self.calendar is None else ()
        return all(not is_less(*self.labels[0][[at + 1, at]]) for at in alike)

    def ancestor_levels(self, low: Codes, high: Codes) -> NDArray[np.int64]:
        """The lowest level at which two leaves are the same value, for arrays of pairs."""
        levels: NDArray[np.int64] = np.argmax(self.codes[:, low] == self.codes[:, high], axis=0)
        return levels

    def widen(self, low: Codes, high: Codes) -> tuple[Codes, Codes]:
        """The ranges of the closest common ancestors of pairs of leaves."""
        levels = self.ancestor_levels(low, high)
        first, last = np.empty_like(low), np.empty_like(high)
        for level in range(self.height + 1):
            at = levels == level
            nodes = self.codes[level, low[at]]
            first[at], last[at] = self.starts[level][nodes], self.stops[level][nodes]
        return first, last

    def spans_missing(self, low: Codes, high: Codes) -> NDArray[np.bool_]:
        """Which ranges hold the missing value together with others."""
        return (low == 0) & (high > 0) if self.missing else np.zeros(len(low), dtype=np.bool_)

    @property
    def numbers(self) -> Floats:
        """The values of the leaves, for whoever needs some."""
        if self.values is None:
            raise HierarchyError(f"column {self.column!r} has no numeric values")
        return self.values

    def extent(self, low: Codes, high: Codes) -> Floats:
        """The length of the numeric intervals that ranges of leaves publish.

        A range that is a node with declared bounds counts from bound to bound, any other from its least to
        its greatest value.
        """
        length = np.asarray(self.numbers[high] - self.numbers[low], dtype=np.float64)
        if self.bounds is not None:
            levels = self.ancestor_levels(low, high)
            for level in range(1, self.height):
                nodes = self.codes[level, low]
                exact = (levels == level) & (self.starts[level][nodes] == low) & (self.stops[level][nodes] == high)
                lower, upper = self.bounds[level]
                length[exact] = upper[nodes[exact]] - lower[nodes[exact]]
        return length

    def lengths(self, texts: NDArray[Any], low: Codes, high: Codes) -> Floats:
        """The lengths of published values: from bound to bound where a label is an interval."""
        lengths = self.extent(low, high)
        for at in np.flatnonzero(low != high):
            ends = self._ends(texts[at])
            if ends is not None:
                lengths[at] = ends[1] - ends[0]
        return lengths

    def label(self, low: int, high: int, *, interval: bool = False) -> str | None:
        """How a range of leaves is published: the raw value, an interval where that is wanted, the node's label, or
        what else there is: an interval or a set."""
        if low == high:
            raw: str | None = self.labels[0][low]
            return raw
        if interval and not (self.missing and low == 0):
            return self._interval(low, high)
        for level in range(1, self.height + 1):
            node = self.codes[level, low]
            if self.starts[level][node] == low and self.stops[level][node] == high:
                text: str = self.labels[level][node]
                return text
        if self.missing and low == 0:
            top: str = self.labels[-1][0]
            return top
        if self.ordered:
            return self._interval(low, high)
        return "{" + "|".join(self.labels[0][low : high + 1]) + "}"

    def _interval(self, low: int, high: int) -> str:
        """The label of an interval; dates have hyphens of their own, so blanks stand around the one between them."""
        between = "-" if self.calendar is None else " - "
        return f"[{self.labels[0][low]}{between}{self.labels[0][high]}]"

    def _ends(self, text: str | None) -> tuple[float, float] | None:
        """The least and the greatest value of an interval that a label spells."""
        interval = (INTERVAL if self.calendar is None else DATES).fullmatch(text or "")
        if interval is None:
            return None
        ends = self._measured(interval[1]), self._measured(interval[2])
        return None if np.isnan(ends).any() else ends

    def _measured(self, text: str) -> float:
        """A number, or the day or second that a date is."""
        if self.calendar is None:
            return float(text)
        leaf = self.leaf_of.get(text)  # as most ends of intervals are, which spares taking them apart
        if leaf is None or self.values is None:
            return float(self.calendar.moments([text]).quantities(times=self.calendar.times)[0])
        return float(self.values[leaf])

    def spelled(self, value: float) -> str:
        """A number, or the date that a number of days or seconds is, as a label."""
        return spelled(float(f"{value:.10g}")) if self.calendar is None else self.calendar.spelled(value)

    @cached_property
    def leaf_of(self) -> dict[str | None, int]:
        """The leaf of each raw value."""
        return {text: leaf for leaf, text in enumerate(self.labels[0])}

    @cached_property
    def _leaf_of_number(self) -> dict[str, int]:
        if self.values is None:
            return {}
        named = ((plain_number(text), leaf) for leaf, text in enumerate(self.labels[0]) if text is not None)
        return {text: leaf for text, leaf in named if text is not None}

    def leaf(self, text: str | None) -> int | None:
        """The leaf of a raw value, however it is spelled: a number as 30.0 for 30, a date by another clock."""
        leaf = self.leaf_of.get(text)
        if leaf is not None or text is None:
            return leaf
        if self.calendar is not None:
            if text not in self._otherwise:
                self._take_apart([text], self.calendar)
            return self._otherwise[text]
        bare = plain_text(text)
        number = plain_number(bare)
        return self._leaf_of_number.get(number or "", self.leaf_of.get(bare))

    def leaves(self, texts: Sequence[str | None]) -> list[int | None]:
        """The leaf of each raw value; many dates are understood far faster together than one by one."""
        if self.calendar is not None:
            others = [text for text in texts if text is not None and text not in self.leaf_of]
            self._take_apart(others, self.calendar)
        return [self.leaf(text) for text in texts]

    @cached_property
    def _otherwise(self) -> dict[str, int | None]:
        """The leaves of dates that are spelled otherwise than here, as far as they were asked for."""
        return {}

    def _take_apart(self, texts: Sequence[str], calendar: Calendar) -> None:
        spelled = calendar.spellings([plain_text(text) for text in texts])
        leaves = (None if text is None else self.leaf_of.get(text) for text in spelled)
        self._otherwise.update(zip(texts, leaves, strict=True))

    def _level_ranges(self, level: int) -> dict[str | None, tuple[int, int]]:
        ends = zip(self.starts[level].tolist(), self.stops[level].tolist(), strict=True)
        return dict(zip(self.labels[level], ends, strict=True))

    @cached_property
    def _ranges(self) -> dict[str | None, tuple[int, int]]:
        """What a label of any level stands for; all that it can mean where levels use one label for different
        things."""
        ranges = self._level_ranges(0)
        for level in range(1, self.height + 1):
            for label, (first, last) in self._level_ranges(level).items():
                other = ranges.get(label, (first, last))
                ranges[label] = min(first, other[0]), max(last, other[1])
        return ranges

    def parse(self, text: str | None, level: int | None = None) -> tuple[int, int] | None:
        """The range of leaves that a published label stands for (at a level, when that is known), or None when it
        stands for nothing here."""
        if level is not None:
            return self._level_ranges(level).get(text)
        known = self._ranges.get(text)
        if known is not None or text is None:
            return known
        interval = (INTERVAL if self.calendar is None else DATES).fullmatch(text)
        ends = self._ends(text)
        if interval and ends is not None and self.ordered and self.values is not None:
            return self._covered(self.values[int(self.missing) :], interval[1], interval[2], ends, text.endswith("]"))
        leaf = self.leaf(text)
        if leaf is not None:
            return leaf, leaf
        if text.startswith("{") and text.endswith("}"):
            members = [self._ranges.get(member) for member in text[1:-1].split("|")]
            if all(member is not None for member in members):
                leaves = [member for member in members if member is not None]
                return min(leaf[0] for leaf in leaves), max(leaf[1] for leaf in leaves)
        return None

    def parse_all(self, texts: Sequence[str | None]) -> tuple[Codes, Codes]:
        """The first and the last leaf that each label stands for; −1 where it stands for none. Plain numbers, as noise
        makes by the million, are known or not without being taken apart."""
        if self.calendar is not None:
            self.leaves(texts)
        plain = [False] * len(texts) if self.calendar is not None else are_plain_numbers(texts).to_pylist()
        ranges = np.full((2, len(texts)), -1, np.int32)
        for place, text in enumerate(texts):
            if not plain[place] or text in self._ranges or text in self._leaf_of_number:
                ranges[:, place] = self.parse(text) or (-1, -1)
        return ranges[0], ranges[1]

    def _covered(
        self, values: Floats, low: str, high: str, ends: tuple[float, float], closed: bool
    ) -> tuple[int, int] | None:
        """The leaves in an interval, whose ends are leaves themselves or some other numbers or dates."""
        first, last = self.leaf(low), self.leaf(high) if closed else None
        if first is None:
            first = int(np.searchsorted(values, ends[0], side="left")) + int(self.missing)
        if last is None:
            last = int(np.searchsorted(values, ends[1], side="right" if closed else "left")) - 1 + int(self.missing)
        return (first, last) if first <= last else None

    def dated(self, calendar: Calendar) -> Hierarchy:
        """The same hierarchy over dates: they are spelled as labels are, also in those of nodes, and stand in their
        order where they are in it."""
        if self.calendar is not None and self.calendar.clock and calendar.clock:
            calendar = replace(calendar, clock=self.calendar.clock)  # which says the same moments
        if self.calendar == calendar:
            return self
        raw: list[str] = self.labels[0][int(self.missing) :].tolist()
        known = self.calendar is not None or calendar.form == "iso"
        nodes = [level if known else objects(as_iso(level.tolist(), calendar.form)) for level in self.labels[1:]]
        tree = replace(self, labels=(self.labels[0], *nodes))
        merged = any(len(set(level)) < len(set(before)) for level, before in zip(nodes, self.labels[1:], strict=True))
        leaves = [date or text for date, text in zip(calendar.spellings(raw), raw, strict=True)]
        tree = tree.respelled(leaves, anew=merged)
        raw = tree.labels[0][int(tree.missing) :].tolist()
        values = calendar.moments(raw).quantities(times=calendar.times)
        ascending = bool(np.isfinite(values).all() and np.all(np.diff(values) >= 0))
        values = np.concatenate([np.full(int(tree.missing), np.nan), values])
        own = self.calendar
        same = own is not None and (own.times, own.clock) == (calendar.times, calendar.clock)
        return replace(
            tree, values=values if ascending else None, bounds=tree.bounds if same else None, calendar=calendar
        )

    def numbered(self) -> Hierarchy:
        """The same hierarchy over numbers: they stand in their plainest spelling, also as labels of nodes."""
        raw: list[str] = self.labels[0][int(self.missing) :].tolist()
        leaves = plain_numbers(raw, padded=True) or [plain_number(text) or text for text in raw]
        nodes = [[text and (plain_number(text) or text) for text in level] for level in self.labels[1:]]
        if leaves == raw and all(level == old.tolist() for level, old in zip(nodes, self.labels[1:], strict=True)):
            return self
        tree = replace(self, labels=(self.labels[0], *(np.array(level, dtype=object) for level in nodes)))
        return tree.respelled(leaves, anew=True)

    def respelled(self, leaves: Sequence[str], *, anew: bool = False) -> Hierarchy:
        """The same hierarchy with other spellings of its leaves, the missing one aside; those that are spelled alike
        become one. Made `anew`, it is put in the order of its numbers, too."""
        if not anew and len(set(leaves)) == len(leaves):
            absent = [None] * int(self.missing)
            return replace(self, labels=(np.array([*absent, *leaves], dtype=object), *self.labels[1:]))
        paths = [[leaf, *row[1:]] for leaf, row in zip(leaves, self.rows(), strict=True)]
        tree = Hierarchy.from_paths(self.column, paths, automatic=self.automatic)
        return tree.with_missing() if self.missing else tree

    def with_missing(self) -> Hierarchy:
        """The same hierarchy with a leaf for the missing value."""
        if self.missing:
            return self
        inner = self.codes[:-1] + np.int32(1)
        own = np.zeros((self.height, 1), dtype=np.int32)
        codes = np.vstack([np.hstack([own, inner]), np.zeros((1, self.size + 1), dtype=np.int32)])
        absent = np.array([None], dtype=object)
        labels = (*(np.concatenate([absent, level]) for level in self.labels[:-1]), self.labels[-1])
        values = None if self.values is None else np.concatenate([[np.nan], self.values])
        bounds = None
        if self.bounds is not None:
            nan = np.array([np.nan])
            inside = tuple((np.concatenate([nan, a]), np.concatenate([nan, b])) for a, b in self.bounds[:-1])
            bounds = (*inside, self.bounds[-1])
        return replace(
            self, codes=np.ascontiguousarray(codes), labels=labels, values=values, bounds=bounds, missing=True
        )

    def rows(self) -> list[list[str]]:
        """The hierarchy as a table: one row a raw value, raw value first, top last."""
        return [
            [str(self.labels[level][self.codes[level, leaf]] or "") for level in range(self.height + 1)]
            for leaf in range(int(self.missing), self.size)
        ]

    @classmethod
    def from_paths(cls, column: str, paths: Sequence[Sequence[str]], *, automatic: bool = False) -> Hierarchy:
        """A hierarchy from one path a raw value: the raw value first, its ancestors after it, the top last.

        A path may be given more than once and counts once, with a note; two different ones for a value contradict each
        other.
        """
        paths = checked_paths(column, paths)
        height = len(paths[0]) - 1
        plain = plain_numbers([path[0] for path in paths]) or []
        numbers = np.array([float(text) for text in plain])
        numeric = bool(plain) and are_numbers(numbers)
        ranks = np.arange(len(paths), dtype=np.float64)
        if numeric:
            ranks[ascending(plain, numbers)] = np.arange(len(paths))
        order = walk_order(paths, ranks)
        codes = np.zeros((height + 1, len(paths)), dtype=np.int32)
        labels = []
        for level in range(height + 1):
            names = [paths[leaf][level] for leaf in order]
            fresh = np.array([True, *(before != here for before, here in pairwise(names))])
            codes[level] = np.cumsum(fresh) - 1
            labels.append(np.array(names, dtype=object)[fresh])
        return cls(column, codes, tuple(labels), numbers[order] if numeric else None, automatic=automatic)

    @classmethod
    def flat(
        cls, column: str, leaves: Sequence[str], values: Floats | None = None, *, automatic: bool = True
    ) -> Hierarchy:
        """A hierarchy of height 1: each value, then the top."""
        codes = np.zeros((2, len(leaves)), dtype=np.int32)
        codes[0] = np.arange(len(leaves), dtype=np.int32)
        labels = (np.array(leaves, dtype=object), np.array([TOP], dtype=object))
        return cls(column, codes, labels, values, automatic=automatic)
