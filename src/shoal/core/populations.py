"""Large populations: every conjunction of conditions that enough records meet, in a table and in a release beside it.

A condition is that a column has one value, or a value under one node of its hierarchy. The search goes through the
columns one after the other and leaves behind those that it is done with, so that the tables that it looks at shrink.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.core.expected import Expected, Rows
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.run import Run

SMALL = 2048
"""Rows that it is not worth to merge."""

Condition = tuple[str, int, int]
"""A column, and the first and the last leaf."""


@dataclass(frozen=True, eq=False)
class Population:
    """The conditions, and how many records that meet them have each value of a column: in the table, and as a release
    lets expect."""

    conditions: tuple[Condition, ...]
    truth: Floats
    estimate: Floats


def populations(
    truth: Expected, estimate: Expected, attributes: Sequence[str], counted: str, least: float, run: Run | None = None
) -> Iterator[Population]:
    """Every conjunction of conditions on some of the attributes that at least so many records of a table meet, with the
    counts of the values of another column."""
    run = run or Run()
    sizes = {name: truth.trees[name].size for name in (*attributes, counted)}
    # Columns with many values first: without them, tables are small.
    ordered = sorted(attributes, key=lambda name: -sizes[name])
    nodes = {name: conditions_of(truth.trees[name]) for name in ordered}
    tables = [Table.of(each, ordered, counted) for each in (truth, estimate)]

    def walk(at: int, before: Table, after: Table, met: tuple[Condition, ...]) -> Iterator[Population]:
        if at == len(ordered):
            return
        run.check()
        name, rest = ordered[at], at + 1
        low, high = nodes[name]
        reached = np.append(0.0, np.cumsum(before.spread(name, sizes[name])))
        frequent = np.flatnonzero(reached[high + 1] - reached[low] >= least - 1e-9 * max(least, 1.0))
        for place in frequent.tolist():
            condition = (name, int(low[place]), int(high[place]))
            one, other = before.where(*condition), after.where(*condition)
            yield Population((*met, condition), one.histogram(), other.histogram())
            yield from walk(rest, one, other, (*met, condition))
        yield from walk(rest, before.without(name), after.without(name), met)

    yield from walk(0, tables[0], tables[1], ())


def conditions_of(tree: Hierarchy) -> tuple[Codes, Codes]:
    """The different ranges of leaves that the values and the nodes of a hierarchy stand for, but for the whole."""
    pairs = np.unique(np.stack([np.concatenate(tree.starts), np.concatenate(tree.stops)], axis=1), axis=0)
    low, high = pairs[(pairs[:, 0] > 0) | (pairs[:, 1] < tree.size - 1)].T.astype(np.int32)
    return low, high


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of columns that stand together, each column by the places of its ranges."""

    columns: tuple[str, ...]
    codes: tuple[Codes, ...]
    groups: Codes
    weights: Floats

    def without(self, name: str, ranges: Mapping[str, tuple[Codes, Codes]], groups: int) -> _Part:
        place = self.columns.index(name)
        left = replace(
            self, columns=self.columns[:place] + self.columns[place + 1 :],
            codes=self.codes[:place] + self.codes[place + 1 :],
        )  # fmt: skip
        return left if len(self.weights) <= SMALL else left._merged(ranges, groups)

    def _merged(self, ranges: Mapping[str, tuple[Codes, Codes]], groups: int) -> _Part:
        """The same counts with equal rows as one."""
        found = group(
            [self.groups, *self.codes], [groups, *(len(ranges[name][0]) for name in self.columns)], index=True
        )
        assert found.index is not None
        weights = np.bincount(found.index, weights=self.weights, minlength=found.keys.shape[1]).astype(np.float64)
        return _Part(self.columns, tuple(found.keys[1:]), found.keys[0], weights)

    def chosen(self, factors: Floats) -> _Part:
        """The rows that are left with some chance, which lowers what they count."""
        kept = np.flatnonzero(factors)
        if len(kept) == len(factors) and factors.min(initial=1.0) == 1.0:
            return self
        return replace(
            self, codes=tuple(codes[kept] for codes in self.codes), groups=self.groups[kept],
            weights=self.weights[kept] * factors[kept],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Table:
    """The records of a table that meet some conditions, in parts over the same groups, with the distinct ranges of each
    column that is not done with."""

    parts: tuple[_Part, ...]
    ranges: Mapping[str, tuple[Codes, Codes]]
    sizes: Floats
    counted: str | None = None
    values: int = 0

    @classmethod
    def of(cls, table: Expected, attributes: Sequence[str], counted: str | None = None) -> Table:
        parts, ranges = [], {}
        for rows in table.parts:
            names = [name for name in rows.columns if name in (*attributes, counted)]
            for name in names:
                ranges[name] = cls._distinct(rows, name, table.trees[name].size)
            codes = tuple(ranges[name][1] for name in names)
            if names:
                part = _Part(tuple(names), codes, rows.groups, rows.weights)
                parts.append(part._merged({name: ranges[name][0] for name in names}, len(table.sizes)))
        return cls(
            tuple(parts), {name: found[0] for name, found in ranges.items()}, table.sizes, counted,
            0 if counted is None else table.trees[counted].size,
        )  # fmt: skip

    @staticmethod
    def _distinct(rows: Rows, name: str, size: int) -> tuple[tuple[Codes, Codes], Codes]:
        place = rows.columns.index(name)
        found = group([rows.low[place], rows.high[place]], [size, size], index=True)
        assert found.index is not None
        return (found.keys[0], found.keys[1]), found.index

    def _holding(self, name: str) -> tuple[int, _Part]:
        return next((at, part) for at, part in enumerate(self.parts) if name in part.columns)

    def spread(self, name: str, leaves: int) -> Floats:
        """How many records have each leaf of a column, in a table whose ranges are single values."""
        _, part = self._holding(name)
        counts = np.bincount(
            part.codes[part.columns.index(name)], weights=part.weights, minlength=len(self.ranges[name][0])
        )
        found = np.zeros(leaves)
        np.add.at(found, self.ranges[name][0], counts)
        return found

    def where(self, name: str, low: int, high: int) -> Table:
        """The records whose value lies between two leaves; the column is done with."""
        at, part = self._holding(name)
        first, last = self.ranges[name]
        inside = np.clip(np.minimum(last, high) - np.maximum(first, low) + 1, 0, None) / (last - first + 1)
        kept = part.chosen(inside[part.codes[part.columns.index(name)]])
        return self._with(at, kept.without(name, self.ranges, len(self.sizes)))

    def without(self, name: str) -> Table:
        at, part = self._holding(name)
        return self._with(at, part.without(name, self.ranges, len(self.sizes)))

    def _with(self, at: int, part: _Part) -> Table:
        return replace(self, parts=(*self.parts[:at], part, *self.parts[at + 1 :]))

    def total(self) -> float:
        """How many records are left."""
        met = self.sizes.copy()
        for part in self.parts:
            met *= np.bincount(part.groups, weights=part.weights, minlength=len(met)) / np.maximum(self.sizes, 1)
        return float(met.sum())

    def histogram(self) -> Floats:
        """How many of the records have each leaf of the column that is counted."""
        assert self.counted is not None
        at, part = self._holding(self.counted)
        weights = part.weights
        if len(self.parts) > 1:
            factors = np.ones(len(self.sizes))
            for place, other in enumerate(self.parts):
                if place != at:
                    met = np.bincount(other.groups, weights=other.weights, minlength=len(self.sizes))
                    factors *= met / np.maximum(self.sizes, 1)
            weights = weights * factors[part.groups]
        counts = np.bincount(part.codes[part.columns.index(self.counted)], weights=weights)
        found = np.zeros(self.values)
        leaves = self.ranges[self.counted][0][: len(counts)]
        np.add.at(found, leaves, counts)
        return found
