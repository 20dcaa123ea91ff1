"""Labels: what a published column shows, and what each label says about a condition: surely, possibly, how likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.codebook import Spelling
from shoal.core.hierarchy import TOP, Floats, Hierarchy
from shoal.core.schema import Kind
from shoal.errors import NotDefined, ParameterError
from shoal.parsing.identity import plain_number
from shoal.parsing.labels import number
from shoal.utility.quantities import Bounds, Span, exactly, names_zone, quantity


class Meaning(NamedTuple):
    """What each label of a column says: the probability that its value meets a condition, whether it surely does, and
    whether it can."""

    chance: Floats
    sure: NDArray[np.bool_]
    possible: NDArray[np.bool_]


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
        return any(text is not None and ":" in text and names_zone(text) for text in texts)

    @cached_property
    def _codes(self) -> bool:
        """Whether the column is one of codes, numbers in their plainest spelling: one may be asked for in another."""
        texts = self.texts if self.hierarchy is None else self.hierarchy.labels[0]
        return self.kind is Kind.CATEGORICAL and all(text is None or plain_number(text) == text for text in texts)

    @property
    def present(self) -> float:
        """The share of the records with a value, among those whose label tells."""
        shown = ~self.unknown
        if not shown.any():
            return 1.0
        return float(self.weights[shown & ~self.absent].sum() / max(self.weights[shown].sum(), 1))

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
            return [None if unclear else Span.of(text, intervals=intervals) for text, unclear in texts]
        tree, (first, last) = self._tree, self._leaves
        numbers = [Span.of(leaf, intervals=False) for leaf in tree.labels[0]]
        spans: list[Span | None] = []
        for text, unclear, begin, end in zip(self.texts, hidden.tolist(), first.tolist(), last.tolist(), strict=True):
            under = [] if unclear else numbers[begin : end + 1]
            known = [leaf for leaf in under if leaf is not None]
            if not known or len(known) < len(under):
                spans.append(None)
                continue
            hull = Span(min(leaf.low for leaf in known), max(leaf.high for leaf in known), False)
            wider = Span.of(text, intervals=True)
            # An interval stands for all that it holds, not only for the leaves that there are.
            spans.append(wider if wider is not None and wider.low <= hull.low and hull.high <= wider.high else hull)
        return spans

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

    def inside(self, bounds: Bounds) -> Meaning:
        """What each label says about lying between two numbers. What is sure is so of any numbers, whole or not."""
        low, high = self.ends
        half = np.array([span is not None and span.half for span in self._spans], np.bool_)
        sure, possible = np.zeros((2, len(self.texts)), np.bool_)
        for place, span in enumerate(self._spans):
            if span is not None:
                sure[place], possible[place] = bounds.hold(span), bounds.can_hold(span)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.whole:
                # [20-29] is ten whole numbers
                first, last = bounds.whole
                size = high - half - low + 1
                met = np.maximum(np.minimum(high - half, last) - np.maximum(low, first) + 1, 0)
            else:
                size = high - low
                met = np.maximum(np.minimum(high, float(bounds.high)) - np.maximum(low, float(bounds.low)), 0)
            chance = np.clip(np.nan_to_num(met / np.where(size > 0, size, 1)), 0.0, 1.0)
        hidden = self.unknown
        chance = np.where(hidden, chance * self.present, np.where(sure, 1.0, chance * possible))
        return Meaning(np.where(self.absent, 0.0, chance), sure, possible | hidden)

    def among(self, values: frozenset[str]) -> Meaning:
        """What each label says about being one of some texts. Numbers and dates of a column that has them count,
        however they are spelled."""
        wanted = _Wanted(values, None if self._codes else self.kind, by_clock=not self.zoned)
        if self.spelling == "levels":
            chance, sure, possible = self._under(wanted)
        else:
            chance, sure, possible = self._equal(wanted)
        hidden = self.unknown
        if hidden.any():
            shown = ~hidden
            share = float((chance * self.weights)[shown].sum() / max(self.weights[shown].sum(), 1))
            if not shown.any() and self.hierarchy is not None:  # all is hidden: any value there is
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
    ranges = [span for span in (tree.parse(label),) if span is not None]
    if label.startswith("{") and label.endswith("}"):
        # A set of values, which may have the sign between them inside.
        inner = f"|{label[1:-1]}|"
        ranges += [
            (leaf, leaf) for leaf, text in enumerate(tree.labels[0]) if text is not None and f"|{text}|" in inner
        ]
    if not ranges:
        raise NotDefined(
            f"column {column!r} is published with labels that its hierarchy does not have; give the one that it was "
            "published with"
        )
    return min(first for first, _ in ranges), max(last for _, last in ranges)
