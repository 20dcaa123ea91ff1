"""Composition: what several releases say together about the sensitive value of a person.

A world gives everybody a value so that every group of every release has the values that it is published with; all
worlds are equally likely. People with the same groups in all releases are of one *kind*, and are equally likely to have
a value. What a group has beyond the people who are known to be in it (people who left, counterfeits) counts as people
of whom nothing else is known.

A kind that is all of a group has that group's values; taking them out of its other groups may settle further kinds.
What is left falls apart into components that share no group: small ones are counted out, the others are estimated from
the shares of their groups as if the releases were independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.run import Run
from shoal.core.seen import Spread
from shoal.errors import NotDefined

State = tuple[int, ...]
ROUNDS = 100
"""How often kinds are settled, each time by what the last time settled; a longer chain is left open."""


@dataclass(frozen=True, eq=False, repr=False)
class Composed:
    """What is known together: `kinds[p]` is the kind of person `p`; the most likely value of a kind has probability
    `best`, which is `exact` or an estimate; `left` counts the values that no release rules out."""

    kinds: Codes
    sizes: Counts
    best: Floats
    exact: NDArray[np.bool_]
    left: Counts

    @property
    def share_exact(self) -> float:
        """The share of the people whose probabilities are exact."""
        return float(self.sizes[self.exact].sum()) / max(int(self.sizes.sum()), 1)


def composed(places: Codes, spreads: Sequence[Spread], *, nodes: int, independent: bool, run: Run) -> Composed:
    """What releases tell together about people who are in some group; `places[r, p]` is the group of person `p` in
    release `r`, negative: none. At most so many steps (`nodes`) of counting worlds are made; none where the releases
    are `independent` samples, in which people have the same value and groups nothing else in common."""
    found = group(list(places + 1), [int(row.max(initial=0)) + 2 for row in places], index=True)
    assert found.index is not None
    problem = _Problem.of(found.keys - 1, found.counts, spreads)
    best, left = problem.estimated()
    exact = left == 1
    if not independent:
        problem.exchange(best, exact)
        problem.settle(best, exact, run)
        problem.count_out(best, exact, nodes, run)
    return Composed(found.index, found.counts, best, exact, left)


def _ranges(begin: NDArray[Any], times: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers from each beginning on, so many of each."""
    found: NDArray[np.int64] = np.arange(int(times.sum())) + np.repeat(begin - np.cumsum(times) + times, times)
    return found


