"""Worlds: the assignments of sensitive values to people that a release and a dependency leave open.

An attacker knows who is in which group of a release, which values the group has, and the other columns of the
dependency of everybody. All worlds that fit are equally likely; what is known to hold almost always makes a world less
likely with every record that breaks it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.assignments import Fillings, fillings
from shoal.adversary.twins import twins
from shoal.core.grouping import Codes, Counts, Groups, group
from shoal.core.hierarchy import Floats
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


@dataclass(frozen=True, eq=False)
class People:
    """The people of a release, one an entry: the group, the true sensitive value, and the other columns of the
    dependency as one code each.

    When the value `determines`, together with `beside` it determines `other`; else `other` determines the value. The
    dependency is about the people whom it `concerns`, all unless said otherwise, and about the value `only`, all
    unless said. Only a walk among worlds looks at the true values by person, to have a world to start from.
    """

    groups: Codes
    values: Codes
    other: Codes
    beside: Codes
    concerns: NDArray[np.bool_]
    determines: bool
    only: int = -1

    @property
    def plain(self) -> bool:
        """Whether it is a map between values of two columns, which needs no look at single people."""
        return not self.beside.any() and bool(self.concerns.all()) and self.only < 0

    def violations(self) -> int:
        """How many records at least have to go so that the dependency holds (g3, as a count)."""
        among = self.concerns if self.only < 0 else self.concerns & (self.values == self.only)
        left, right = ([self.values, self.beside], self.other) if self.determines else ([self.other], self.values)
        return violations([codes[among] for codes in left], right[among])

    def some(self, chosen: NDArray[Any]) -> People:
        """Some of the people."""
        names = ("groups", "values", "other", "beside", "concerns")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


def violations(determinant: list[Codes], dependent: Codes) -> int:
    """How many records at least have to go so that equal determinants have equal dependents.

    Example:
        >>> violations([np.array([0, 0, 0, 1], np.int32)], np.array([5, 5, 6, 6], np.int32))
        1
    """
    if not len(dependent):
        return 0
    columns = [*determinant, dependent]
    found = group(columns, [int(codes.max()) + 1 for codes in columns])
    fresh = np.append(True, np.any(np.diff(found.keys[:-1], axis=1) != 0, axis=0))
    return len(dependent) - int(np.maximum.reduceat(found.counts, np.flatnonzero(fresh)).sum())


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is counted before it is estimated: `nodes` of a search, `draws` of maps, `sweeps` of a walk."""

    nodes: int
    draws: int
    sweeps: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Posteriors:
    """What an attacker believes about kinds of people that the attacker cannot tell apart.

    `people[k]` are of kind k; the most likely value of such a person has probability `most[k]`, which is between
    `low[k]` and `high[k]`; it is `values[k]`, in the group `groups[k]` (negative: in any). `link` is the greatest
    probability that one value goes with one value of the other column. What was estimated has an `error`.
    """

    people: Counts
    most: Floats
    low: Floats
    high: Floats
    groups: Codes
    values: Codes
    link: float
    error: float = 0.0
    exact: bool = True
    maps: int | None = None

    @property
    def mean(self) -> float:
        """The mean over people of the probability of their most likely value."""
        return float(self.people @ self.most / max(int(self.people.sum()), 1))


def plain_posteriors(people: People) -> Floats:
    """For each person the share of the most frequent value of the group: what anybody knows without a dependency."""
    found = group([people.groups, people.values], [int(people.groups.max()) + 1, int(people.values.max()) + 1])
    sizes, most = np.bincount(people.groups), np.zeros(int(people.groups.max()) + 1, np.int64)
    np.maximum.at(most, found.keys[0], found.counts)
    shares: Floats = most[people.groups] / sizes[people.groups]
    return shares


def posteriors(people: People, factor: float, effort: Effort, run: Run) -> Posteriors:
    """What somebody believes who knows the dependency; every record that breaks it makes a world less likely by the
    `factor`, 0 for a dependency that holds."""
    return _by_maps(people, effort, run) if people.plain and not factor else _by_worlds(people, factor, effort, run)


