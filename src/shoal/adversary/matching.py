"""Matching: the groups of a release that a person may be in whose values are published column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.contracts.form import Distribution
from shoal.core.grouping import Codes, Counts, group, ranges
from shoal.core.hierarchy import Floats

BLOCK = 1 << 22
"""Pairs of people and groups that are looked at together."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Person `p` may be in `groups[i]` with probability `chances[i]`, for `i` from `starts[p]` up to `starts[p + 1]`;
    `entries[i]` is what the last of the matched columns has of the person there."""

    starts: Counts
    groups: Codes
    entries: NDArray[np.int64]
    chances: Floats


class _Lookup:
    """The entries of one column by their values, and by value and group."""

    def __init__(self, column: Distribution, people: Codes, groups: int) -> None:
        entries = column.leaves.shape[1]
        both = [np.concatenate(pair).astype(np.int32) for pair in zip(column.leaves, people, strict=True)]
        ids = group(both or [np.zeros(entries + people.shape[1], np.int32)], index=True).index
        self.groups, self.person = groups, ids[entries:].astype(np.int64)
        self.keys = ids[:entries].astype(np.int64) * groups + column.groups
        self.order = np.argsort(self.keys, kind="stable")
        self.keys = self.keys[self.order]
        self.firsts, self.lasts = (np.searchsorted(self.keys, (self.person + more) * groups) for more in (0, 1))

    def find(self, people: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """The entry of each person in a group; negative: it has none."""
        wanted = self.person[people] * self.groups + groups
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        hit = self.keys[at] == wanted if len(self.keys) else np.zeros(len(wanted), dtype=np.bool_)
        return np.where(hit, self.order[at] if len(self.keys) else -1, -1)


def entries_of(column: Distribution, groups: Codes, people: Codes) -> NDArray[np.int64]:
    """The entry that each of some people, whose group is known, has in a column; negative: there is none."""
    lookup = _Lookup(column, people, int(max(column.groups.max(initial=0), groups.max(initial=0))) + 1)
    return lookup.find(np.arange(people.shape[1]), groups.astype(np.int64))


def match(columns: Sequence[tuple[Sequence[int], Distribution]], sizes: Counts, people: Codes) -> Matches:
    """The groups that have a person's values in every column, by how many records there would have them all if the
    columns had nothing to do with one another.

    A column comes with the rows of `people` that it is about; `sizes` has the records of each group.
    """
    count = people.shape[1]
    lookups = [_Lookup(column, people[list(places)], len(sizes)) for places, column in columns]
    first = min(range(len(columns)), key=lambda at: int((lookups[at].lasts - lookups[at].firsts).sum()))
    pairs = lookups[first].lasts - lookups[first].firsts
    edges = [0, *np.flatnonzero(np.diff(np.cumsum(pairs) // BLOCK)).tolist(), count]
    blocks = [_some(columns, lookups, first, sizes, np.arange(begin, end)) for begin, end in pairwise(edges)]
    persons, groups, entries, weights = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    totals = np.bincount(persons, weights=weights, minlength=count)
    starts = np.searchsorted(persons, np.arange(count + 1)).astype(np.int64)
    return Matches(starts, groups.astype(np.int32), entries, weights / totals[persons])


def _some(
    columns: Sequence[tuple[Sequence[int], Distribution]],
    lookups: Sequence[_Lookup],
    first: int,
    sizes: Counts,
    people: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Pairs of some people and groups, what the last column has there, and what they weigh."""
    lookup, narrowest = lookups[first], columns[first][1]
    times = (lookup.lasts - lookup.firsts)[people]
    persons = np.repeat(people, times)
    entries = lookup.order[ranges(lookup.firsts[people], times)]
    groups, weights = narrowest.groups[entries].astype(np.int64), narrowest.counts[entries].astype(np.float64)
    for place, (_, other) in enumerate(columns):
        if place == first:
            continue
        there = lookups[place].find(persons, groups)
        hit = there >= 0
        persons, groups, there, entries = persons[hit], groups[hit], there[hit], entries[hit]
        weights = weights[hit] * other.counts[there] / sizes[groups]
        if place == len(columns) - 1:
            entries = there
    return persons, groups, entries, weights
