"""Weighted rows: the distinct records of a table, and the base functions on any set of their attributes."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes, Histogram
from shoal.core.contracts.model import SLACK, Model
from shoal.core.grouping import Codes, Counts, group
from shoal.core.run import Run
from shoal.core.sensitive import SensitiveModel
from shoal.diagnosis.families import members

HELD = 1 << 28
"""Bytes of partitions that are kept for refinement."""

Levels = NDArray[np.float64]
Curve = tuple[tuple[float | int, float], ...]
_NONE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows by class: class `c` is `order[starts[c]:starts[c + 1]]`, and each of the `lone` rows is one of its own."""

    order: Codes
    starts: Codes
    lone: Codes

    @property
    def classes(self) -> int:
        return len(self.starts) - 1 + len(self.lone)

    @property
    def first(self) -> Codes:
        """A row of every class, in the order of `WeightedRows.levels`."""
        return np.concatenate([self.order[self.starts[:-1]], self.lone])

    def owners(self) -> Codes:
        """The class of every row."""
        owners = np.empty(len(self.order) + len(self.lone), np.int32)
        several = len(self.starts) - 1
        owners[self.order] = np.repeat(np.arange(several, dtype=np.int32), np.diff(self.starts))
        owners[self.lone] = np.arange(several, self.classes, dtype=np.int32)
        return owners


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Distinct combinations of attributes (and of a sensitive value and its context, where the model looks at one).

    A set of attributes is a mask, bit `j` for `names[j]`; `projected` rolls the rows up to fewer attributes. Rows of
    one context stand together. Nothing here changes once it is made, so that threads may share it.

    Where a table says whose its records are, a level that is the size of a class is that of its people: each is a value
    of the person column, and the level is how many different ones there are (`heads`). For any other level rows also
    differ by the person (`people`), and the model counts them. Where the model adds up survey weights, `population` has
    what each row stands for, or each person where rows are those of people.

    Levels inside the diagnosis are such that **higher is better**: where the model says less is safer, negated. The
    level of a class with contexts is that of its worst part; its size is that of the whole class.
    """

    names: tuple[str, ...]
    columns: Codes
    weights: Counts
    sensitive: Codes
    contexts: Codes
    model: Model
    histogram: Histogram | None
    records: int
    people: Codes = field(default_factory=lambda: _NONE)
    population: Levels | None = None

    @classmethod
    def of(cls, classes: Classes, model: Model, attributes: Sequence[str], sensitive: str | None = None) -> Self:
        """The rows for a model from a table's summary."""
        counted = (classes.households or classes.people) if model.counts_households else classes.people
        histogram = classes.histogram(sensitive) if model.needs_sensitive else counted
        keys = classes.keys[[classes.attributes.index(name) for name in attributes]]
        values, weights, contexts = np.zeros(keys.shape[1], np.int32), classes.sizes, _NONE
        if histogram is not None:
            keys, values, weights = keys[:, histogram.owners], histogram.values, histogram.counts
            contexts = _NONE if histogram.contexts is None else histogram.contexts
        people = _NONE if histogram is None or histogram.people is None else histogram.people.codes
        records = int(classes.sizes.sum())
        population = classes.weights if model.counts_population else None
        rows = cls(tuple(attributes), keys, weights, values, contexts, model, histogram, records, people, population)
        # Over all attributes the summary's tuples are distinct already; rows with contexts have to be put in order.
        distinct = len(attributes) == len(classes.attributes) and not len(contexts)
        return rows if distinct else rows.projected(rows.full)

    @property
    def full(self) -> int:
        return (1 << len(self.names)) - 1

    def __len__(self) -> int:
        return len(self.weights)

    def projected(self, mask: int) -> Self:
        """The rows over some of the attributes only; their bits move together, in the same order."""
        chosen = members(mask)
        contexts = [self.contexts] if len(self.contexts) else []
        people = [self.people] if len(self.people) else []
        keyed = [*contexts, *(self.columns[position] for position in chosen), self.sensitive, *people]
        groups = group(keyed, weights=self.weights, index=True)
        population = self.population
        if population is not None and self.histogram is None:
            population = np.bincount(groups.index, population, minlength=len(groups.counts)).astype(np.float64)
        return replace(
            self, names=tuple(self.names[position] for position in chosen),
            columns=np.ascontiguousarray(groups.keys[len(contexts) : len(contexts) + len(chosen)]),
            weights=groups.counts, sensitive=np.ascontiguousarray(groups.keys[len(contexts) + len(chosen)]),
            contexts=np.ascontiguousarray(groups.keys[0]) if contexts else _NONE,
            people=np.ascontiguousarray(groups.keys[-1]) if people else _NONE, population=population,
        )  # fmt: skip

    def named(self, mask: int) -> tuple[str, ...]:
        """The names of a set's attributes."""
        return tuple(self.names[position] for position in members(mask))

    def others(self, classes: Classes) -> tuple[str, ...]:
        """The sensitive attributes that make the contexts."""
        if self.histogram is None or not len(self.contexts):
            return ()
        return tuple(other.column for other in classes.sensitive if other.column != self.histogram.column)

    @cached_property
    def radix(self) -> int:
        return int(self.columns.max(initial=0)) + 1

    @cached_property
    def sign(self) -> int:
        return 1 if self.model.more_is_safer else -1

    @property
    def by_size(self) -> bool:
        """Whether the level of a class is its number of records."""
        return self._counts and self.histogram is None

    @property
    def heads(self) -> bool:
        """Whether the level of a class is its number of people, or of households, the values of `sensitive`."""
        return self._counts and self.histogram is not None

    @property
    def _counts(self) -> bool:
        return self.model.by_size or self.model.counts_households

    @cached_property
    def measure(self) -> Any:
        """The compiled level of the model, if it has one."""
        if self.heads and self.histogram is not None:
            from shoal.kernels import levels as kernel

            return kernel.Measure(kernel.DISTINCT, self.histogram.priors)
        if not isinstance(self.model, SensitiveModel) or self.histogram is None or len(self.people):
            return None
        return self.model.compiled(self.histogram)

    @property
    def floor(self) -> int:
        """How many records a class must have besides what the compiled level says."""
        return self.model.floor if isinstance(self.model, SensitiveModel) else 1

    @cached_property
    def ceiling(self) -> Any:
        """A compiled level that no part of a class exceeds, if the model has one. Under contexts there is none: a part
        of a class may be without the people who are badly protected."""
        riding = len(self.contexts) or len(self.people)
        if not isinstance(self.model, SensitiveModel) or self.histogram is None or riding:
            return None
        return self.model.ceiling(self.histogram)

    @cached_property
    def counted(self) -> Any:
        """The rows as kernels take them."""
        from shoal.kernels.partitions import CountedRows

        return CountedRows(self.weights, self.sensitive, self.contexts)

    @cached_property
    def _alone(self) -> Levels:
        """The level of each row by itself."""
        return self._by_itself(self.measure)

    @cached_property
    def _ceiling_alone(self) -> Levels:
        return self._by_itself(self.ceiling)

    def _by_itself(self, measure: Any) -> Levels:
        rows = np.arange(len(self) + 1, dtype=np.int32)
        return self._compiled(Partition(rows[:-1], rows, _NONE), measure, np.empty(0))[1]

    def _compiled(self, partition: Partition, measure: Any, alone: Levels) -> tuple[Counts, Levels]:
        from shoal.kernels import partitions as kernel

        sizes, levels = kernel.levels(partition.order, partition.starts, self.counted, measure, self.sign)
        lone = partition.lone
        return np.concatenate([sizes, self.weights[lone]]), np.concatenate([levels, alone[lone]])

    def monotone(self, budget: int) -> bool:
        """Whether adding attributes never makes a set better when so many records may be left out.

        Classes then fall apart. Without a budget the worst level never gets better if the union of classes that keep
        a bound keeps it. With one, a part of a class that breaks the bound may keep it, so that adding an attribute
        can *save* records, unless the model never loses by growth; under contexts, all models may. Where people have
        several records, classes do not add up to their union, and only growth is sure.
        """
        if budget == 0 and not len(self.people):
            return self.model.merge_monotone
        return self.model.growth_monotone and not len(self.contexts)

    def sizes(self, partition: Partition) -> Counts:
        """The size of every class."""
        from shoal.kernels import partitions as kernel

        return np.concatenate(
            [kernel.sizes(partition.order, partition.starts, self.weights), self.weights[partition.lone]]
        )

    def levels(self, partition: Partition) -> tuple[Counts, Levels]:
        """The size and the level of every class."""
        if self.measure is None:
            sizes = self.sizes(partition)
            if self.by_size:
                return sizes, sizes.astype(np.float64)
            return sizes, self.sign * self.model.levels(self._classes(partition, sizes)).astype(np.float64)
        sizes, levels = self._compiled(partition, self.measure, self._alone)
        if self.floor > 1:
            levels[sizes < self.floor] = -np.inf
        return sizes, levels

    def _classes(self, partition: Partition, sizes: Counts) -> Classes:
        """The classes of a partition as a model takes them."""
        from shoal.kernels import partitions as kernel

        histograms: tuple[Histogram, ...] = ()
        if len(self.people):
            return self._with_people(partition, sizes)
        if self.histogram is not None:
            order = np.concatenate([partition.order, partition.lone])
            starts = np.append(partition.starts, np.arange(len(partition.order) + 1, len(order) + 1, dtype=np.int32))
            parts, owners, values, counts = kernel.histogram(
                order, starts, self.counted, len(self.histogram.population), True
            )
            contexts = np.repeat(np.arange(len(owners), dtype=np.int32), np.diff(parts))
            begins = parts[np.searchsorted(owners, np.arange(len(sizes) + 1))]
            histograms = (
                replace(
                    self.histogram, starts=begins, values=values, counts=counts,
                    contexts=contexts if len(self.contexts) else None,
                ),
            )  # fmt: skip
        population = self.population
        if population is not None and self.histogram is None:
            population = np.bincount(partition.owners(), population, minlength=len(sizes)).astype(np.float64)
        keys = self.columns[:, partition.first if self.model.margins else []].reshape(-1, len(sizes))
        if self.model.needs_sensitive or not histograms:
            return Classes(self.names, keys, sizes, histograms, (), self.records, weights=population)
        return Classes(self.names, keys, sizes, (), (), self.records, histograms[0], population)  # values are people

    def _with_people(self, partition: Partition, sizes: Counts) -> Classes:
        """The classes of a partition when rows are those of people."""
        assert self.histogram is not None and self.histogram.people is not None
        owners, count = partition.owners(), len(sizes)
        rows = replace(
            self.histogram, starts=np.arange(len(self) + 1), values=self.sensitive, counts=self.weights,
            contexts=self.contexts if len(self.contexts) else None,
            people=replace(self.histogram.people, codes=self.people),
        )  # fmt: skip
        everybody = np.zeros(int(self.people.max(initial=0)) + 1, np.int64)
        heads = Histogram("", rows.starts, self.people, self.weights, everybody).rolled(owners, count)
        keys = np.zeros((0, count), np.int32)
        return Classes(self.names, keys, sizes, (rows.rolled(owners, count),), (), self.records, heads)

    def hopeless(self, partition: Partition, threshold: float) -> int:
        """How many records are in classes no part of which reaches the threshold, as far as the model knows."""
        if self.ceiling is None:
            return 0
        sizes, levels = self._compiled(partition, self.ceiling, self._ceiling_alone)
        return int(sizes[levels < threshold - SLACK].sum())

    def below(self, sizes: Counts, levels: Levels, threshold: float) -> int:
        """A base function: how many records must be left out for a level."""
        from shoal.kernels import partitions as kernel

        return int(kernel.below(sizes, levels, threshold))

    def outer(self, level: float) -> float | int:
        """A level as people know it; when no bound at all is kept, 0 or, where less is safer, infinity. When every
        record is left out, any bound is kept: infinity or, where less is safer, 0."""
        if math.isinf(level) and (level > 0) != self.model.more_is_safer:
            return 0 if self.model.whole else 0.0
        return self.model.readable(max(0.0, self.sign * level))

    def curve(self, sizes: Counts, levels: Levels) -> Curve:
        """Every level that leaving out the worst classes can reach, with the share of records that it costs."""
        if self.by_size:
            tally = np.bincount(sizes, weights=sizes)
            distinct = np.flatnonzero(tally).astype(np.float64)
            records = tally[tally > 0]
        else:
            order = np.argsort(levels, kind="stable")
            ranked, finite = levels[order], np.nan_to_num(np.abs(levels[order]), posinf=0.0)
            fresh = np.ones(len(ranked), np.bool_)
            # Levels that only rounding tells apart are one; infinite ones are equal or far from all others.
            fresh[1:] = ranked[1:] > ranked[:-1] + SLACK * np.maximum(finite[1:], finite[:-1])
            distinct = ranked[fresh]
            records = np.add.reduceat(sizes[order], np.flatnonzero(fresh))
        lost = (np.cumsum(records) - records) / self.records
        return tuple((self.outer(level), share) for level, share in zip(distinct.tolist(), lost.tolist(), strict=True))


