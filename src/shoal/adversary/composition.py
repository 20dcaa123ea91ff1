"""Composition: what several releases say together about the sensitive value of a person.

A world gives everybody a value so that every group of every release has the values that it is published with; all
worlds are equally likely. People with the same groups in all releases are of one *kind*, and are equally likely to have
a value. What a group has beyond the people who are known to be in it (people who left, counterfeits) counts as people
of whom nothing else is known.

Kinds and groups fall apart into *components* that share nothing, and each is judged on its own. A kind that is all of a
group has that group's values; taking them out of its other groups may settle further kinds. What is left of a component
is counted out where it is small. Of a larger one it is known which values no group of a person rules out; how likely
they are is estimated from the shares of the groups as if the releases were independent. A component in which no world
fits contradicts itself, because values were changed; only what its people's own groups rule out is known there.
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
from shoal.core.release_history import Beside, Seen, Spread
from shoal.core.run import Run
from shoal.parsing.identifiers import one_spelling

State = tuple[int, ...]
Flags = NDArray[np.bool_]
ROUNDS = 100
"""How often kinds are settled, each time by what the last time settled; a longer chain is left open."""
ENTRIES = 1 << 22
"""Pairs of kinds and values that are looked at together, which bounds the memory of estimates."""
CELLS = 1 << 24
"""Numbers that the states of one count of worlds may have together, which bounds its memory."""
WIDEST = 300
"""Values of a component up to which worlds are counted."""
SYMMETRIC = 2_000
"""Steps of counting where all values can be exchanged for one another: they only show that some world fits."""
TOGETHER = 50
"""How many times the steps of one component all of them may take together."""


@dataclass(frozen=True, eq=False, repr=False)
class Composed:
    """What is known together: `kinds[p]` is the kind of person `p`; the most likely value of a kind has probability
    `best`, which is `exact` or an estimate. `left` counts the values that are possible, or, where it is not exact, that
    no group of the kind rules out. Kinds of a component in which no world fits are `contradicted`."""

    kinds: Codes
    sizes: Counts
    best: Floats
    exact: Flags
    left: Counts
    contradicted: Flags

    @property
    def share_exact(self) -> float:
        """The share of the people whose probabilities are exact."""
        return float(self.sizes[self.exact].sum()) / max(int(self.sizes.sum()), 1)


def composed(places: Codes, spreads: Sequence[Spread], *, nodes: int, independent: bool, run: Run) -> Composed:
    """What releases tell together about people who are in some group; `places[r, p]` is the group of person `p` in
    release `r`, negative: none. At most so many steps (`nodes`) of counting worlds are made in a component; none where
    the releases are `independent` samples, in which people have the same value and groups nothing else in common. A
    run whose time is up leaves the rest estimated."""
    found = group(list(places + 1), [int(row.max(initial=0)) + 2 for row in places], index=True)
    assert found.index is not None
    problem = _Problem.of(found.keys - 1, found.counts, spreads)
    estimated, possible = problem.estimated(run)
    best, left, exact = estimated.copy(), possible.copy(), possible == 1
    if independent:
        return Composed(found.index, found.counts, best, exact, left, possible == 0)
    problem.break_at(np.flatnonzero(possible == 0))
    learned = _Learned(best, exact, left)
    symmetric = problem.symmetric()
    problem.settle(learned, run)
    problem.count_out(learned, symmetric, nodes, run)
    problem.exchange(learned, symmetric)
    contradicted = problem.broken[problem.parts[: problem.people]]
    best[contradicted], left[contradicted] = estimated[contradicted], possible[contradicted]
    exact[contradicted] = False
    return Composed(found.index, found.counts, best, exact, left, contradicted)


@dataclass(frozen=True, eq=False, repr=False)
class Together:
    """What releases tell together, and each of them alone, about one sensitive attribute of people; `shown` says who is
    in one of these releases. It is how likely the most likely value is (`risks`, `alone[r]`) and how many values are
    left (`left`, `left_alone[r]`). What is not `exact` is estimated, and `left` an upper bound then; where values
    changed, people are `contradicted`."""

    shown: Flags
    places: Codes
    risks: Floats
    exact: Flags
    left: Counts
    contradicted: Flags
    alone: Floats
    left_alone: Counts


def together(
    name: str, releases: Sequence[Seen], people: Beside, *, nodes: int, run: Run, independent: bool = False
) -> Together:
    """What releases that have a sensitive attribute tell about it; `people` are theirs, by groups."""
    spreads = [each.values[name] for each in releases]
    shown = people.shown
    places = people.places[:, shown]
    found = composed(places, spreads, nodes=nodes, independent=independent, run=run)
    alone, left_alone = np.zeros(places.shape), np.zeros(places.shape, np.int64)
    for row, (where, spread) in enumerate(zip(places, spreads, strict=True)):
        here = where >= 0
        alone[row, here], left_alone[row, here] = _greatest_shares(spread)[where[here]], spread.widths[where[here]]
    risks = found.best[found.kinds]
    changed = found.left[found.kinds] == 0  # who sees that believes the release that says most
    risks[changed] = alone[:, changed].max(axis=0)
    return Together(
        shown, places, risks, found.exact[found.kinds], found.left[found.kinds], found.contradicted[found.kinds],
        alone, left_alone,
    )  # fmt: skip


def _greatest_shares(spread: Spread) -> Floats:
    """The share of the most frequent value of each group."""
    most = np.zeros(len(spread.sizes))
    np.maximum.at(most, spread.owners, spread.counts / spread.sizes[spread.owners])
    return most


def _ranges(begin: NDArray[Any], times: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers from each beginning on, so many of each."""
    found: NDArray[np.int64] = np.arange(int(times.sum())) + np.repeat(begin - np.cumsum(times) + times, times)
    return found


