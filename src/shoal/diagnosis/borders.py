"""The border search: the maximal sets of attributes that satisfy, and the minimal ones that do not.

It works from both sides. The maximal sets that contain no set known to be bad are the *candidates*. A candidate that
proves good is in the positive border: everything above it is known to be bad. From a candidate that proves bad
come small bad sets, and the candidates are cut so that they avoid those. When every candidate has proved good, the
minimal bad sets are the negative border, and the proof is complete.

How bad sets are found:

- Without a suppression budget one badly protected record is a *witness*. Every set in which the record's class is
  below the bound is bad, and that takes one look at the record's neighbours (a *scan*), not a grouping for each set.
  So a scan refutes many candidates at once.
- With a budget no single record decides, and with a model that is not compiled a scan costs as much as a grouping. Sets
  are then taken by size, and one is refuted without a call when the records that its subsets lose exceed the budget
  together: a set loses whatever a subset of it loses. Very many attributes are searched by size as well.

References: H. Mannila and H. Toivonen, Levelwise search and borders of theories in knowledge discovery, 1997;
D. Gunopulos and others, Discovering all most specific sentences, 2003; D.-I. Lin and Z. Kedem, Pincer-Search, 1998.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.run import Run
from shoal.diagnosis.families import by_size, mask_of, members, subsets
from shoal.diagnosis.weighted_rows import HELD, Levels, Partition, Partitions, WeightedRows
from shoal.diagnosis.witnesses import Masks, Witness

RAREST = 2
"""How many of its rarest values make a record a promising witness."""
REFUTED = 64
"""How many sets one witness refutes before the next candidate is looked at."""
REMEMBERED = 256
"""Witnesses that are kept for searches with other bounds."""
WIDE = 16
"""Attributes beyond which bad sets are taken by size, because the candidates from above would be too many to hold."""


@dataclass(frozen=True)
class Borders:
    """What a search proved. `bad` are known bad sets that were not proved minimal, `open` sets nothing is known of."""

    positive: tuple[int, ...]
    negative: tuple[int, ...]
    calls: int
    scans: int
    proven: bool
    bad: tuple[int, ...] = ()
    open: tuple[int, ...] = ()

    @property
    def levelwise(self) -> int | None:
        """How many calls plain levelwise search needs: all good sets and the negative border; None when too many."""
        if not self.proven:
            return None
        good = subsets(self.positive)
        return None if good is None else good + len(self.negative)


@dataclass(eq=False)
class Memory:
    """What evaluations of sets found, for searches with other bounds on the same rows and budget.

    One evaluation gives the level of a set, which answers for every bound.
    """

    known: dict[int, float] = field(default_factory=dict)
    by_value: list[Levels] = field(default_factory=list)
    """For each attribute alone, the level of each of its values."""
    witnesses: list[Witness] = field(default_factory=list)
    """Records that refuted sets before and may do so again."""
    rolled: dict[int, WeightedRows] = field(default_factory=dict)
    """The rows over the attributes that the last search needed."""

    def copied(self) -> Memory:
        """The same memory, for one search to add to. Rolled-up rows are too large to be handed on."""
        return Memory(dict(self.known), list(self.by_value), list(self.witnesses))


@dataclass(eq=False)
class Search:
    """A search for both borders, where adding attributes never makes a set better. It ends early when the time is up,
    or after `most` sets were evaluated."""

    whole: WeightedRows
    threshold: float
    budget: int = 0
    memory: Memory = field(default_factory=Memory)
    watch: Run = field(default_factory=Run)
    most: float = float("inf")

    def __post_init__(self) -> None:
        self.calls = 0
        self.scans = 0
        self.good: list[int] = []
        self.fine: set[int] = set()
        self.bad: list[int] = []
        self.candidates: Masks = np.array([self.whole.full], np.uint64)
        self.rows = self.whole
        self.partitions = Partitions(self.rows, self.watch)
        self.attributes = self.whole.full
        self.places = {position: position for position in range(len(self.whole.names))}
        self.losses: dict[int, NDArray[np.bool_]] = {}
        self.grouped: set[int] = set()

    def run(self) -> Borders:
        """The borders, or what is proven of them when the search is stopped or interrupted."""
        try:
            finished = self._singles() and (
                self._climb() if self.budget or self._wide() or not self._scannable() else self._descend()
            )
        except KeyboardInterrupt:
            finished = False
        return self._result(finished)

    def _stopped(self) -> bool:
        """Whether the time or the work is up; raises when the run was cancelled."""
        self.watch.check()
        return self.watch.expired or self.calls >= self.most

    def _scannable(self) -> bool:
        """Whether one record refutes sets, by a scan that takes less than a grouping, and so few attributes are left
        that the candidates from above can be held."""
        quick = self.whole.by_size or self.whole.measure is not None
        return quick and not self.budget and not self._wide()

    def _singles(self) -> bool:
        """Every attribute alone; the level of each of its values tells where witnesses are likely."""
        for position in range(len(self.whole.names)):
            if self._stopped():
                return False
            mask = 1 << position
            if mask not in self.memory.known or len(self.memory.by_value) <= position:
                partition = self.partitions.refined(self.partitions.whole(), position)
                sizes, levels = self.whole.levels(partition)
                self.calls += 1
                self.memory.known[mask] = self.partitions.level(sizes, levels, self.budget)
                by_value = np.full(self.whole.radix, np.inf)
                by_value[self.whole.columns[position][partition.first]] = levels
                self.memory.by_value.append(by_value)
            if self.memory.known[mask] < self.threshold:
                self._exclude(mask)
            else:
                self.fine.add(mask)
        return True

    def _wide(self) -> bool:
        """Whether so many attributes are left that the candidates from above would be too many to hold."""
        return len(self.candidates) > 0 and int(self.candidates[0]).bit_count() > WIDE

    def _descend(self) -> bool:
        """Candidates from above, cut by what witnesses refute."""
        for witness in self.memory.witnesses:
            self._cut(witness)
        while len(self.candidates):
            if self._stopped():
                return False
            chosen = min(self.candidates.tolist(), key=int.bit_count)
            self._roll_up()
            if self._is_good(chosen):
                self._settle(chosen)
            else:
                self._refute(chosen)
            self._report()
        return True

    def _settle(self, candidate: int) -> None:
        self.good.append(candidate)
        self.candidates = self.candidates[self.candidates != np.uint64(candidate)]

    def _report(self) -> None:
        done = len(self.good) / max(1, len(self.good) + len(self.candidates))
        self.watch.report(done, f"{len(self.good)} maximal sets proven, {len(self.candidates)} to look at")

    def _roll_up(self) -> None:
        """Attributes in no candidate need not be told apart any more: fewer and heavier rows."""
        needed = int(np.bitwise_or.reduce(self.candidates)) if len(self.candidates) else 0
        if needed and needed != self.attributes:
            if needed not in self.memory.rolled:
                self.memory.rolled = {needed: self.whole.projected(needed)}
            self.rows = self.memory.rolled[needed]
            self.partitions = Partitions(self.rows, self.watch)
            self.attributes = needed
            self.places = {position: place for place, position in enumerate(members(needed))}

    def _inner(self, mask: int) -> int:
        """A mask over all attributes as one over the rows' attributes."""
        if self.attributes == self.whole.full:
            return mask
        return sum(1 << self.places[position] for position in members(mask))

    def _is_good(self, mask: int) -> bool:
        known = self.memory.known.get(mask)
        if known is None:
            if self._inside_good(mask):
                return True
            if self.budget and self._surely_bad(mask):
                return False
            partition = self.partitions.of(self._inner(mask))
            sizes, levels = self.rows.levels(partition)
            self.calls += 1
            self.grouped.add(mask)
            if self.budget:
                self._remember_losses(mask, partition, levels)
            known = self.memory.known[mask] = self.partitions.level(sizes, levels, self.budget)
        if known >= self.threshold:
            self.fine.add(mask)
        return known >= self.threshold

    def _inside_good(self, mask: int) -> bool:
        return any(mask & ~good == 0 for good in self.good)

    def _surely_bad(self, mask: int) -> bool:
        """Whether the records that are lost by subsets, and so by the set as well, exceed the budget together."""
        parts = [self._lost(mask & ~(1 << position)) for position in members(mask)]
        known = [part for part in parts if part is not None]
        return len(known) > 1 and int(self.rows.weights[np.logical_or.reduce(known)].sum()) > self.budget

    def _lost(self, mask: int) -> NDArray[np.bool_] | None:
        if mask not in self.losses and mask.bit_count() == 1:
            position = members(mask)[0]
            column = self.rows.columns[self.places[position]]
            self.losses[mask] = self.memory.by_value[position][column] < self.threshold
        return self.losses.get(mask)

    def _remember_losses(self, mask: int, partition: Partition, levels: Levels) -> None:
        if len(self.losses) * len(self.rows) < HELD:
            self.losses[mask] = (levels < self.threshold)[partition.owners()]

    def _exclude(self, bad: int) -> None:
        from shoal.kernels import antichains as kernel

        self.bad.append(bad)
        settled = np.array(self.good, np.uint64)
        masks, count = kernel.without(self.candidates, settled, np.uint64(bad))
        self.candidates = masks[:count].copy()

    def _refute(self, chosen: int) -> None:
        """Refutes the chosen bad set by a witness, and every other candidate that the same witness refutes."""
        rows = self.rows
        partition = self.partitions.of(self._inner(chosen))
        _, levels = rows.levels(partition)
        # The level may come from an earlier search, and then the set is grouped here.
        self.calls += chosen not in self.grouped
        row = self._witness(partition, levels, chosen)
        rare = {position: float(self._rarity(position, row)) for position in self.places}
        witness = Witness.of(rows, row, self.places, sorted(rare, key=lambda position: -rare[position]))
        self.scans += 1
        # What a witness of diversity holds is as large as the rows.
        if rows.measure is None and len(self.memory.witnesses) < REMEMBERED:
            self.memory.witnesses.append(witness)
        self._cut(witness)
        if np.uint64(chosen) in self.candidates:
            self._exclude(chosen)  # rounding may tell a witness' class from that of the set, which is bad all the same

    def _cut(self, witness: Witness) -> None:
        """Excludes small sets that are bad for the witness, from the candidates that are."""
        at = 0
        for _ in range(REFUTED):
            # Those before have been looked at and keep their order.
            while at < len(self.candidates) and not witness.refutes(int(self.candidates[at]), self.threshold):
                self.watch.check()
                at += 1
            if at >= len(self.candidates) or self._stopped():
                break
            bad = int(self.candidates[at])
            for position in witness.likeliest:
                smaller = bad & ~(1 << position)
                if smaller and smaller != bad and witness.refutes(smaller, self.threshold):
                    bad = smaller
            self._exclude(bad)

    def _rarity(self, position: int, rows: Any) -> Any:
        """How badly a record's value of one attribute is protected by itself; less is rarer."""
        levels = self.memory.by_value[position][self.rows.columns[self.places[position]][rows]]
        return np.log(np.maximum(levels, 0.5)) if self.rows.model.more_is_safer else levels

    def _witness(self, partition: Partition, levels: Levels, chosen: int) -> int:
        """A record of a class below the bound, the one whose rarest values are rarest."""
        rows = partition.first[levels < self.threshold]
        scores = [self._rarity(position, rows) for position in members(chosen)]
        return int(rows[np.argmin(np.sort(scores, axis=0)[:RAREST].sum(axis=0))])

    def _climb(self) -> bool:
        """Bad sets from below, size by size, and whole candidates from above as long as that pays."""
        self._roll_up()
        size = 2
        while len(self.candidates):
            tried: set[int] = set()
            # From above as long as it pays: one wasted call a size at most.
            while len(self.candidates) and self._is_good(largest := max(self.candidates.tolist(), key=int.bit_count)):
                self._settle(largest)
            for candidate in self.candidates.tolist():
                if candidate.bit_count() < size:
                    self._settle(candidate)
                    continue
                for positions in combinations(members(candidate), size):
                    part = mask_of(positions)
                    if part in tried:
                        continue
                    tried.add(part)
                    if self._stopped():
                        return False
                    if not self._is_good(part):
                        self._exclude(part)
                self._report()
            size += 1
        return True

    def _result(self, finished: bool) -> Borders:
        from shoal.kernels import antichains as kernel

        bad = np.array(sorted(set(self.bad)), np.uint64)
        least = bad[kernel.minimal(bad)].tolist()
        certain: list[int] = []
        rest: list[int] = []
        for mask in least:
            below = [mask & ~(1 << position) for position in members(mask)]
            shown = finished or all(not part or part in self.fine or self._inside_good(part) for part in below)
            (certain if shown else rest).append(mask)
        positive, negative, doubtful = (tuple(sorted(sets, key=by_size)) for sets in (self.good, certain, rest))
        undecided = tuple(self.candidates.tolist())
        return Borders(positive, negative, self.calls, self.scans, finished, doubtful, undecided)