class Partitions:
    """Partitions of one question's rows, each refined from that of a smaller set, which is held for a while.

    It has room to work in: every question makes its own, and no two threads ever share one.
    """

    def __init__(self, rows: WeightedRows, run: Run) -> None:
        self.rows, self.run = rows, run
        self._recent: OrderedDict[int, Partition] = OrderedDict()
        self._tally = np.zeros(rows.radix, np.int32)
        self._touched = np.empty(rows.radix, np.int32)
        self._sizes = np.empty(0, np.int64)

    def whole(self) -> Partition:
        """All rows in one class: the partition of the empty set."""
        rows = np.arange(len(self.rows), dtype=np.int32)
        several = len(rows) > 1
        starts = np.array([0, len(rows)] if several else [0], np.int32)
        return Partition(rows, starts, _NONE) if several else Partition(_NONE, starts, rows)

    def refined(self, coarser: Partition, position: int) -> Partition:
        """The partition when one more attribute is known."""
        from shoal.kernels import partitions as kernel

        self.run.check()
        rows = len(coarser.order)
        order, starts, lone = np.empty(rows, np.int32), np.empty(rows // 2 + 1, np.int32), np.empty(rows, np.int32)
        classes, several, alone = kernel.refine(
            coarser.order, coarser.starts, self.rows.columns[position], self._tally, self._touched, order, starts, lone
        )
        # Copies, so that what is held is not larger than what it holds.
        every_lone = np.concatenate([coarser.lone, lone[:alone]]) if alone else coarser.lone
        return Partition(order[:several].copy(), starts[: classes + 1].copy(), every_lone)

    def of(self, mask: int) -> Partition:
        """The partition of a set, from that of its attributes but the last, which is held for the next one."""
        partition = self._recent.get(mask)
        if partition is not None:
            self._recent.move_to_end(mask)
            return partition
        last = mask.bit_length() - 1
        rest = mask & ~(1 << last)
        partition = self.refined(self.of(rest) if rest else self.whole(), last)
        self._recent[mask] = partition
        while len(self._recent) > 2 and len(self._recent) * 8 * len(self.rows) > HELD:
            self._recent.popitem(last=False)
        return partition

    def level(self, sizes: Counts, levels: Levels, budget: int) -> float:
        """The other base function: the level that is left when `budget` records may be left out."""
        from shoal.kernels import partitions as kernel

        if budget == 0:
            return float(levels.min())
        if self.rows.by_size:
            if len(self._sizes) == 0:
                self._sizes = np.zeros(self.rows.records + 1, np.int64)
            return float(kernel.tallied_level_after(sizes, budget, self._sizes))
        return float(kernel.level_after(sizes, levels, budget))
