"""Group memberships: which kinds of people are in which groups of several releases, and the values of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.world_count import CELLS, WorldCount
from shoal.core.grouping import Codes, Counts, ranges
from shoal.core.hierarchy import Floats
from shoal.core.release_history import PublishedValues
from shoal.core.run import Run
from shoal.parsing.identifiers import one_spelling

Flags = NDArray[np.bool_]
ROUNDS = 100
"""How often kinds are settled, each time by what the last time settled; a longer chain is left open."""
ENTRIES = 1 << 22
"""Pairs of kinds and values that are looked at together, which bounds the memory of estimates."""
WIDEST = 300
"""Values of a component up to which worlds are counted."""
SYMMETRIC = 2_000
"""Steps of counting where all values can be exchanged for one another: they only show that some world fits."""
TOGETHER = 50
"""How many times the steps of one component all of them may take together."""


@dataclass(frozen=True)
class Beliefs:
    """What is known of each kind of people so far, to be written over: the most likely value has probability `best`,
    which is `exact` or an estimate, and so many values are `left`."""

    best: Floats
    exact: Flags
    left: Counts


@dataclass(eq=False)
class GroupMemberships:
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
        self.component_of, number = components(self.kinds, self.groups, len(self.sizes), self.count)
        self.broken = np.zeros(number, dtype=np.bool_)
        self.break_at(len(self.sizes) + self.overfull)

    @classmethod
    def of(cls, kinds: Codes, sizes: Counts, columns: Sequence[PublishedValues]) -> GroupMemberships:
        meanings = _meanings(columns)
        width = 1 + max((number for each in meanings for number in each.values()), default=0)
        first, people = 0, len(sizes)
        keys, lefts, rights, beyond = [], [], [], []
        for places, column, numbers in zip(kinds, columns, meanings, strict=True):
            translated = np.array([numbers[text] for text in column.texts], np.int64)
            keys.append((column.owners.astype(np.int64) + first) * width + translated[column.values])
            members = np.flatnonzero(places >= 0)
            room = np.zeros(max(len(column.sizes), int(places.max(initial=-1)) + 1), np.int64)
            room[: len(column.sizes)] = column.sizes
            known = np.bincount(places[members], weights=sizes[members], minlength=len(room)).astype(np.int64)
            lefts.append(members)
            rights.append(places[members].astype(np.int64) + first)
            beyond.append(room - known)
            first += len(room)
        others = np.concatenate(beyond)
        unknown = np.flatnonzero(others > 0)
        whole, counts = np.concatenate(keys), np.concatenate([each.counts for each in columns])
        order = np.argsort(whole)
        return cls(
            people=people,
            sizes=np.append(sizes, others[unknown]),
            kinds=np.concatenate([*lefts, people + np.arange(len(unknown))]),
            groups=np.concatenate([*rights, unknown]),
            keys=whole[order],
            published=counts[order],
            width=width,
            overfull=np.flatnonzero(others < 0),
        )

    def break_at(self, nodes: NDArray[Any]) -> None:
        """Takes down that no world fits where these kinds, or groups after all kinds, are; nothing there is open any
        more."""
        if len(nodes):
            self.broken[self.component_of[nodes]] = True
            self.open &= ~self.broken[self.component_of[: len(self.sizes)]]

    def _at(self, groups: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.int64], Flags]:
        """Where groups have values, and whether they do."""
        wanted = groups * self.width + values
        entries = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return entries, (self.keys[entries] == wanted) & (groups >= 0)

    def estimate(self, run: Run) -> tuple[Floats, Counts]:
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
            at = ranges(self.starts[groups[first[begin:end]]], narrow[begin:end])
            value, weight = self.values[at], shares[at]
            for step in range(1, int(np.diff(first[begin : end + 1]).max(initial=0))):
                further = first[begin:end] + step
                where = np.where(further < first[begin + 1 : end + 1], groups[np.minimum(further, len(groups) - 1)], -1)
                entry, hit = self._at(where[owner], value)
                weighed = np.where(hit, weight * shares[entry] / prior[value], 0.0)
                weight = np.where(where[owner] < 0, weight, weighed)
            sums = np.bincount(owner, weights=weight, minlength=end - begin)
            np.maximum.at(best, begin + owner, weight / np.where(sums > 0, sums, 1.0)[owner])
            left[begin:end] = np.bincount(owner[weight > 0], minlength=end - begin)
            begin = end
        return best, left

    def symmetric(self) -> Flags:
        """Of each component, whether all its groups have the same values, each of them equally often: values can be
        exchanged for one another in all of them at once then, so that everybody has each with the same probability."""
        part = self.component_of[len(self.sizes) :]  # of each group
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

    def exchange(self, beliefs: Beliefs, symmetric: Flags) -> None:
        """Gives the kinds of symmetric components that are still open each value with the same probability."""
        width = np.zeros(len(self.broken), np.int64)
        width[self.component_of[len(self.sizes) :]] = np.diff(self.starts)
        mine = self.component_of[: self.people]
        ours = np.flatnonzero(symmetric[mine] & self.open[: self.people])
        beliefs.best[ours], beliefs.exact[ours] = 1 / width[mine[ours]], True
        beliefs.left[ours] = width[mine[ours]]

    def settle(self, beliefs: Beliefs, run: Run) -> None:
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
            kind, at = np.repeat(ready, times), ranges(self.starts[source], times)
            filled = self.remaining[at] > 0
            kind, value, count = kind[filled], self.values[at][filled], self.remaining[at][filled]
            self._take_out(ready, kind, value, count)
            self.open[ready] = False
            ours, here = kind < self.people, ready[ready < self.people]
            beliefs.best[here], beliefs.exact[here] = 0.0, True
            np.maximum.at(beliefs.best, kind[ours], count[ours] / self.sizes[kind[ours]])
            beliefs.left[here] = np.bincount(kind[ours], minlength=self.people)[here]

    def _take_out(self, ready: Counts, kind: Counts, value: Counts, count: Counts) -> None:
        """Takes the values of settled kinds, which stand in their order, out of every group that these are in."""
        settled = np.zeros(len(self.sizes), dtype=np.bool_)
        settled[ready] = True
        mine = settled[self.kinds]
        begin = np.searchsorted(kind, self.kinds[mine])
        times = np.searchsorted(kind, self.kinds[mine], side="right") - begin
        entry, groups = ranges(begin, times), np.repeat(self.groups[mine], times)
        at, hit = self._at(groups, value[entry])
        np.subtract.at(self.remaining, at[hit], count[entry[hit]])
        lacking = np.concatenate([groups[~hit], self.owners[self.remaining < 0]])
        self.break_at(len(self.sizes) + lacking)

    def count_out(self, beliefs: Beliefs, symmetric: Flags, nodes: int, run: Run) -> None:
        """Counts the worlds of the components that are open, the small ones first, as long as steps are left."""
        from shoal.kernels.worlds import components

        live = self.open[self.kinds]
        kinds, groups = self.kinds[live], self.groups[live]
        if not len(kinds) or not nodes:
            return
        component_of, number = components(kinds, groups, len(self.sizes), self.count)
        part = component_of[kinds]
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
            component = int(self.component_of[kinds[some[0]]])
            worlds = None if self.broken[component] else self._worlds(kinds[some], groups[some])
            if worlds is None:
                continue
            steps, layers = worlds.layers(SYMMETRIC if symmetric[component] else nodes, run)
            total -= steps
            if layers is None:
                continue
            if not layers[-1]:
                self.break_at(kinds[some[:1]])
                continue
            for kind, share, left in worlds.shares(layers):
                self.open[kind] = False
                if kind < self.people:
                    beliefs.best[kind], beliefs.left[kind], beliefs.exact[kind] = share, left, True

    def _worlds(self, kinds: NDArray[np.int64], groups: NDArray[np.int64]) -> WorldCount | None:
        """The worlds of the kinds that are in groups; None where they are too wide to be counted."""
        inside, places = np.unique(groups, return_inverse=True)
        entries = ranges(self.starts[inside], np.diff(self.starts)[inside])
        values, columns = np.unique(self.values[entries], return_inverse=True)
        if len(values) > WIDEST or len(inside) * len(values) * len(np.unique(kinds)) > CELLS:
            return None
        counts = np.zeros((len(inside), len(values)), np.int64)
        counts[np.searchsorted(inside, self.owners[entries]), columns] = self.remaining[entries]
        members: dict[int, list[int]] = {}
        for kind, place in zip(kinds.tolist(), places.tolist(), strict=True):
            members.setdefault(kind, []).append(place)
        ordered = sorted(members, key=members.__getitem__)  # kinds of one group follow one another
        sizes, remaining = self.sizes[ordered].tolist(), tuple(counts.ravel().tolist())
        return WorldCount(ordered, sizes, [members[kind] for kind in ordered], remaining, len(values))


def _meanings(columns: Sequence[PublishedValues]) -> list[dict[str | None, int]]:
    """A number for each value of each release, the same for what is the same value in another spelling; spellings make
    a difference where one release tells two of them apart."""
    alike = [[text if text is None else one_spelling(text) for text in column.texts] for column in columns]
    if any(len(set(texts)) < len(texts) for texts in alike):
        alike = [list(column.texts) for column in columns]
    numbers = {text: at for at, text in enumerate(dict.fromkeys(text for texts in alike for text in texts))}
    return [
        {text: numbers[spelled] for text, spelled in zip(column.texts, texts, strict=True)}
        for column, texts in zip(columns, alike, strict=True)
    ]