def _meanings(spreads: Sequence[Spread]) -> list[dict[str | None, int]]:
    """A number for each value of each release, the same for what is the same value in another spelling; spellings make
    a difference where one release tells two of them apart."""
    alike = [[text if text is None else one_spelling(text) for text in spread.texts] for spread in spreads]
    if any(len(set(texts)) < len(texts) for texts in alike):
        alike = [list(spread.texts) for spread in spreads]
    numbers = {text: at for at, text in enumerate(dict.fromkeys(text for texts in alike for text in texts))}
    return [
        {text: numbers[spelled] for text, spelled in zip(spread.texts, texts, strict=True)}
        for spread, texts in zip(spreads, alike, strict=True)
    ]


@dataclass(frozen=True)
class _Learned:
    """What is known of each kind of people so far, to be written over."""

    best: Floats
    exact: Flags
    left: Counts


@dataclass(eq=False)
class _Problem:
    """Kinds of people, the groups that each is in, and what is still open of the values of each group.

    The first `people` kinds are of people, the others of whom nothing is known but the one group. `kinds[e]` is in
    `groups[e]`. Group `g` has value `s` as often as `published` says at the place where `keys` has `g * width + s`;
    those of group `g` stand from `starts[g]` on. `overfull` groups have more people than values.
    """

    people: int
    sizes: Counts
    kinds: NDArray[np.int64]
    groups: NDArray[np.int64]
    keys: Counts
    published: Counts
    width: int
    overfull: NDArray[np.int64]

    def __post_init__(self) -> None:
        from shoal.kernels.worlds import components

        self.owners, self.values = self.keys // self.width, self.keys % self.width
        self.count = max(int(self.groups.max(initial=-1)), int(self.owners.max(initial=-1))) + 1
        self.starts = np.searchsorted(self.owners, np.arange(self.count + 1))
        self.remaining = self.published.copy()
        self.open = np.ones(len(self.sizes), dtype=np.bool_)
        # The component of each kind, then of each group.
        self.parts, number = components(self.kinds, self.groups, len(self.sizes), self.count)
        self.broken = np.zeros(number, dtype=np.bool_)
        self.break_at(len(self.sizes) + self.overfull)

    @classmethod
    def of(cls, kinds: Codes, sizes: Counts, spreads: Sequence[Spread]) -> _Problem:
        meanings = _meanings(spreads)
        width = 1 + max((number for each in meanings for number in each.values()), default=0)
        first, people = 0, len(sizes)
        keys, lefts, rights, beyond = [], [], [], []
        for places, spread, numbers in zip(kinds, spreads, meanings, strict=True):
            translated = np.array([numbers[text] for text in spread.texts], np.int64)
            keys.append((spread.owners.astype(np.int64) + first) * width + translated[spread.values])
            members = np.flatnonzero(places >= 0)
            room = np.zeros(max(len(spread.sizes), int(places.max(initial=-1)) + 1), np.int64)
            room[: len(spread.sizes)] = spread.sizes
            known = np.bincount(places[members], weights=sizes[members], minlength=len(room)).astype(np.int64)
            lefts.append(members)
            rights.append(places[members].astype(np.int64) + first)
            beyond.append(room - known)
            first += len(room)
        others = np.concatenate(beyond)
        unknown = np.flatnonzero(others > 0)
        whole, counts = np.concatenate(keys), np.concatenate([each.counts for each in spreads])
        order = np.argsort(whole)
        return cls(
            people, np.append(sizes, others[unknown]), np.concatenate([*lefts, people + np.arange(len(unknown))]),
            np.concatenate([*rights, unknown]), whole[order], counts[order], width, np.flatnonzero(others < 0),
        )  # fmt: skip

    def break_at(self, nodes: NDArray[Any]) -> None:
        """Takes down that no world fits where these kinds, or groups after all kinds, are; nothing there is open any
        more."""
        if len(nodes):
            self.broken[self.parts[nodes]] = True
            self.open &= ~self.broken[self.parts[: len(self.sizes)]]

    def _at(self, groups: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.int64], Flags]:
        """Where groups have values, and whether they do."""
        wanted = groups * self.width + values
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return found, (self.keys[found] == wanted) & (groups >= 0)

    def estimated(self, run: Run) -> tuple[Floats, Counts]:
        """For each kind of people, the probability of the most likely value by the shares of its groups, and how many
        values no group rules out: a value weighs as the product of its shares, over its share of everything once for
        each further group."""
        totals = np.maximum(np.bincount(self.owners, weights=self.published, minlength=self.count), 1)
        prior = np.bincount(self.values, weights=self.published, minlength=self.width)
        prior = prior / max(prior.sum(), 1)
        shares, widths = self.published / totals[self.owners], np.diff(self.starts)
        mine = np.flatnonzero(self.kinds < self.people)
        order = mine[np.lexsort([widths[self.groups[mine]], self.kinds[mine]])]
        groups = self.groups[order]
        # The groups of kind `k` stand from `first[k]` on, the one with the fewest different values first.
        first = np.searchsorted(self.kinds[order], np.arange(self.people + 1))
        best, left = np.zeros(self.people), np.zeros(self.people, np.int64)
        narrow = widths[groups[first[:-1]]]
        ends = np.cumsum(narrow)
        begin = 0
        while begin < self.people:
            end = max(begin + 1, int(np.searchsorted(ends, (ends[begin - 1] if begin else 0) + ENTRIES, side="right")))
            run.report(0.5 * begin / self.people, "comparing releases")
            # An entry for each value of the narrowest group of a kind, which its other groups weigh or rule out.
            owner = np.repeat(np.arange(end - begin), narrow[begin:end])
            at = _ranges(self.starts[groups[first[begin:end]]], narrow[begin:end])
            value, weight = self.values[at], shares[at]
            for step in range(1, int(np.diff(first[begin : end + 1]).max(initial=0))):
                further = first[begin:end] + step
                where = np.where(further < first[begin + 1 : end + 1], groups[np.minimum(further, len(groups) - 1)], -1)
                found, hit = self._at(where[owner], value)
                weighed = np.where(hit, weight * shares[found] / prior[value], 0.0)
                weight = np.where(where[owner] < 0, weight, weighed)
            sums = np.bincount(owner, weights=weight, minlength=end - begin)
            np.maximum.at(best, begin + owner, weight / np.where(sums > 0, sums, 1.0)[owner])
            left[begin:end] = np.bincount(owner[weight > 0], minlength=end - begin)
            begin = end
        return best, left

    def symmetric(self) -> Flags:
        """Of each component, whether all its groups have the same values, each of them equally often: values can be
        exchanged for one another in all of them at once then, so that everybody has each with the same probability."""
        part = self.parts[len(self.sizes) :]  # of each group
        marks = np.random.default_rng(0).integers(1, 2**62, self.width, dtype=np.int64)
        sets, least, most = np.zeros(self.count, np.int64), np.full(self.count, 2**62), np.zeros(self.count, np.int64)
        np.add.at(sets, self.owners, marks[self.values])
        np.minimum.at(least, self.owners, self.published)
        np.maximum.at(most, self.owners, self.published)
        alike = np.ones(len(self.broken), dtype=np.bool_)
        first = np.zeros(len(self.broken), np.int64)
        first[part] = sets
        alike[part[(least != most) | (first[part] != sets)]] = False
        return alike

    def exchange(self, learned: _Learned, symmetric: Flags) -> None:
        """Gives the kinds of symmetric components that are still open each value with the same probability."""
        width = np.zeros(len(self.broken), np.int64)
        width[self.parts[len(self.sizes) :]] = np.diff(self.starts)
        mine = self.parts[: self.people]
        ours = np.flatnonzero(symmetric[mine] & self.open[: self.people])
        learned.best[ours], learned.exact[ours] = 1 / width[mine[ours]], True
        learned.left[ours] = width[mine[ours]]

    def settle(self, learned: _Learned, run: Run) -> None:
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
            self._take_out(ready, kind, value, count)
            self.open[ready] = False
            ours, here = kind < self.people, ready[ready < self.people]
            learned.best[here], learned.exact[here] = 0.0, True
            np.maximum.at(learned.best, kind[ours], count[ours] / self.sizes[kind[ours]])
            learned.left[here] = np.bincount(kind[ours], minlength=self.people)[here]

    def _take_out(self, ready: Counts, kind: Counts, value: Counts, count: Counts) -> None:
        """Takes the values of settled kinds, which stand in their order, out of every group that these are in."""
        settled = np.zeros(len(self.sizes), dtype=np.bool_)
        settled[ready] = True
        mine = settled[self.kinds]
        begin = np.searchsorted(kind, self.kinds[mine])
        times = np.searchsorted(kind, self.kinds[mine], side="right") - begin
        entry, groups = _ranges(begin, times), np.repeat(self.groups[mine], times)
        found, hit = self._at(groups, value[entry])
        np.subtract.at(self.remaining, found[hit], count[entry[hit]])
        lacking = np.concatenate([groups[~hit], self.owners[self.remaining < 0]])
        self.break_at(len(self.sizes) + lacking)

    def count_out(self, learned: _Learned, symmetric: Flags, nodes: int, run: Run) -> None:
        """Counts the worlds of the components that are open, the small ones first, as long as steps are left."""
        from shoal.kernels.worlds import components

        live = self.open[self.kinds]
        kinds, groups = self.kinds[live], self.groups[live]
        if not len(kinds) or not nodes:
            return
        found, number = components(kinds, groups, len(self.sizes), self.count)
        part = found[kinds]
        sizes = np.bincount(part, minlength=number)
        order = np.lexsort([groups, kinds, part, sizes[part]])
        edges = np.flatnonzero(np.append(True, np.diff(part[order]) != 0)).tolist()
        total = TOGETHER * nodes
        for number, (begin, end) in enumerate(zip(edges, [*edges[1:], len(order)], strict=True)):
            if number % 64 == 0:
                run.report(0.5 + 0.5 * begin / len(order), "counting what fits all releases")
            if run.expired or total <= 0:
                return
            some = order[begin:end]
            whole = int(self.parts[kinds[some[0]]])
            if self.broken[whole]:
                continue
            worlds = _Worlds.of(self, kinds[some], groups[some])
            if worlds is None:
                continue
            steps, counted = worlds.count(SYMMETRIC if symmetric[whole] else nodes, run)
            total -= steps
            if counted and not worlds.layers[-1]:
                self.break_at(kinds[some[:1]])
            elif counted:
                for kind, share, left in worlds.shares():
                    self.open[kind] = False
                    if kind < self.people:
                        learned.best[kind], learned.left[kind], learned.exact[kind] = share, left, True


