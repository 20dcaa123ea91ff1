"""Codebook: the values that a quasi-identifier is published as, and what each of them stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from math import isfinite, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import TOP, Floats, Hierarchy
from shoal.core.multisets import spelled_multiset, spelled_value
from shoal.errors import ParameterError
from shoal.parsing.labels import DATES, INTERVAL, number, objects

Spelling = Literal["values", "intervals", "means", "levels"]
"""How a quasi-identifier is published: as it was, or hidden; as intervals of numbers; as means; as nodes of its
hierarchy, which a recipient needs then to read them."""


@dataclass(frozen=True, eq=False, repr=False)
class Codebook:
    """The values that a quasi-identifier is published as.

    Entry `e` reads `labels[e]` and stands for the leaves from `low[e]` to `high[e]`, at level `levels[e]` of the
    hierarchy; `lengths[e]` is the length of its interval where the column is ordered. When the book is `raw` every
    entry is a leaf, published as it came; when it is of `means`, a range without missing values is published as its
    mean.
    """

    column: str
    labels: NDArray[Any]
    low: Codes
    high: Codes
    levels: Codes
    lengths: Floats
    raw: bool = False
    means: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def numeric(self) -> bool:
        """Whether the column is published as numbers: means, none of which is a date or hides missing values."""
        return self.means and all(label is None or _is_number(label) for label in self.labels)

    def spelling(self, entries: Codes, leaves: NDArray[Any]) -> Spelling:
        """How some entries of a column with such leaves are published, which tells a recipient how to read them."""
        single = self.low[entries] == self.high[entries]
        labels = self.labels[entries]
        if self.raw:
            return "values"
        if self.means and (bool(np.any(~single & (labels != TOP))) or (self.numeric and _rounded(labels))):
            return "means"
        spelled = np.array([any(form.fullmatch(label or "") for form in (INTERVAL, DATES)) for label in labels], bool)
        # A cell of a grid, or a node of a hierarchy, may hold one value only and has a label of its own all the same.
        plain = (single & ~spelled & (labels == leaves[self.low[entries]])) | (labels == TOP)
        if bool(plain.all()):
            return "values"
        plain |= spelled
        return "intervals" if bool(plain.all()) else "levels"

    @classmethod
    def at_level(cls, hierarchy: Hierarchy, level: int) -> Codebook:
        """Every value of one level of the hierarchy."""
        low, high = hierarchy.starts[level], hierarchy.stops[level]
        levels = np.full(len(low), level)
        return cls._of(hierarchy, hierarchy.labels[level], low, high, levels=levels, raw=level == 0)

    @classmethod
    def of_ranges(
        cls, hierarchy: Hierarchy, low: Codes, high: Codes, *, interval: bool, hide: bool = False, top: bool = False
    ) -> Codebook:
        """Ranges of leaves, as intervals where that is wanted, else as nodes; with `hide`, a range of all leaves tells
        not even its ends, and with `top` it reads as the top does, though a lower node may hold as many."""
        labels = [
            hierarchy.labels[-1][0]
            if top and 1 < last - first + 1 == hierarchy.size
            else hierarchy.label(first, last, interval=interval and not (hide and last - first + 1 == hierarchy.size))
            for first, last in zip(low.tolist(), high.tolist(), strict=True)
        ]
        return cls._of(hierarchy, labels, low, high, raw=bool(np.all(low == high)))

    @classmethod
    def on_grid(cls, hierarchy: Hierarchy, low: Codes, high: Codes, *, width: float) -> Codebook:
        """Ranges between the ends of cells of a grid, which do not depend on the values inside: `[20-25)`."""
        known = low >= int(hierarchy.missing)
        edges = _grid_edges(hierarchy, low, high, width)
        labels = [
            f"[{hierarchy.spelled(begin)}-{hierarchy.spelled(end)})" if plain else hierarchy.label(first, last)
            for first, last, plain, begin, end in zip(low.tolist(), high.tolist(), known, *edges, strict=True)
        ]
        return cls._of(hierarchy, labels, low, high)

    @classmethod
    def of_means(cls, hierarchy: Hierarchy, low: Codes, high: Codes, means: Floats) -> Codebook:
        """Means of ranges; a single value, and a range with missing values in it, is published as that."""
        plain = (low == high) | hierarchy.spans_missing(low, high)
        labels = [
            hierarchy.label(int(first), int(last)) if simple else hierarchy.spelled(mean)
            for first, last, simple, mean in zip(low, high, plain, means, strict=True)
        ]
        # What a mean is published as tells no interval: it stands for what lies under it.
        return cls._of(hierarchy, labels, low, high, lengths=np.nan_to_num(hierarchy.extent(low, high)), means=True)

    @classmethod
    def of_multisets(cls, hierarchy: Hierarchy, owners: Codes, leaves: Codes, counts: Counts, classes: int) -> Codebook:
        """An entry a class: the multiset of its values. Entry `i` of the arrays says how often a class has a leaf;
        they stand in the order of classes, then of leaves."""
        edges = np.searchsorted(owners, np.arange(classes + 1))
        texts = np.array([spelled_value(label) for label in hierarchy.labels[0]], object)[leaves].tolist()
        times = counts.tolist()
        labels = [spelled_multiset(texts[begin:end], times[begin:end]) for begin, end in pairwise(edges.tolist())]
        filled = np.flatnonzero(np.diff(edges))
        low, high = np.zeros((2, classes), np.int32)
        low[filled], high[filled] = leaves[edges[filled]], leaves[edges[filled + 1] - 1]
        lengths = np.nan_to_num(hierarchy.extent(low, high)) if hierarchy.ordered else np.zeros(classes)
        return cls._of(hierarchy, labels, low, high, lengths=lengths)

    @classmethod
    def parsed(cls, hierarchy: Hierarchy, labels: Sequence[str | None]) -> Codebook | int:
        """What published labels stand for, or how many of them stand for nothing here."""
        hierarchy.leaves(labels)
        ranges = [hierarchy.parse(label) for label in labels]
        unknown = sum(leaves is None for leaves in ranges)
        if unknown:
            return unknown
        low, high = np.array(ranges, np.int32).reshape(-1, 2).T.copy()
        return cls._of(hierarchy, labels, low, high)

    @classmethod
    def _of(
        cls,
        hierarchy: Hierarchy,
        labels: Iterable[str | None],
        low: Codes,
        high: Codes,
        *,
        levels: NDArray[np.int64] | None = None,
        lengths: Floats | None = None,
        raw: bool = False,
        means: bool = False,
    ) -> Codebook:
        """Ranges with their labels, at the level of the closest common ancestor unless others are given; as long as
        the interval that a label spells."""
        texts = objects(labels)
        if lengths is None and hierarchy.ordered:
            # A range with missing values in it has no length, and costs everything anyway.
            lengths = np.nan_to_num(hierarchy.lengths(texts, low, high))
        lengths = np.zeros(len(low)) if lengths is None else lengths
        levels = hierarchy.ancestor_levels(low, high) if levels is None else levels
        return cls(hierarchy.column, texts, low, high, levels.astype(np.int32), lengths, raw, means)


def _rounded(labels: NDArray[Any]) -> bool:
    """Whether a number with a floating point is another one than a label spells."""
    return any(label is not None and Decimal(repr(float(label))) != Decimal(label) for label in labels)


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


GRID = "grid:"
ROUNDING, MOST_CELLS = 1e-9, 1e8
"""How close to the end of a cell of a grid a number lies there, and how many cells from zero it may lie."""


def grid_width(output: str) -> float | None:
    """The width of the cells of a grid that values are published on; None where an output is no grid.

    Example:
        >>> grid_width("grid:5"), grid_width("interval"), grid_width("grid:none")
        (5.0, None, None)
    """
    width = number(output.removeprefix(GRID)) if output.startswith(GRID) else nan
    return width if isfinite(width) and width > 0 else None


def _grid_edges(tree: Hierarchy, low: Codes, high: Codes, width: float) -> tuple[Floats, Floats]:
    """Where the cells begin in which the ends of ranges lie, and where they end, as labels spell them."""
    steps = np.floor(np.stack([tree.numbers[low] / width, tree.numbers[high] / width]) + ROUNDING)
    steps[1] += 1
    if bool(np.any(np.abs(steps) > MOST_CELLS)):
        raise ParameterError(f"column {tree.column!r}: a grid of width {width:g} is too fine for such numbers")
    kinds, places = np.unique(steps, return_inverse=True)
    edges = np.array([float(f"{step * width:.10g}") for step in kinds.tolist()])[places].reshape(steps.shape)
    return edges[0], edges[1]


def widened_to_grid(tree: Hierarchy, low: Codes, high: Codes, width: float) -> tuple[Codes, Codes]:
    """Ranges of leaves, widened to the ends of cells; missing values, and what holds some, stay as they are."""
    first = int(tree.missing)
    quantities = tree.numbers[first:]
    begins, ends = _grid_edges(tree, np.maximum(low, first), np.maximum(high, first), width)
    plain = (low >= first) & (high >= first)
    wider = first + np.searchsorted(quantities, begins, "left"), first + np.searchsorted(quantities, ends, "left") - 1
    return np.where(plain, wider[0], low).astype(np.int32), np.where(plain, wider[1], high).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Cells:
    """How precise the published quasi-identifiers are: for each attribute and class the range of leaves that the
    published value stands for, the level of the hierarchy it is at, and the length of its interval."""

    low: Codes
    high: Codes
    levels: Codes
    lengths: NDArray[np.float64]


def cells_of_entries(books: Sequence[Codebook], entries: Codes) -> Cells:
    """The cells of classes from the entries of their codebooks."""
    return Cells(
        *(
            np.stack([getattr(book, what)[cells] for book, cells in zip(books, entries, strict=True)])
            for what in ("low", "high", "levels", "lengths")
        )
    )


def merged_cells(cells: Cells, index: Codes, count: int) -> Cells:
    """The cells of classes that are published alike, as those of one: classes with the same mean need not have the same
    range."""
    low, high = np.full((2, len(cells.low), count), np.iinfo(np.int32).max, dtype=np.int32)
    high[:] = -1
    levels, lengths = np.zeros((len(low), count), np.int32), np.zeros((len(low), count))
    for place in range(len(low)):
        np.minimum.at(low[place], index, cells.low[place])
        np.maximum.at(high[place], index, cells.high[place])
        np.maximum.at(levels[place], index, cells.levels[place])
        np.maximum.at(lengths[place], index, cells.lengths[place])
    return Cells(low, high, levels, lengths)
