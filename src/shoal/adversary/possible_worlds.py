"""Possible worlds: the assignments of sensitive values to people that a release and a dependency leave open."""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from typing import Any

import numpy as np

from shoal.adversary.map_posteriors import by_maps
from shoal.adversary.posteriors import Effort, KnownPeople, Posteriors
from shoal.core.run import Run
from shoal.errors import NotDefined

WIDEST = 1 << 26
"""Entries of the table of pairs, and of what is counted in a walk."""
DEEPEST = 600
"""Steps of the recursion over worlds: one for every kind of people and one for every value of its group."""
BATCHES = 8
PASSING = 0.2
"""How much less likely a walk makes a world with every record that breaks what holds strictly."""
FEWEST = 25
"""Worlds of a batch below which there is no estimate."""


def posteriors(people: KnownPeople, factor: float, effort: Effort, run: Run) -> Posteriors:
    """What somebody believes who knows the dependency; every record that breaks it makes a world less likely by the
    `factor`, 0 for a dependency that holds."""
    return by_maps(people, effort, run) if people.plain and not factor else _by_worlds(people, factor, effort, run)


def _by_worlds(people: KnownPeople, factor: float, effort: Effort, run: Run) -> Posteriors:
    """Every world is looked at where there are few; else a walk among them, from the true one, gives an estimate."""
    left, parts, many = effort.nodes, [], []
    for share, chosen in people.by_component():
        run.report(share / 2, "looking at worlds")
        try:
            search = _Worlds(people.some(chosen), factor, left)
            parts.append(search.posteriors())
            left = search.nodes
        except _TooManyWorldsError:
            many.append(chosen)
    if many:
        parts.append(_by_walk(people.some(np.concatenate(many)), factor, effort, run))
    return replace(Posteriors.joined(parts), maps=None)


class _TooManyWorldsError(Exception):
    """There are more worlds than may be looked at."""


class _Worlds:
    """All worlds of a component: kind by kind of people, each kind with every share of what its group has left."""

    def __init__(self, people: KnownPeople, factor: float, nodes: int) -> None:
        self.people, self.factor, self.nodes = people, factor, nodes
        kinds = people.kinds()
        self.kinds: list[list[int]] = kinds.keys.T.tolist()
        self.sizes = kinds.counts
        self.left: dict[int, dict[int, int]] = {}
        for owner, value in zip(people.groups.tolist(), people.values.tolist(), strict=True):
            counts = self.left.setdefault(owner, {})
            counts[value] = counts.get(value, 0) + 1
        if sum(1 + len(self.left[kind[0]]) for kind in self.kinds) > DEEPEST:
            raise _TooManyWorldsError
        self.pairs: dict[Any, dict[int, int]] = {}
        self.world: list[dict[int, int]] = [{} for _ in self.kinds]
        self.total = 0.0
        self.weights: list[dict[int, float]] = [{} for _ in self.kinds]

    def posteriors(self) -> Posteriors:
        self._kind(0, 1)
        most = np.array([max(weights.values()) for weights in self.weights]) / self.total / self.sizes
        values = np.array([max(weights, key=lambda value: weights[value]) for weights in self.weights], np.int32)
        groups = np.array([kind[0] for kind in self.kinds], np.int32)
        return Posteriors(self.sizes, most, most, most, groups, values)

    def _kind(self, kind: int, ways: int) -> None:
        if kind < len(self.kinds):
            left = self.left[self.kinds[kind][0]]
            self._value(kind, list(left.items()), int(self.sizes[kind]), ways * factorial(int(self.sizes[kind])))
            return
        broken = sum(sum(row.values()) - max(row.values()) for row in self.pairs.values() if row)
        weight = ways * (self.factor**broken if broken else 1.0)
        self.total += weight
        for weights, counts in zip(self.weights, self.world, strict=True):
            for value, times in counts.items():
                weights[value] = weights.get(value, 0.0) + weight * times

    def _value(self, kind: int, open_: list[tuple[int, int]], wanted: int, ways: int) -> None:
        """Gives people of a kind, of whom so many want one, the first of the open values, then the others."""
        self.nodes -= 1
        if self.nodes < 0:
            raise _TooManyWorldsError
        if not wanted:
            self._kind(kind + 1, ways)
            return
        if sum(count for _, count in open_) < wanted:
            return
        (value, count), others = open_[0], open_[1:]
        owner, beside, other, concerned = self.kinds[kind]
        for times in range(min(count, wanted) + 1):
            if times:
                concerns = concerned and self.people.only in (-1, value)
                row, column = ((value, beside), other) if self.people.determines else (other, value)
                pairs = self.pairs.setdefault(row, {}) if concerns else {}
                if not self.factor and any(having for place, having in pairs.items() if place != column):
                    return
                pairs[column] = pairs.get(column, 0) + times
                self.world[kind][value] = times
                self.left[owner][value] -= times
            self._value(kind, others, wanted - times, ways // factorial(times))
            if times:
                pairs[column] -= times
                del self.world[kind][value]
                self.left[owner][value] += times


def _by_walk(people: KnownPeople, factor: float, effort: Effort, run: Run) -> Posteriors:
    """Swaps between people of a group, from the true world on: the shares of what people of a kind had on the way.

    Where a dependency holds strictly the walk also passes worlds that break it, for it would get stuck otherwise, and
    counts only those that do not. Twins bound every probability; the estimate's error is twice the standard error
    between batches.
    """
    from shoal.kernels import worlds as kernel

    people = people.some(np.argsort(people.groups, kind="stable"))
    kinds = people.kinds()
    values, others = int(people.values.max()) + 1, int(people.other.max()) + 1
    rows = (int(people.beside.max()) + 1) * values if people.determines else others
    wide = others if people.determines else values
    if max(rows * wide, BATCHES * len(kinds.counts) * values) > WIDEST:
        raise NotDefined("the dependency has too many different values for an estimate; name fewer columns in it")
    world, edges = people.values.copy(), np.flatnonzero(np.diff(people.groups)) + 1
    starts = np.concatenate([[0], edges, [len(world)]]).astype(np.int64)
    fixed = people.beside if people.determines else people.other
    arrays = kernel.SwappablePeople(
        starts, fixed, people.other, people.concerns, people.determines, values, people.only
    )
    table, broken = kernel.tabled(arrays, world, rows, wide), people.violations()
    having, counted = np.zeros((BATCHES, len(kinds.counts), values), np.int64), np.zeros(BATCHES, np.int64)
    passing, sweeps = factor or PASSING, max(1, effort.sweeps // BATCHES)
    for batch in range(BATCHES):
        seed = effort.seed + batch
        counted[batch], broken = kernel.walk(
            arrays, world, table, broken, passing, not factor, sweeps, seed, having[batch], kinds.index, run.flag
        )
        run.report(0.5 + (batch + 1) / BATCHES / 2, "walking among worlds")
    low, high = people.bounds(kinds.keys[0])
    shares = having.sum(axis=0) / max(int(counted.sum()), 1) / kinds.counts[:, None]
    most, error = np.minimum(shares.max(axis=1), high), 1.0
    if counted.min() >= FEWEST:
        means = np.array([having[batch].max(axis=1).sum() / counted[batch] / len(world) for batch in range(BATCHES)])
        error = min(1.0, 2 * float(np.std(means, ddof=1)) / BATCHES**0.5)
    else:
        most = high
    best = shares.argmax(axis=1).astype(np.int32)
    return Posteriors(kinds.counts, most, low, high, kinds.keys[0], best, error=error, exact=False)