def components(people: People) -> tuple[Codes, int]:
    """The component of each person: groups that share a value of the determining side are one."""
    from shoal.kernels import worlds as kernel

    joining = people.values if people.determines else people.other
    count = int(joining.max()) + 1
    found, _ = kernel.components(joining, people.groups, count, int(people.groups.max()) + 1)
    owners, numbers = np.unique(found[joining], return_inverse=True)
    return numbers.astype(np.int32), len(owners)


def _by_maps(people: People, effort: Effort, run: Run) -> Posteriors:
    owners, count = components(people)
    order = np.argsort(owners, kind="stable")
    edges = np.searchsorted(owners[order], np.arange(count + 1))
    generator = np.random.default_rng(effort.seed)
    parts = []
    for component in range(count):
        if component % 64 == 0:
            run.report(component / count, "counting maps")
        parts.append(_component(people.some(order[edges[component] : edges[component + 1]]), effort, generator))
    return _joined(parts)


def _component(people: People, effort: Effort, generator: np.random.Generator) -> Posteriors:
    groups, group_of = np.unique(people.groups, return_inverse=True)
    values, value_of = np.unique(people.values, return_inverse=True)
    others, other_of = np.unique(people.other, return_inverse=True)
    if (len(values) + len(others)) * len(groups) > WIDEST:
        return _bounded(people)
    counts, having = np.zeros((len(values), len(groups)), np.int64), np.zeros((len(others), len(groups)), np.int64)
    np.add.at(counts, (value_of, group_of), 1)
    np.add.at(having, (other_of, group_of), 1)
    things, bins = (counts, having) if people.determines else (having, counts)
    found = fillings(things, bins, nodes=effort.nodes, draws=effort.draws, generator=generator)
    _, kind_of, alike = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    block = alike[kind_of.reshape(-1)]
    made = _of_values if people.determines else _of_others
    return made(found, counts, having, block, groups.astype(np.int32), values.astype(np.int32))


def _of_values(
    found: Fillings, counts: Counts, having: Counts, block: Counts, groups: Codes, values: Codes
) -> Posteriors:
    """A person's value given that values determine the other column: the share of its maps times the value's share
    of the people of the group who have what the person has."""
    settled = found.possible.sum(axis=1) == 1
    parts = []
    for place, owner in enumerate(groups.tolist()):
        here, known = np.flatnonzero(counts[:, place]), np.flatnonzero(having[:, place])
        share = np.minimum(counts[here, place][:, None] / having[known, place], 1.0)
        possible = found.possible[np.ix_(here, known)]
        high = np.where(possible, np.minimum(share, 1 / block[here][:, None]), 0.0)
        # Somebody's probabilities add up to one, so that the greatest is at least one over how many are possible.
        sure = np.where(possible & settled[here][:, None], share, 0.0).max(axis=0)
        low = np.maximum(1 / possible.sum(axis=0), sure)
        exact = share * found.shares[np.ix_(here, known)] if found.shares is not None else high
        best = values[here[exact.argmax(axis=0)]]
        parts.append((having[known, place], exact, low, high, np.full(len(known), owner), best))
    return _summed(parts, found)


def _of_others(
    found: Fillings, counts: Counts, having: Counts, block: Counts, groups: Codes, values: Codes
) -> Posteriors:
    """A person's value given that the other column determines it: the share of the maps."""
    possible = found.possible.T
    high = np.where(possible, 1 / block[:, None], 0.0)
    exact = found.shares.T if found.shares is not None else high
    low = 1 / possible.sum(axis=0)
    part = (having.sum(axis=1), exact, low, high, np.full(len(having), -1), values[exact.argmax(axis=0)])
    return _summed([part], found)


def _summed(parts: list[tuple[Any, ...]], found: Fillings) -> Posteriors:
    known = found.count is not None
    people, most, low, high, groups, values = zip(*parts, strict=True)
    greatest = np.concatenate([each.max(axis=0) for each in most])
    return Posteriors(
        np.concatenate(people), greatest,
        greatest if known else np.concatenate(low),
        greatest if known else np.concatenate([each.max(axis=0) for each in high]),
        np.concatenate(groups).astype(np.int32), np.concatenate(values),
        float(found.shares.max()) if found.shares is not None else 1.0, found.error, known, found.count,
    )  # fmt: skip


