"""Posteriors: what an attacker believes who knows a release, a dependency and its other columns of everybody.

An attacker knows who is in which group of a release, which values the group has, and the other columns of the
dependency of everybody. All worlds that fit are equally likely; what is known to hold almost always makes a world less
likely with every record that breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.twins import twins
from shoal.core.grouping import Codes, Counts, Groups, group
from shoal.core.hierarchy import Floats


@dataclass(frozen=True, eq=False)
class KnownPeople:
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

    def some(self, chosen: NDArray[Any]) -> KnownPeople:
        """Some of the people."""
        names = ("groups", "values", "other", "beside", "concerns")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    def kinds(self) -> Groups:
        """The kinds of people that an attacker cannot tell apart: group, known columns, whether it concerns them."""
        return group([self.groups, self.beside, self.other, self.concerns.astype(np.int32)], index=True)

    def components(self) -> tuple[Codes, int]:
        """The component of each person: groups that share a value of the determining side are one."""
        from shoal.kernels.worlds import components

        joining = self.values if self.determines else self.other
        parts, _ = components(joining, self.groups, int(joining.max()) + 1, int(self.groups.max()) + 1)
        owners, numbers = np.unique(parts[joining], return_inverse=True)
        return numbers.astype(np.int32), len(owners)

    def by_component(self) -> Iterator[tuple[float, NDArray[Any]]]:
        """The people of each component, and the share of the components that came before it."""
        owners, count = self.components()
        order = np.argsort(owners, kind="stable")
        edges = np.searchsorted(owners[order], np.arange(count + 1))
        for component in range(count):
            yield component / count, order[edges[component] : edges[component + 1]]

    def bounds(self, groups: Codes) -> tuple[Floats, Floats]:
        """What the most likely value has at least and at most, for kinds of people in these groups: one over the
        different values of the group, and one over the fewest twins there, unless the dependency names a value."""
        size = int(self.values.max()) + 1
        pairs = group([self.groups, self.values])
        different = np.bincount(pairs.keys[0])
        low = 1 / different[groups]
        if self.only >= 0:
            return low, np.ones(len(groups))
        fewest = np.full(len(different), size, np.int64)
        np.minimum.at(fewest, pairs.keys[0], twins(pairs.keys[0], pairs.keys[1], pairs.counts, size)[pairs.keys[1]])
        return low, 1 / fewest[groups]


def violations(determinant: list[Codes], dependent: Codes) -> int:
    """How many records at least have to go so that equal determinants have equal dependents.

    Example:
        >>> violations([np.array([0, 0, 0, 1], np.int32)], np.array([5, 5, 6, 6], np.int32))
        1
    """
    if not len(dependent):
        return 0
    pairs = group([*determinant, dependent])
    fresh = np.append(True, np.any(np.diff(pairs.keys[:-1], axis=1) != 0, axis=0))
    return len(dependent) - int(np.maximum.reduceat(pairs.counts, np.flatnonzero(fresh)).sum())


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
    link: float = 1.0
    error: float = 0.0
    exact: bool = True
    maps: int | None = None

    @classmethod
    def joined(cls, parts: Sequence[Posteriors]) -> Posteriors:
        """The posteriors of all components; maps of components combine freely."""
        names = ("people", "most", "low", "high", "groups", "values")
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        maps: int | None = 1
        for part in parts:
            maps = None if maps is None or part.maps is None else maps * part.maps
        return cls(
            **arrays,
            link=max(part.link for part in parts),
            error=max(part.error for part in parts),
            exact=all(part.exact for part in parts),
            maps=maps,
        )

    @property
    def mean(self) -> float:
        """The mean over people of the probability of their most likely value."""
        return float(self.people @ self.most / max(int(self.people.sum()), 1))


def plain_posteriors(people: KnownPeople) -> Floats:
    """For each person the share of the most frequent value of the group: what anybody knows without a dependency."""
    pairs = group([people.groups, people.values])
    sizes, most = np.bincount(people.groups), np.zeros(int(people.groups.max()) + 1, np.int64)
    np.maximum.at(most, pairs.keys[0], pairs.counts)
    return most[people.groups] / sizes[people.groups]
