"""Large populations: every conjunction of conditions that enough records meet, in a table and in a release beside it.

A condition is that a column has one value, or a value under one node of its hierarchy. The search goes through the
columns one after the other and leaves behind those that it is done with, so that the tables that it looks at shrink.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.run import Run
from shoal.kernels.condition_chains import SMALL, further, histograms_of_groups, shares_of_groups
from shoal.kernels.conditioned_rows import histogram_of_groups, rows_between
from shoal.utility.expected import Expected, RangeRows

TOGETHER = 8
"""Populations that are counted together in a release."""

Condition = tuple[str, int, int]
"""A column, and the first and the last leaf."""
Counted = tuple[tuple[Condition, ...], Floats]
"""Conditions, and how many records that meet them have each value of a column."""


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
    large = _large(truth, ordered, counted, least, run)
    together = estimate.together(ordered, counted)
    if together is not None:
        estimate = together
    elif (grouped := _GroupedRows.of(estimate, ordered, counted)) is not None:
        yield from (Population(*known, grouped.histogram(known[0])) for known in large)
        return
    after = _Followed(ConditionedTable.of(estimate, ordered, counted), ordered)
    while block := list(islice(large, TOGETHER)):
        expected = histograms([after.where(conditions) for conditions, _ in block])
        for (conditions, histogram), estimated in zip(block, expected, strict=True):
            yield Population(conditions, histogram, estimated)


def _large(truth: Expected, ordered: Sequence[str], counted: str, least: float, run: Run) -> Iterator[Counted]:
    """The conditions of every large population of a table, and the counts; those that follow on conditions come right
    after them. Once all are found they are kept as long as the table is."""
    known, key = _LARGE.setdefault(truth, {}), (tuple(ordered), counted, least)
    if key in known:
        yield from known[key]
        return
    nodes = {name: conditions_of(truth.trees[name]) for name in ordered}

    def walk(at: int, table: ConditionedTable, met: tuple[Condition, ...]) -> Iterator[Counted]:
        if at == len(ordered):
            return
        run.check()
        name = ordered[at]
        low, high = nodes[name]
        reached = np.append(0.0, np.cumsum(table.leaf_counts(name, truth.trees[name].size)))
        frequent = np.flatnonzero(reached[high + 1] - reached[low] >= least - 1e-9 * max(least, 1.0))
        for place in frequent.tolist():
            condition = (name, int(low[place]), int(high[place]))
            within = table.where(*condition)
            yield (*met, condition), within.histogram()
            yield from walk(at + 1, within, (*met, condition))
        yield from walk(at + 1, table.without(name), met)

    populations = []
    for each in walk(0, ConditionedTable.of(truth, ordered, counted), ()):
        populations.append(each)
        yield each
    known[key] = populations


class _Followed:
    """A table under conjunctions of conditions that come one after the other: what the last ones had in common is not
    looked for again."""

    def __init__(self, table: ConditionedTable, ordered: Sequence[str]) -> None:
        self._places = {name: place for place, name in enumerate(ordered)}
        self._ordered = ordered
        self._open: list[tuple[tuple[Condition, ...], int, ConditionedTable]] = [((), 0, table)]

    def where(self, conditions: tuple[Condition, ...]) -> ConditionedTable:
        *before, last = conditions
        while self._open[-1][0] != tuple(before) or self._open[-1][1] > self._places[last[0]]:
            self._open.pop()
        met, at, table = self._open[-1]
        while at < self._places[last[0]]:
            table, at = table.without(self._ordered[at]), at + 1
            self._open.append((met, at, table))
        chosen = table.where(*last)
        self._open.append((conditions, at + 1, chosen))
        return chosen


class _GroupedRows:
    """A table whose conditions are all about values of one part, and whose counted column stands in another: how many
    records of each group meet them says everything. Conjunctions come one after the other, each after the one that it
    adds a condition to, of which the rows are still there."""

    def __init__(self, table: Expected, part: RangeRows, counted: str) -> None:
        order = np.argsort(part.groups, kind="stable").astype(np.int32)
        self._leaves = dict(zip(part.columns, np.ascontiguousarray(part.low[:, order]), strict=True))
        self._groups, self._weights, self._sizes = part.groups[order], part.weights[order], table.sizes
        published = ConditionedTable.of(table, (), counted)
        self._published, self._values = published.parts[0].by_group, published.values
        self._open: list[tuple[tuple[Condition, ...], Codes]] = [((), np.arange(len(order), dtype=np.int32))]

    @classmethod
    def of(cls, table: Expected, attributes: Sequence[str], counted: str) -> _GroupedRows | None:
        """The rows of a table; None where the conditions are about several parts, or about that of the column."""
        asked = [part for part in table.parts if {*part.columns} & {*attributes}]
        alone = len(table.parts) > 1 and len(asked) == 1 and counted not in asked[0].columns
        alone = alone and np.array_equal(asked[0].low, asked[0].high)
        return cls(table, asked[0], counted) if alone else None

    def histogram(self, conditions: tuple[Condition, ...]) -> Floats:
        """How many records that meet the conditions have each leaf of the counted column."""
        *before, (name, low, high) = conditions
        while self._open[-1][0] != tuple(before):
            self._open.pop()
        rows = rows_between(self._open[-1][1], self._leaves[name], low, high)
        self._open.append((conditions, rows))
        of_group = self._groups, self._weights, self._sizes
        counts: Floats = histogram_of_groups(rows, *of_group, *self._published, self._values)
        return counts


def conditions_of(tree: Hierarchy) -> tuple[Codes, Codes]:
    """The different ranges of leaves that the values and the nodes of a hierarchy stand for, but for the whole."""
    pairs = np.unique(np.stack([np.concatenate(tree.starts), np.concatenate(tree.stops)], axis=1), axis=0)
    low, high = pairs[(pairs[:, 0] > 0) | (pairs[:, 1] < tree.size - 1)].T.astype(np.int32)
    return low, high


@dataclass(frozen=True, eq=False)
class _Chain:
    """The distinct rows of columns that stand together, column by column: number `n` of level `j` has the range
    `codes[j][n]` in column `j`, and in the columns behind it is number `nexts[j][n]` of the next level. `sizes` counts
    the numbers of each level; `values` and `groups` have the leaf in the column that is counted, and the group."""

    columns: tuple[str, ...]
    codes: tuple[Codes, ...]
    nexts: tuple[Codes, ...]
    sizes: tuple[int, ...]
    values: tuple[Codes, ...]
    groups: tuple[Codes, ...]

    @classmethod
    def of(
        cls, columns: Sequence[str], codes: Sequence[tuple[Codes, int]], values: Codes, groups: Codes
    ) -> tuple[_Chain, Codes]:
        """The chain of rows with some codes, each below its bound, and the number of each row on the first level."""
        level = group([values, groups], index=True)
        levels, numbers = [level], level.index
        leaves, owners = [level.keys[0]], [level.keys[1]]
        for each, bound in reversed(codes):
            level = group([each, numbers], [bound, levels[-1].keys.shape[1]], index=True)
            leaves.append(leaves[-1][level.keys[1]])
            owners.append(owners[-1][level.keys[1]])
            levels.append(level)
            numbers = level.index
        # What was numbered last comes first: its numbers say which rows there are.
        levels, leaves, owners = levels[::-1], leaves[::-1], owners[::-1]
        chain = cls(
            columns=tuple(columns),
            codes=tuple(each.keys[0] for each in levels[:-1]),
            nexts=tuple(each.keys[1] for each in levels[:-1]),
            sizes=tuple(each.keys.shape[1] for each in levels),
            values=tuple(leaves),
            groups=tuple(owners),
        )
        return chain, numbers


@dataclass(frozen=True, eq=False)
class _ChainPart:
    """Some rows of a chain from a level on, by their numbers there, each once unless there are few."""

    chain: _Chain
    level: int
    numbers: Codes
    weights: Floats

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are not done with."""
        return self.chain.columns[self.level :]

    @property
    def codes(self) -> Codes:
        """The ranges of the next column."""
        return self.chain.codes[self.level][self.numbers]

    @cached_property
    def by_group(self) -> tuple[NDArray[np.int64], Codes, Floats]:
        """Where the rows of each group begin when they stand group by group, and their values and weights."""
        groups, values = (each[self.level][self.numbers] for each in (self.chain.groups, self.chain.values))
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(int(groups.max(initial=-1)) + 2))
        return starts, values[order], self.weights[order]

    def done(self, factors: Floats) -> _ChainPart:
        """Without the next column, each of whose ranges lowers what rows count by its factor."""
        chain, at = self.chain, self.level
        codes, nexts, size = chain.codes[at], chain.nexts[at], chain.sizes[at + 1]
        numbers, weights, once = further(self.numbers, self.weights, codes, factors, nexts, size)
        if once or len(numbers) <= SMALL:
            return _ChainPart(chain, at + 1, numbers, weights)
        return _merge(chain, at + 1, numbers, weights)