def _joined(parts: list[Posteriors]) -> Posteriors:
    """The posteriors of all components; maps of components combine freely."""
    arrays = [
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("people", "most", "low", "high", "groups", "values")
    ]
    maps: int | None = 1
    for part in parts:
        maps = None if maps is None or part.maps is None else maps * part.maps
    people, most, low, high, groups, values = arrays
    return Posteriors(
        people, most, low, high, groups, values, max(part.link for part in parts), max(part.error for part in parts),
        all(part.exact for part in parts), maps,
    )  # fmt: skip


def _by_worlds(people: People, factor: float, effort: Effort, run: Run) -> Posteriors:
    """Every world is looked at where there are few; else a walk among them, from the true one, gives an estimate."""
    owners, count = components(people)
    order = np.argsort(owners, kind="stable")
    edges = np.searchsorted(owners[order], np.arange(count + 1))
    left, parts, walked = effort.nodes, [], []
    for component in range(count):
        run.report(component / count / 2, "looking at worlds")
        chosen = order[edges[component] : edges[component + 1]]
        try:
            search = _Worlds(people.some(chosen), factor, left)
            parts.append(search.posteriors())
            left = search.nodes
        except _TooManyError:
            walked.append(chosen)
    if walked:
        parts.append(_walked(people.some(np.concatenate(walked)), factor, effort, run))
    return replace(_joined(parts), maps=None)


class _TooManyError(Exception):
    """There are more worlds than may be looked at."""


