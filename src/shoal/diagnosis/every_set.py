"""Every set of attributes: its level, its cost or its whole curve, each grouping refined from a smaller one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.grouping import Counts
from shoal.core.run import Run
from shoal.diagnosis.families import by_size, members
from shoal.diagnosis.weighted_rows import Levels, Partition, Partitions, WeightedRows
from shoal.errors import ParameterError, SchemaError

MOST_LISTED, MOST_CURVES = 20, 16
"""Attributes of whose sets each one is listed with its value (2²⁰ of them are a million lines), or with its curve."""

Measured = Callable[[Partitions, Counts, Levels], Any]
Hopeless = Callable[[WeightedRows, Partition], Any]


@dataclass(frozen=True, eq=False)
class PerSet(Mapping[tuple[str, ...], Any]):
    """A value for each set of attributes; a set is looked up by its names in any order.

    Example:
        >>> found = PerSet(("age", "sex"), {0b01: 1, 0b10: 7, 0b11: 1})
        >>> found["sex", "age"], found["sex",], len(found)
        (1, 7, 3)
    """

    names: tuple[str, ...]
    values_by_mask: dict[int, Any]

    def __getitem__(self, key: Any) -> Any:
        wanted = {key} if isinstance(key, str) else set(key)
        unknown = wanted - set(self.names)
        if unknown:
            raise SchemaError(f"{len(unknown)} of the {len(wanted)} names are not among the question's attributes")
        mask = sum(1 << position for position, name in enumerate(self.names) if name in wanted)
        return self.values_by_mask[mask]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        for mask in self.values_by_mask:
            yield tuple(self.names[position] for position in members(mask))

    def __len__(self) -> int:
        return len(self.values_by_mask)


@dataclass(frozen=True)
class WalkedSets:
    """What a walk found: a value by mask, how many evaluations it took, and whether it went to the end."""

    values: dict[int, Any]
    calls: int
    proven: bool


@dataclass(eq=False)
class SetWalk:
    """A walk over every non-empty set.

    Sets are visited after all of their subsets, attributes with many values last, so that most groupings are of
    few rows. A set that tells all tuples apart stands for all its supersets. So does, with `settled`, a set whose
    value is that of all attributes together, because the values are monotone. `prune` may give a value that holds
    for a set and all its supersets.
    """

    whole: WeightedRows
    measured: Measured
    settled: bool
    watch: Run
    prune: Hopeless | None = None
    most: int = MOST_LISTED

    def run(self) -> WalkedSets:
        """The value of each set; of those that were reached, when the walk is stopped or interrupted."""
        count = len(self.whole.names)
        if count > self.most:
            raise ParameterError(
                f"{count} attributes have 2^{count} sets, too many to look at each; name at most {self.most} "
                "attributes, or ask for the borders of k, which need no look at each set"
            )
        values = [np.count_nonzero(np.bincount(column)) for column in self.whole.columns]
        self.order = np.argsort(np.negative(values), kind="stable").tolist()
        partitions = Partitions(self.whole, self.watch)
        self.finest = partitions.of(self.whole.full)
        self.last = self.measured(partitions, *self.whole.levels(self.finest))
        self.calls = 1
        self.values: dict[int, Any] = {}
        self.final: set[int] = set()
        proven = True
        try:
            for place in range(count - 1, -1, -1):
                rows = self.whole.projected(sum(1 << position for position in self.order[place:]))
                partitions = Partitions(rows, self.watch)
                self._visit(partitions, partitions.whole(), 0, place)
                self.watch.report(2.0**-place, f"{len(self.values):,} sets")
        except (KeyboardInterrupt, _TimeIsUpError):
            proven = False
        ordered = sorted(self.values, key=by_size)
        return WalkedSets({mask: self.values[mask] for mask in ordered}, self.calls, proven)

    def _visit(self, partitions: Partitions, coarser: Partition, mask: int, place: int) -> None:
        """One more attribute, and then the attributes after it, the last one first."""
        self.watch.check()
        if self.watch.expired:
            raise _TimeIsUpError
        rows, position = partitions.rows, self.order[place]
        grown = mask | 1 << position
        partition = coarser
        if (below := self._final_below(grown)) is not None:
            self.values[grown] = self.values[below]
            self.final.add(grown)
        elif grown == self.whole.full:
            self.values[grown] = self.last
        else:
            partition = partitions.refined(coarser, rows.names.index(self.whole.names[position]))
            sizes, levels = rows.levels(partition)
            self.calls += 1
            value = self.measured(partitions, sizes, levels)
            certain = self.prune(rows, partition) if self.prune is not None else None
            self.values[grown] = value if certain is None else certain
            if certain is not None or partition.classes == self.finest.classes or (self.settled and value == self.last):
                self.final.add(grown)
        for later in range(len(self.order) - 1, place, -1):
            self._visit(partitions, partition, grown, later)

    def _final_below(self, mask: int) -> int | None:
        rest = mask
        while rest:
            bit = rest & -rest
            if mask ^ bit in self.final:
                return mask ^ bit
            rest ^= bit
        return None


class _TimeIsUpError(Exception):
    """The walk ran out of time."""


def extremes(values: Mapping[int, bool], count: int) -> tuple[list[int], list[int]]:
    """The maximal sets that are true and the minimal ones that are false, whether or not truth is monotone.

    Example:
        >>> extremes({0b01: True, 0b10: False, 0b11: True}, 2)
        ([3], [2])
    """
    known = np.zeros(1 << count, np.int8)
    for mask, value in values.items():
        known[mask] = 1 if value else -1
    above, below = known == 1, known == -1
    for position in range(count):
        halves = above.reshape(-1, 2, 1 << position)
        halves[:, 0] |= halves[:, 1]
        halves = below.reshape(-1, 2, 1 << position)
        halves[:, 1] |= halves[:, 0]
    maximal, minimal = known == 1, known == -1
    for position in range(count):
        maximal.reshape(-1, 2, 1 << position)[:, 0] &= ~above.reshape(-1, 2, 1 << position)[:, 1]
        minimal.reshape(-1, 2, 1 << position)[:, 1] &= ~below.reshape(-1, 2, 1 << position)[:, 0]
    return np.flatnonzero(maximal).tolist(), np.flatnonzero(minimal).tolist()