def _merge(chain: _Chain, level: int, numbers: Codes, weights: Floats) -> _ChainPart:
    """Rows with equal numbers as one."""
    distinct, index = np.unique(numbers, return_inverse=True)
    totals = np.bincount(index, weights=weights, minlength=len(distinct)).astype(np.float64)
    return _ChainPart(chain, level, distinct.astype(np.int32), totals)


@dataclass(frozen=True, eq=False)
class ConditionedTable:
    """The records of a table that meet some conditions, in parts over the same groups of `sizes` records, with the
    distinct ranges of each column. Columns are done with in the order in which they were given."""

    parts: tuple[_ChainPart, ...]
    ranges: Mapping[str, tuple[Codes, Codes]]
    sizes: Floats
    counted: str | None = None
    values: int = 0

    @classmethod
    def of(cls, table: Expected, attributes: Sequence[str], counted: str | None = None) -> ConditionedTable:
        """All records of a table. What was made of it once is kept as long as the table is."""
        known, key = _TABLES.setdefault(table, {}), (tuple(attributes), counted)
        if key not in known:
            known[key] = cls._of(table, attributes, counted)
        return known[key]

    @classmethod
    def _of(cls, table: Expected, attributes: Sequence[str], counted: str | None) -> ConditionedTable:
        parts: list[_ChainPart] = []
        ranges = {}
        for rows in table.parts:
            names = [name for name in attributes if name in rows.columns]
            codes = []
            for name in names:
                low, high, owners = rows.ranges(rows.columns.index(name))
                ranges[name] = low, high
                codes.append((owners, len(low)))
            if counted in rows.columns:  # it is published as it is, and its part comes first
                chain, numbers = _Chain.of(names, codes, rows.low[rows.columns.index(counted)], rows.groups)
                parts.insert(0, _merge(chain, 0, numbers, rows.weights))
            elif names:
                chain, numbers = _Chain.of(names, codes, np.zeros(len(rows.groups), np.int32), rows.groups)
                parts.append(_merge(chain, 0, numbers, rows.weights))
        return cls(tuple(parts), ranges, table.sizes, counted, 0 if counted is None else table.trees[counted].size)

    def _next(self, name: str) -> tuple[int, _ChainPart]:
        at = next(at for at, part in enumerate(self.parts) if part.columns[:1] == (name,))
        return at, self.parts[at]

    def leaf_counts(self, name: str, leaves: int) -> Floats:
        """How many records have each leaf of the next column, in a table whose ranges are single values."""
        part = self._next(name)[1]
        counts = np.bincount(part.codes, weights=part.weights, minlength=len(self.ranges[name][0]))
        by_leaf = np.zeros(leaves)
        by_leaf[self.ranges[name][0]] = counts
        return by_leaf

    def where(self, name: str, low: int, high: int) -> ConditionedTable:
        """The records whose value in the next column lies between two leaves."""
        first, last = self.ranges[name]
        inside = np.clip(np.minimum(last, high) - np.maximum(first, low) + 1, 0, None) / (last - first + 1)
        return self._done(name, inside)

    def without(self, name: str) -> ConditionedTable:
        """The same records without the next column."""
        return self._done(name, np.ones(len(self.ranges[name][0])))

    def _done(self, name: str, factors: Floats) -> ConditionedTable:
        at, part = self._next(name)
        parts = (*self.parts[:at], part.done(factors), *self.parts[at + 1 :])
        return ConditionedTable(parts, self.ranges, self.sizes, self.counted, self.values)

    def total(self) -> float:
        """How many records are left."""
        if len(self.parts) == 1:
            return float(self.parts[0].weights.sum())
        met = self.sizes.copy()
        for part in self.parts:
            met *= self._met(part)
        return float(met.sum())

    def histogram(self) -> Floats:
        """How many of the records have each leaf of the column that is counted, which is in the first part."""
        first, *others = self.parts
        weights = first.weights
        if others:
            weights = weights * self._factors()[first.chain.groups[first.level][first.numbers]]
        leaves = first.chain.values[first.level][first.numbers]
        return np.bincount(leaves, weights=weights, minlength=self.values).astype(np.float64)

    def _factors(self) -> Floats:
        """The share of each group that the conditions on all parts but the first leave."""
        factors: Floats = reduce(np.multiply, map(self._met, self.parts[1:]))
        return factors

    def _met(self, part: _ChainPart) -> Floats:
        """The share of each group that is left in a part."""
        groups = part.chain.groups[part.level]
        shares: Floats = shares_of_groups(part.numbers, part.weights, groups, self.sizes)
        return shares


def histograms(tables: Sequence[ConditionedTable]) -> list[Floats]:
    """The histogram of each of some tables, which are one table under different conditions."""
    first, *others = tables[0].parts
    if first.chain.columns or not others:
        return [table.histogram() for table in tables]
    # No condition is about the rows of the first part, so that they can be gone through for all tables at once.
    factors = np.stack([table._factors() for table in tables])
    return list(histograms_of_groups(factors, *first.by_group, tables[0].values))


_LARGE: WeakKeyDictionary[Expected, dict[tuple[tuple[str, ...], str, float], list[Counted]]] = WeakKeyDictionary()
"""The large populations of tables, as long as those are there."""

_TABLES: WeakKeyDictionary[Expected, dict[tuple[tuple[str, ...], str | None], ConditionedTable]] = WeakKeyDictionary()
"""Tables that were taken apart, as long as they are there: a release and its baselines are compared with one table."""