class _Worlds:
    """All worlds of a component: kind by kind of people, each kind with every share of what its group has left."""

    def __init__(self, people: People, factor: float, nodes: int) -> None:
        self.people, self.factor, self.nodes = people, factor, nodes
        found = _kinds(people)
        self.kinds: list[list[int]] = found.keys.T.tolist()
        self.sizes = found.counts
        self.left: dict[int, dict[int, int]] = {}
        for owner, value in zip(people.groups.tolist(), people.values.tolist(), strict=True):
            held = self.left.setdefault(owner, {})
            held[value] = held.get(value, 0) + 1
        if sum(1 + len(self.left[kind[0]]) for kind in self.kinds) > DEEPEST:
            raise _TooManyError
        self.pairs: dict[Any, dict[int, int]] = {}
        self.taken: list[dict[int, int]] = [{} for _ in self.kinds]
        self.total = 0.0
        self.seen: list[dict[int, float]] = [{} for _ in self.kinds]

    def posteriors(self) -> Posteriors:
        self._kind(0, 1)
        most = np.array([max(seen.values()) for seen in self.seen]) / self.total / self.sizes
        values = np.array([max(seen, key=lambda value: seen[value]) for seen in self.seen], np.int32)
        groups = np.array([kind[0] for kind in self.kinds], np.int32)
        return Posteriors(self.sizes, most, most, most, groups, values, 1.0)

    def _kind(self, kind: int, ways: int) -> None:
        if kind < len(self.kinds):
            left = self.left[self.kinds[kind][0]]
            self._value(kind, list(left.items()), int(self.sizes[kind]), ways * factorial(int(self.sizes[kind])))
            return
        broken = sum(sum(row.values()) - max(row.values()) for row in self.pairs.values() if row)
        weight = ways * (self.factor**broken if broken else 1.0)
        self.total += weight
        for seen, taken in zip(self.seen, self.taken, strict=True):
            for value, times in taken.items():
                seen[value] = seen.get(value, 0.0) + weight * times

    def _value(self, kind: int, open_: list[tuple[int, int]], wanted: int, ways: int) -> None:
        """Gives people of a kind, of whom so many want one, the first of the open values, then the others."""
        self.nodes -= 1
        if self.nodes < 0:
            raise _TooManyError
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
                if not self.factor and any(held for held_by, held in pairs.items() if held_by != column):
                    return
                pairs[column] = pairs.get(column, 0) + times
                self.taken[kind][value] = times
                self.left[owner][value] -= times
            self._value(kind, others, wanted - times, ways // factorial(times))
            if times:
                pairs[column] -= times
                del self.taken[kind][value]
                self.left[owner][value] += times


def _walked(people: People, factor: float, effort: Effort, run: Run) -> Posteriors:
    """Swaps between people of a group, from the true world on: the shares of what people of a kind had on the way.

    Where a dependency holds strictly the walk also passes worlds that break it, for it would get stuck otherwise, and
    counts only those that do not. Twins bound every probability; the estimate's error is twice the standard error
    between batches.
    """
    from shoal.kernels import worlds as kernel

    people = people.some(np.argsort(people.groups, kind="stable"))
    kinds = _kinds(people)
    assert kinds.index is not None
    values, others = int(people.values.max()) + 1, int(people.other.max()) + 1
    rows = (int(people.beside.max()) + 1) * values if people.determines else others
    wide = others if people.determines else values
    if max(rows * wide, BATCHES * len(kinds.counts) * values) > WIDEST:
        raise NotDefined("the dependency has too many different values for an estimate; name fewer columns in it")
    held, edges = people.values.copy(), np.flatnonzero(np.diff(people.groups)) + 1
    starts = np.concatenate([[0], edges, [len(held)]]).astype(np.int64)
    fixed = people.beside if people.determines else people.other
    arrays = kernel.People(starts, fixed, people.other, people.concerns, people.determines, values, people.only)
    table, broken = kernel.tabled(arrays, held, rows, wide), people.violations()
    seen, counted = np.zeros((BATCHES, len(kinds.counts), values), np.int64), np.zeros(BATCHES, np.int64)
    for batch in range(BATCHES):
        counted[batch], broken = kernel.walk(
            arrays, held, table, broken, factor or PASSING, not factor, max(1, effort.sweeps // BATCHES),
            effort.seed + batch, seen[batch], kinds.index, run.flag,
        )  # fmt: skip
        run.report(0.5 + (batch + 1) / BATCHES / 2, "walking among worlds")
    low, high = _bounds(people, kinds.keys[0])
    shares = seen.sum(axis=0) / max(int(counted.sum()), 1) / kinds.counts[:, None]
    most, error = np.minimum(shares.max(axis=1), high), 1.0
    if counted.min() >= FEWEST:
        means = np.array([seen[batch].max(axis=1).sum() / counted[batch] / len(held) for batch in range(BATCHES)])
        error = min(1.0, 2 * float(np.std(means, ddof=1)) / BATCHES**0.5)
    else:
        most = high
    best = shares.argmax(axis=1).astype(np.int32)
    return Posteriors(kinds.counts, most, low, high, kinds.keys[0], best, 1.0, error, exact=False)


def _bounded(people: People) -> Posteriors:
    """What twins alone say."""
    kinds = _kinds(people)
    low, high = _bounds(people, kinds.keys[0])
    unknown = np.full(len(high), -1, np.int32)
    return Posteriors(kinds.counts, high, low, high, kinds.keys[0], unknown, 1.0, 1.0, exact=False)


def _kinds(people: People) -> Groups:
    """The kinds of people that an attacker cannot tell apart: group, the known columns, whether it concerns them."""
    columns = [people.groups, people.beside, people.other, people.concerns.astype(np.int32)]
    return group(columns, [int(codes.max()) + 1 for codes in columns], index=True)


def _bounds(people: People, groups: Codes) -> tuple[Floats, Floats]:
    """What the most likely value has at least and at most, for kinds of people in these groups: one over the different
    values of the group, and one over the fewest twins there, unless the dependency names a value."""
    size = int(people.values.max()) + 1
    found = group([people.groups, people.values], [int(people.groups.max()) + 1, size])
    different = np.bincount(found.keys[0])
    low = 1 / different[groups]
    if people.only >= 0:
        return low, np.ones(len(groups))
    fewest = np.full(len(different), size, np.int64)
    np.minimum.at(fewest, found.keys[0], twins(found.keys[0], found.keys[1], found.counts, size)[found.keys[1]])
    return low, 1 / fewest[groups]
