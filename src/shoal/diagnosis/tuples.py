"""Tuples: the distinct records of a table as weighted rows, and the base functions on any set of their attributes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.grouping import Codes, Counts, group
from shoal.core.sensitive import SLACK
from shoal.diagnosis.notions import Notion
from shoal.errors import ParameterError

MOST = 63
"""Attributes in a set question: a set is a bit mask."""
HELD = 1 << 28
"""Bytes of partitions that are kept for refinement."""

Levels = NDArray[np.float64]
Curve = tuple[tuple[float | int, float], ...]


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
        """A row of every class, in the order of `Tuples.levels`."""
        return np.concatenate([self.order[self.starts[:-1]], self.lone])

    def spread(self, chosen: NDArray[np.bool_], rows: int) -> NDArray[np.bool_]:
        """What is true of classes, as true of their rows."""
        found = np.zeros(rows, np.bool_)
        several = len(self.starts) - 1
        found[self.order] = np.repeat(chosen[:several], np.diff(self.starts))
        found[self.lone] = chosen[several:]
        return found


@dataclass(eq=False)
class Tuples:
    """Weighted rows: distinct combinations of attributes (and of a sensitive value, where the notion has one).

    A set of attributes is a mask, bit `j` for `names[j]`. Evaluating one refines the partition of the set
    without its last attribute, which is held for a while; `projected` rolls the rows up to fewer attributes.
    """

    names: tuple[str, ...]
    columns: Codes
    weights: Counts
    sensitive: Codes
    notion: Notion
    measure: Any
    records: int
    held: OrderedDict[int, Partition] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, classes: Classes, notion: Notion, attributes: Sequence[str], sensitive: str | None = None) -> Tuples:
        """The rows for a notion from a table's summary."""
        if len(attributes) > MOST:
            raise ParameterError(
                f"a question about sets takes at most {MOST} attributes and these are {len(attributes)}; "
                "name fewer with attributes"
            )
        histogram = classes.histogram(sensitive) if notion.needs_sensitive else None
        measure, numbers = notion.measure(histogram)
        positions = [classes.attributes.index(name) for name in attributes]
        keys = classes.keys[positions]
        if histogram is None:
            values, weights = np.zeros(keys.shape[1], np.int32), classes.sizes
        else:
            keys, values, weights = keys[:, histogram.owners], numbers[histogram.values], histogram.counts
        records = int(classes.sizes.sum())
        made = cls(tuple(attributes), keys, weights, values.astype(np.int32), notion, measure, records)
        return made.projected((1 << len(attributes)) - 1)

    @property
    def full(self) -> int:
        return (1 << len(self.names)) - 1

    def __len__(self) -> int:
        return len(self.weights)

    def projected(self, mask: int) -> Tuples:
        """The rows over some of the attributes only; their bits move together, in the same order."""
        chosen = members(mask)
        keyed = [*(self.columns[position] for position in chosen), self.sensitive]
        found = group(keyed, [int(column.max(initial=0)) + 1 for column in keyed], weights=self.weights)
        return Tuples(
            tuple(self.names[position] for position in chosen), np.ascontiguousarray(found.keys[:-1]), found.counts,
            np.ascontiguousarray(found.keys[-1]), self.notion, self.measure, self.records,
        )  # fmt: skip

    def __post_init__(self) -> None:
        self.radix = int(self.columns.max(initial=0)) + 1
        self._tally = np.zeros(self.radix, np.int32)
        self._touched = np.empty(self.radix, np.int32)
        self._alone: dict[int, Levels] = {}
        self._sizes = np.empty(0, np.int64)

    def whole(self) -> Partition:
        """All rows in one class: the partition of the empty set."""
        rows, none = np.arange(len(self), dtype=np.int32), np.empty(0, np.int32)
        return Partition(rows, np.array([0, len(rows)], np.int32), none) if len(rows) > 1 else self._single()

    def _single(self) -> Partition:
        """Every row alone."""
        return Partition(np.empty(0, np.int32), np.zeros(1, np.int32), np.arange(len(self), dtype=np.int32))

    def refined(self, coarser: Partition, position: int) -> Partition:
        """The partition when one more attribute is known."""
        from shoal.kernels import partitions as kernel

        rows = len(coarser.order)
        order, starts, lone = np.empty(rows, np.int32), np.empty(rows // 2 + 1, np.int32), np.empty(rows, np.int32)
        classes, several, alone = kernel.refine(
            coarser.order, coarser.starts, self.columns[position], self._tally, self._touched, order, starts, lone
        )
        # Copies, so that what is held is not larger than what it holds.
        return Partition(
            order[:several].copy(), starts[: classes + 1].copy(),
            np.concatenate([coarser.lone, lone[:alone]]) if alone else coarser.lone,
        )  # fmt: skip

    def partition(self, mask: int) -> Partition:
        """The partition of a set, from that of its attributes but the last, which is held for the next one."""
        found = self.held.get(mask)
        if found is not None:
            self.held.move_to_end(mask)
            return found
        last = mask.bit_length() - 1
        rest = mask & ~(1 << last)
        made = self.refined(self.partition(rest) if rest else self.whole(), last)
        self.held[mask] = made
        while len(self.held) > 2 and len(self.held) * 8 * len(self) > HELD:
            self.held.popitem(last=False)
        return made

    def levels(self, partition: Partition, measure: Any = None) -> tuple[Counts, Levels]:
        """The size and the inner level of every class; of another measure, if one is given."""
        from shoal.kernels import partitions as kernel

        chosen = self.measure if measure is None else measure
        if chosen.notion == kernel.K:
            sizes = kernel.sizes(partition.order, partition.starts, self.weights)
            sizes = np.concatenate([sizes, self.weights[partition.lone]])
            return sizes, sizes.astype(np.float64)
        sizes, levels = kernel.levels(partition.order, partition.starts, self.weights, self.sensitive, chosen)
        if chosen.notion not in self._alone:
            rows = np.arange(len(self) + 1, dtype=np.int32)
            self._alone[chosen.notion] = kernel.levels(rows[:-1], rows, self.weights, self.sensitive, chosen)[1]
        return (
            np.concatenate([sizes, self.weights[partition.lone]]),
            np.concatenate([levels, self._alone[chosen.notion][partition.lone]]),
        )

    def level(self, sizes: Counts, levels: Levels, budget: int) -> float:
        """The base function: the level of a partition when `budget` records may be left out."""
        from shoal.kernels import partitions as kernel

        if budget == 0:
            return float(levels.min())
        if self.notion.name == "k":
            if len(self._sizes) == 0:
                self._sizes = np.zeros(self.records + 1, np.int64)
            return float(kernel.tallied_level_after(sizes, budget, self._sizes))
        return float(kernel.level_after(sizes, levels, budget))

    def below(self, sizes: Counts, levels: Levels, threshold: float) -> int:
        """The other base function: how many records must be left out for a level."""
        from shoal.kernels import partitions as kernel

        return int(kernel.below(sizes, levels, threshold))

    def curve(self, sizes: Counts, levels: Levels) -> Curve:
        """Every level that leaving out the worst classes can reach, with the share of records that it costs."""
        if self.notion.whole:
            tally = np.bincount(levels.astype(np.int64), weights=sizes)
            distinct = np.flatnonzero(tally).astype(np.float64)
            held = tally[tally > 0]
        else:
            order = np.argsort(levels, kind="stable")
            ranked = levels[order]
            fresh = np.ones(len(ranked), np.bool_)
            fresh[1:] = np.diff(ranked) > SLACK * np.abs(ranked[1:])
            distinct = ranked[fresh]
            held = np.add.reduceat(sizes[order], np.flatnonzero(fresh))
        lost = (np.cumsum(held) - held) / self.records
        return tuple(
            (self.notion.outer(level), share) for level, share in zip(distinct.tolist(), lost.tolist(), strict=True)
        )

    def named(self, mask: int) -> tuple[str, ...]:
        """The names of a set's attributes."""
        return tuple(self.names[position] for position in members(mask))


def members(mask: int) -> list[int]:
    """The positions of a mask's bits.

    Example:
        >>> members(0b1011)
        [0, 1, 3]
    """
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found