class _Worlds:
    """The worlds of one component, counted kind by kind: a state is what is left of each value in each group."""

    def __init__(self, kinds: list[int], sizes: list[int], groups: list[list[int]], state: State, width: int) -> None:
        self.kinds, self.sizes, self.groups, self.width = kinds, sizes, groups, width
        self.layers: list[dict[State, int]] = [{state: 1}]

    @classmethod
    def of(cls, problem: _Problem, kinds: NDArray[np.int64], groups: NDArray[np.int64]) -> _Worlds | None:
        """The worlds of the kinds that are in groups; None where they are too wide to be counted."""
        inside, places = np.unique(groups, return_inverse=True)
        entries = _ranges(problem.starts[inside], np.diff(problem.starts)[inside])
        values, columns = np.unique(problem.values[entries], return_inverse=True)
        if len(values) > WIDEST or len(inside) * len(values) * len(np.unique(kinds)) > CELLS:
            return None
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

    def count(self, nodes: int, run: Run) -> tuple[int, bool]:
        """Counts every world: how many steps it took, and whether it came to an end with as many as are allowed."""
        (state,) = self.layers[0]
        each, steps, cells = 1 + len(state) // 64, 0, 0
        for at in range(len(self.kinds)):
            after: dict[State, int] = {}
            for before, ways in self.layers[-1].items():
                run.check()
                for _, times, then in self._moves(at, before):
                    known = after.get(then)
                    after[then] = (known or 0) + ways * times
                    cells += 0 if known else len(state)
                    steps += each
                    if steps >= nodes or cells >= CELLS:
                        return steps, False
            self.layers.append(after)
        return steps, True

    def shares(self) -> Iterator[tuple[int, float, int]]:
        """For each kind the probability of its most likely value, and how many values are possible."""
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
            yield self.kinds[at], max(having) / (total * self.sizes[at]), sum(ways > 0 for ways in having)

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