@dataclass(eq=False)
class _Problem:
    """Kinds of people, the groups that each is in, and what is still open of the values of each group.

    The first `people` kinds are of people, the others of whom nothing is known but the one group. `kinds[e]` is in
    `groups[e]`. Group `g` has value `s` as often as `published` says at the place where `keys` has `g * width + s`;
    those of group `g` stand from `starts[g]` on.
    """

    people: int
    sizes: Counts
    kinds: NDArray[np.int64]
    groups: NDArray[np.int64]
    keys: Counts
    published: Counts
    width: int

    def __post_init__(self) -> None:
        self.owners, self.values = self.keys // self.width, self.keys % self.width
        self.count = int(self.groups.max(initial=-1)) + 1
        self.starts = np.searchsorted(self.owners, np.arange(self.count + 1))
        self.remaining = self.published.copy()
        self.open = np.ones(len(self.sizes), dtype=np.bool_)

    @classmethod
    def of(cls, kinds: Codes, sizes: Counts, spreads: Sequence[Spread]) -> _Problem:
        texts = {text: at for at, text in enumerate(dict.fromkeys(text for each in spreads for text in each.texts))}
        width, first, people = max(len(texts), 1), 0, len(sizes)
        keys, lefts, rights, beyond = [], [], [], []
        for places, spread in zip(kinds, spreads, strict=True):
            translated = np.array([texts[text] for text in spread.texts], np.int64)
            keys.append((spread.owners.astype(np.int64) + first) * width + translated[spread.values])
            members, room = np.flatnonzero(places >= 0), spread.sizes
            known = np.bincount(places[members], weights=sizes[members], minlength=len(room)).astype(np.int64)
            if len(known) > len(room) or bool(np.any(known > room)):
                raise _contradiction()
            lefts.append(members)
            rights.append(places[members].astype(np.int64) + first)
            beyond.append(room - known)
            first += len(room)
        others = np.concatenate(beyond)
        unknown = np.flatnonzero(others)
        whole, counts = np.concatenate(keys), np.concatenate([each.counts for each in spreads])
        order = np.argsort(whole)
        return cls(
            people, np.append(sizes, others[unknown]), np.concatenate([*lefts, people + np.arange(len(unknown))]),
            np.concatenate([*rights, unknown]), whole[order], counts[order], width,
        )  # fmt: skip

    def _at(self, groups: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where groups have values, and whether they do."""
        wanted = groups * self.width + values
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return found, (self.keys[found] == wanted) & (groups >= 0)

    def estimated(self) -> tuple[Floats, Counts]:
        """For each kind of people, the probability of the most likely value by the shares of its groups, and how many
        values no group rules out: a value weighs as the product of its shares, over its share of everything once for
        each further group."""
        totals = np.bincount(self.owners, weights=self.published, minlength=self.count)
        prior = np.bincount(self.values, weights=self.published, minlength=self.width)
        prior = prior / max(prior.sum(), 1)
        shares, widths = self.published / totals[self.owners], np.diff(self.starts)
        mine = np.flatnonzero(self.kinds < self.people)
        order = mine[np.lexsort([widths[self.groups[mine]], self.kinds[mine]])]
        kinds, groups = self.kinds[order], self.groups[order]
        firsts = np.flatnonzero(np.append(True, np.diff(kinds) != 0))
        rank = np.arange(len(kinds)) - np.repeat(firsts, np.diff(np.append(firsts, len(kinds))))
        # An entry for each value of the narrowest group of a kind, which its other groups weigh or rule out.
        times = widths[groups[firsts]]
        owner, at = np.repeat(kinds[firsts], times), _ranges(self.starts[groups[firsts]], times)
        value, weight = self.values[at], shares[at]
        for step in range(1, int(rank.max(initial=0)) + 1):
            further = np.full(self.people, -1, np.int64)
            further[kinds[rank == step]] = groups[rank == step]
            where = further[owner]
            found, hit = self._at(where, value)
            weight = np.where(where < 0, weight, np.where(hit, weight * shares[found] / prior[value], 0.0))
        sums = np.bincount(owner, weights=weight, minlength=self.people)
        if bool(np.any(sums[kinds[firsts]] <= 0)):
            raise _contradiction()
        best, left = np.zeros(self.people), np.bincount(owner[weight > 0], minlength=self.people)
        np.maximum.at(best, owner, weight / np.where(sums > 0, sums, 1.0)[owner])
        return best, left.astype(np.int64)

    def exchange(self, best: Floats, exact: NDArray[np.bool_]) -> None:
        """Where all groups that hang together have the same values, each of them equally often, values can be
        exchanged for one another in all of them at once: everybody there has each with the same probability."""
        from shoal.kernels.worlds import components

        found, number = components(self.kinds, self.groups, len(self.sizes), self.count)
        part = found[len(self.sizes) :]  # of each group
        marks = np.random.default_rng(0).integers(1, 2**62, self.width, dtype=np.int64)
        sets, least, most = np.zeros(self.count, np.int64), np.full(self.count, 2**62), np.zeros(self.count, np.int64)
        np.add.at(sets, self.owners, marks[self.values])
        np.minimum.at(least, self.owners, self.published)
        np.maximum.at(most, self.owners, self.published)
        alike = np.ones(number, dtype=np.bool_)
        first = np.zeros(number, np.int64)
        first[part] = sets
        alike[part[(least != most) | (first[part] != sets)]] = False
        width = np.zeros(number, np.int64)
        width[part] = np.diff(self.starts)
        ours = np.flatnonzero(alike[found[: self.people]])
        best[ours], exact[ours] = 1 / width[found[ours]], True
        self.open[np.flatnonzero(alike[found[: len(self.sizes)]])] = False

    def settle(self, best: Floats, exact: NDArray[np.bool_], run: Run) -> None:
        """Gives every kind that is all that is open of a group the values that are left there, again and again."""
        for _ in range(ROUNDS):
            run.check()
            live = self.open[self.kinds]
            alone = np.bincount(self.groups[live], minlength=self.count) == 1
            chosen = np.flatnonzero(live & alone[self.groups])
            ready, first = np.unique(self.kinds[chosen], return_index=True)
            if not len(ready):
                return
            source = self.groups[chosen][first]
            times = np.diff(self.starts)[source]
            kind, at = np.repeat(ready, times), _ranges(self.starts[source], times)
            filled = self.remaining[at] > 0
            kind, value, count = kind[filled], self.values[at][filled], self.remaining[at][filled]
            if not np.array_equal(
                np.bincount(kind, weights=count, minlength=len(self.sizes))[ready], self.sizes[ready]
            ):
                raise _contradiction()
            self._take_out(ready, kind, value, count)
            self.open[ready] = False
            ours = kind < self.people
            here = ready[ready < self.people]
            best[here], exact[here] = 0.0, True
            np.maximum.at(best, kind[ours], count[ours] / self.sizes[kind[ours]])

    def _take_out(self, ready: Counts, kind: Counts, value: Counts, count: Counts) -> None:
        """Takes the values of settled kinds, which stand in their order, out of every group that these are in."""
        mine = np.isin(self.kinds, ready)
        begin = np.searchsorted(kind, self.kinds[mine])
        times = np.searchsorted(kind, self.kinds[mine], side="right") - begin
        entry = _ranges(begin, times)
        found, hit = self._at(np.repeat(self.groups[mine], times), value[entry])
        np.subtract.at(self.remaining, found, count[entry])
        if not hit.all() or int(self.remaining.min(initial=0)) < 0:
            raise _contradiction()

    def count_out(self, best: Floats, exact: NDArray[np.bool_], nodes: int, run: Run) -> None:
        """Counts the worlds of the components that are open, the small ones first, as long as steps are left."""
        from shoal.kernels.worlds import components

        live = self.open[self.kinds]
        kinds, groups = self.kinds[live], self.groups[live]
        if not len(kinds):
            return
        found, number = components(kinds, groups, len(self.sizes), self.count)
        part = found[kinds]
        sizes = np.bincount(part, minlength=number)
        order = np.lexsort([groups, kinds, part, sizes[part]])
        edges = np.flatnonzero(np.append(True, np.diff(part[order]) != 0))
        for begin, end in zip(edges.tolist(), [*edges[1:].tolist(), len(order)], strict=True):
            run.check()
            some = order[begin:end]
            worlds = _Worlds.of(self, kinds[some], groups[some])
            nodes -= worlds.count(nodes)
            if nodes <= 0:
                return
            for kind, share in worlds.shares():
                if kind < self.people:
                    best[kind], exact[kind] = share, True


class _Worlds:
    """The worlds of one component, counted kind by kind: a state is what is left of each value in each group."""

    def __init__(self, kinds: list[int], sizes: list[int], groups: list[list[int]], state: State, width: int) -> None:
        self.kinds, self.sizes, self.groups, self.width = kinds, sizes, groups, width
        self.layers: list[dict[State, int]] = [{state: 1}]

    @classmethod
    def of(cls, problem: _Problem, kinds: NDArray[np.int64], groups: NDArray[np.int64]) -> _Worlds:
        inside, places = np.unique(groups, return_inverse=True)
        entries = _ranges(problem.starts[inside], np.diff(problem.starts)[inside])
        values, columns = np.unique(problem.values[entries], return_inverse=True)
        state = np.zeros((len(inside), len(values)), np.int64)
        state[np.searchsorted(inside, problem.owners[entries]), columns] = problem.remaining[entries]
        members: dict[int, list[int]] = {}
        for kind, place in zip(kinds.tolist(), places.tolist(), strict=True):
            members.setdefault(kind, []).append(place)
        ordered = sorted(members, key=members.__getitem__)  # kinds of one group follow one another
        return cls(
            ordered, problem.sizes[ordered].tolist(), [members[kind] for kind in ordered],
            tuple(state.ravel().tolist()), len(values),
        )  # fmt: skip

    def count(self, nodes: int) -> int:
        """Counts every world; how many steps it took, or at least so many as were allowed."""
        steps = 0
        for at in range(len(self.kinds)):
            after: dict[State, int] = {}
            for state, ways in self.layers[-1].items():
                for _, times, then in self._moves(at, state):
                    after[then] = after.get(then, 0) + ways * times
                    steps += 1
                    if steps >= nodes:
                        return steps
            self.layers.append(after)
        if not self.layers[-1]:
            raise _contradiction()
        return steps

    def shares(self) -> Iterator[tuple[int, float]]:
        """For each kind the probability of its most likely value."""
        ahead: dict[State, int] = dict.fromkeys(self.layers[-1], 1)
        (total,) = self.layers[-1].values()  # in the end nothing is left of any value
        for at in range(len(self.kinds) - 1, -1, -1):
            having, before = [0] * self.width, {}
            for state, ways in self.layers[at].items():
                reaching = 0
                for taken, times, then in self._moves(at, state):
                    further = times * ahead.get(then, 0)
                    reaching += further
                    for value, count in enumerate(taken):
                        having[value] += count * ways * further
                before[state] = reaching
            ahead = before
            yield self.kinds[at], max(having) / (total * self.sizes[at])

    def _moves(self, at: int, state: State) -> Iterator[tuple[list[int], int, State]]:
        """How a kind can take its values: how many of each, in how many ways, and what is left then."""
        starts = [place * self.width for place in self.groups[at]]
        room = [min(state[start + value] for start in starts) for value in range(self.width)]
        for taken, times in _taken(room, self.sizes[at], sum(room)):
            left = list(state)
            for start in starts:
                for value, count in enumerate(taken):
                    left[start + value] -= count
            yield taken, times, tuple(left)


def _taken(room: list[int], size: int, total: int) -> Iterator[tuple[list[int], int]]:
    """The ways to take so many things, at most so many of each value, and how many orders each has."""
    if not room:
        if size == 0:
            yield [], 1
        return
    rest = total - room[0]
    for count in range(max(0, size - rest), min(room[0], size) + 1):
        for others, times in _taken(room[1:], size - count, rest):
            yield [count, *others], times * comb(size, count)


def _contradiction() -> NotDefined:
    return NotDefined("no table fits all of the releases: they are not of the same people, or values were changed")
