"""Expected: the table that a recipient of a release has to expect, as weighted ranges of values.

A cell that stands for several values stands for each of them with the same chance, whether the values are names or
numbers: ranges count by the values that the hierarchy knows, not by length. Columns that a form publishes apart belong
together only as far as their groups tell; within a group every way to put them together is as likely as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.published_tables import unknown_values
from shoal.core.release import Release
from shoal.errors import NotDefined
from shoal.kernels.joint_rows import leaves_of_tuples, pairs_of_groups, pairs_of_rows

KEPT = 1 << 16
"""Pairs of ranges up to which it is kept how often each occurs."""
MOST_JOINED = 1 << 22
"""Rows that are made where columns stand apart; a row takes 16 bytes, and several times as many when it is counted."""
_EXPECTED: WeakKeyDictionary[Dataset | Release, dict[tuple[str, ...], Expected]] = WeakKeyDictionary()
"""What is known about tables and releases, as long as those are there: several measures ask the same."""


@dataclass(frozen=True, eq=False, repr=False)
class RangeRows:
    """Columns that stand together: row `i` counts `weights[i]` records of the group `groups[i]`, and in column `j` it
    stands for the leaves from `low[j, i]` to `high[j, i]`."""

    columns: tuple[str, ...]
    groups: Codes
    low: Codes
    high: Codes
    weights: Floats
    _distinct: dict[int, tuple[Codes, Codes, Codes]] = field(default_factory=dict, init=False)
    _pairs: dict[tuple[int, int], Floats] = field(default_factory=dict, init=False)

    def ranges(self, place: int) -> tuple[Codes, Codes, Codes]:
        """The first and the last leaf of each distinct range in a column, and which range each row has; found once."""
        if place not in self._distinct:
            bound = int(self.high[place].max(initial=0)) + 1
            ranges = group([self.low[place], self.high[place]], [bound, bound], index=True)
            self._distinct[place] = ranges.keys[0], ranges.keys[1], ranges.index
        return self._distinct[place]

    def pairs(self, place: int, other: int) -> Floats:
        """How many records have each pair of distinct ranges of two columns."""
        if (place, other) in self._pairs:
            return self._pairs[place, other]
        (one, _, owners), (two, _, others) = self.ranges(place), self.ranges(other)
        counts: Floats = pairs_of_rows(owners, others, self.weights, len(one), len(two))
        if counts.size <= KEPT:
            self._pairs[place, other] = counts
        return counts

    @cached_property
    def order(self) -> Codes:
        """The rows group by group."""
        return np.argsort(self.groups, kind="stable").astype(np.int32)

    def starts(self, groups: int) -> NDArray[np.int64]:
        """Where the rows of each of so many groups begin in that order, and where the last ones end."""
        return np.searchsorted(self.groups[self.order], np.arange(groups + 1)).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Expected:
    """The parts of a table that stand together, over the same groups of `sizes` records; each column is in one part."""

    parts: tuple[RangeRows, ...]
    sizes: Floats
    trees: Mapping[str, Hierarchy]

    @classmethod
    def of_dataset(cls, data: Dataset, names: Sequence[str]) -> Expected:
        """A table as it is: every range is one value."""

        def make() -> Expected:
            rows = data.knowing(names).table.group(tuple(names), ())
            weights = rows.sizes.astype(np.float64)
            part = RangeRows(tuple(names), np.zeros(len(rows), np.int32), rows.keys, rows.keys, weights)
            return cls((part,), np.array([weights.sum()]), dict(zip(names, rows.hierarchies, strict=True)))

        return _remembered(data, names, make)

    @classmethod
    def of_release(cls, release: Release, names: Sequence[str]) -> Expected:
        """What the published tables say of some columns; `NotDefined` where they do not say it of all of them."""
        return _remembered(release, names, lambda: cls._of_release(release, names))

    @classmethod
    def _of_release(cls, release: Release, names: Sequence[str]) -> Expected:
        trees = {name: release.hierarchy_of(name) for name in names}
        try:
            distributions = release.view.distributions()
        except NotDefined:
            return cls._of_ranges(release, tuple(names), trees)
        published = [name for each in distributions for name in each.columns if name in trees]
        if sorted(published) != sorted(names):
            raise NotDefined("the tables of the release do not hold each of the columns once")
        groups = 1 + max(int(each.groups.max(initial=0)) for each in distributions)
        parts = []
        for each in distributions:
            chosen = [place for place, name in enumerate(each.columns) if name in trees]
            if chosen:
                leaves, columns = each.leaves[chosen], tuple(each.columns[place] for place in chosen)
                parts.append(RangeRows(columns, each.groups, leaves, leaves, each.counts.astype(np.float64)))
        sizes = np.bincount(parts[0].groups, weights=parts[0].weights, minlength=groups).astype(np.float64)
        return cls(tuple(parts), sizes, trees)

    @classmethod
    def _of_ranges(cls, release: Release, names: tuple[str, ...], trees: Mapping[str, Hierarchy]) -> Expected:
        """Of a form with ranges, whose records stand in one table."""
        people, cells = release.view.people(), release.view.cells()
        quasi = people.attributes
        others = tuple(name for name in names if name not in quasi)
        if any(name not in release.published.names for name in others):
            raise NotDefined("the release does not hold all of the columns")
        rows = release.published.group((*quasi, *others), ()) if others else people
        index = _class_of(rows, len(quasi))
        low, high = [], []
        for name in names:
            if name in quasi:
                low.append(cells.low[quasi.index(name)][index])
                high.append(cells.high[quasi.index(name)][index])
            else:
                leaves = trees[name].leaves(release.published.labels(name))
                if None in leaves:
                    raise unknown_values(name, leaves.count(None))
                low.append(np.array(leaves, np.int32)[rows.keys[rows.attributes.index(name)]])
                high.append(low[-1])
        weights = rows.sizes.astype(np.float64)
        part = RangeRows(names, np.zeros(len(rows), np.int32), np.stack(low), np.stack(high), weights)
        return cls((part,), np.array([weights.sum()]), trees)

    @property
    def records(self) -> float:
        return float(self.sizes.sum())

    def bins(self, name: str, most: int) -> Codes:
        """Where the bins of a column begin, among its leaves: every value is one, or where there are more than `most`,
        bins have about equally many records of this table."""
        size = self.trees[name].size
        if size <= most:
            return np.arange(size, dtype=np.int32)
        reached = np.cumsum(self.marginal(name, np.arange(size, dtype=np.int32)))
        starts = np.searchsorted(reached, np.arange(1, most) / most + 1e-9, side="right")
        return np.unique(np.append(0, np.minimum(starts, size - 1))).astype(np.int32)

    def marginal(self, name: str, bins: Codes) -> Floats:
        """The share of the records in each bin of a column."""
        part, place = self._holding(name)
        shares, owners = _shares(part, place, bins, self.trees[name].size), part.ranges(place)[2]
        totals: Floats = np.bincount(owners, weights=part.weights, minlength=len(shares)) @ shares
        return totals / max(self.records, 1.0)

    def joint(self, names: tuple[str, str], bins: tuple[Codes, Codes]) -> Floats:
        """The share of the records in each pair of bins of two columns."""
        (left, at), (right, there) = (self._holding(name) for name in names)
        sizes = [self.trees[name].size for name in names]
        a, b = _shares(left, at, bins[0], sizes[0]), _shares(right, there, bins[1], sizes[1])
        pairs = left.pairs(at, there) if left is right else self._pairs_apart(left, at, right, there)
        counts: Floats = a.T @ pairs @ b
        return counts / max(self.records, 1.0)

    def _pairs_apart(self, left: RangeRows, at: int, right: RangeRows, there: int) -> Floats:
        """How many records are expected to have each pair of distinct ranges of two columns that stand apart."""
        (one, _, owners), (two, _, others) = left.ranges(at), right.ranges(there)
        counts: Floats = np.zeros((len(one), len(two)))
        groups = len(self.sizes)
        table = left.order, left.starts(groups), owners, left.weights
        other = right.order, right.starts(groups), others, right.weights
        pairs_of_groups(*table, *other, counts, self.sizes)
        return counts

    def together(self, attributes: Sequence[str], counted: str) -> Expected | None:
        """The distinct values of some columns of one part with those of a column of another one, as if they stood
        together: what each counts is what is expected. None where columns stand otherwise, or there are too many."""
        asked = [part for part in self.parts if {*part.columns} & {*attributes}]
        if len(self.parts) == 1 or len(asked) != 1 or counted in asked[0].columns:
            return None
        part, (published, place) = asked[0], self._holding(counted)
        if not np.array_equal(part.low, part.high) or not np.array_equal(published.low, published.high):
            return None
        tuples = group([part.low[part.columns.index(name)] for name in attributes], index=True)
        rows = np.argsort(tuples.index, kind="stable").astype(np.int32)
        begins = np.searchsorted(tuples.index[rows], np.arange(tuples.keys.shape[1] + 1)).astype(np.int64)
        order, values = published.order, self.trees[counted].size
        of_groups = published.starts(len(self.sizes)), published.low[place][order], published.weights[order]
        owners, leaves, weights = leaves_of_tuples(
            rows, begins, part.groups, part.weights, self.sizes, *of_groups, values, MOST_JOINED
        )
        if not len(owners):
            return None
        keys = np.vstack([tuples.keys[:, owners], leaves])
        one_group = np.zeros(len(owners), np.int32)
        rows_together = RangeRows((*attributes, counted), one_group, keys, keys, weights)
        return Expected((rows_together,), np.array([weights.sum()]), self.trees)

    def drawn(self, count: int, seed: int) -> dict[str, Codes]:
        """Records that a recipient could have to do with, as the leaf of each in each column: evenly spaced ones, with
        one of the values that a cell may stand for; where columns stand apart, each of a random record of the group."""
        generator = np.random.default_rng(seed)
        places = (np.arange(count) + 0.5) * self.records / count
        groups = np.minimum(np.searchsorted(np.cumsum(self.sizes), places, side="right"), len(self.sizes) - 1)
        columns = {}
        for part in self.parts:
            order = part.order
            reached = np.append(0.0, np.cumsum(part.weights[order]))
            if len(self.parts) > 1:
                starts = np.searchsorted(part.groups[order], np.arange(len(self.sizes) + 1))
                first, last = reached[starts[groups]], reached[starts[groups + 1]]
                places = first + generator.random(count) * (last - first)
            rows = order[np.clip(np.searchsorted(reached, places, side="right") - 1, 0, len(order) - 1)]
            for at, name in enumerate(part.columns):
                low, high = part.low[at][rows], part.high[at][rows]
                columns[name] = (low + generator.random(count) * (high - low + 1)).astype(np.int32)
        return columns

    def _holding(self, name: str) -> tuple[RangeRows, int]:
        return next((part, part.columns.index(name)) for part in self.parts if name in part.columns)


def _remembered(owner: Dataset | Release, names: Sequence[str], make: Callable[[], Expected]) -> Expected:
    known = _EXPECTED.setdefault(owner, {})
    if tuple(names) not in known:
        known[tuple(names)] = make()
    return known[tuple(names)]


def _class_of(rows: Classes, leading: int) -> Codes:
    """The class of each row by its leading attributes: rows stand in the order of their keys, as classes do."""
    fresh = np.zeros(len(rows), np.int32)
    fresh[1:] = np.any(rows.keys[:leading, 1:] != rows.keys[:leading, :-1], axis=0)
    return np.cumsum(fresh, dtype=np.int32)


def _shares(part: RangeRows, place: int, bins: Codes, size: int) -> Floats:
    """For each distinct range of a column, its share in each bin."""
    low, high, _ = part.ranges(place)
    first, last = low[:, None], high[:, None]
    ends = np.append(bins[1:], size) - 1
    inside = np.minimum(last, ends) - np.maximum(first, bins) + 1
    shares: Floats = np.clip(inside, 0, None) / (last - first + 1)
    return shares


def total_variation(one: Floats, other: Floats) -> float:
    """The share of the records that would have to change for one distribution to become the other."""
    return float(np.abs(one - other).sum() / 2)


def divergence(one: Floats, other: Floats) -> Floats:
    """The Jensen-Shannon divergence of distributions along the last axis, in bits: from 0 to 1.

    Example:
        >>> round(float(divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0]))), 6)
        0.311278
    """
    middle = (one + other) / 2

    def to_middle(shares: Floats) -> Floats:
        ratio = np.divide(shares, middle, out=np.ones_like(middle), where=(shares > 0) & (middle > 0))
        bits: Floats = np.sum(shares * np.log2(ratio), axis=-1)
        return bits

    return np.clip((to_middle(one) + to_middle(other)) / 2, 0.0, 1.0)
