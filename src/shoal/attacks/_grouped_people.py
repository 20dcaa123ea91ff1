"""People and values by the groups that show them, and whose value is whose as far as it can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks._group_regression import stacked
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats

Places = NDArray[np.int64]

WEIGHED = 12
"""The size of the largest groups of which all permutations can be weighed."""
DRAWN = 1 << 19
"""Numbers that the sampler draws at once, about."""


@dataclass(frozen=True, eq=False)
class GroupedPeople:
    """People with their group and the codes of their quasi-identifiers, and as many values, each in the group that has
    it."""

    homes: Codes
    columns: Codes
    owners: Places
    values: NDArray[np.integer[Any]]
    width: int

    @cached_property
    def by_size(self) -> dict[int, tuple[Places, Places]]:
        """For each size, the people of every bucket that has it, a row each, and the places of its values."""
        people = np.argsort(self.homes, kind="stable")
        slots = np.argsort(self.owners, kind="stable")
        _, firsts, sizes = np.unique(self.homes[people], return_index=True, return_counts=True)
        buckets = {}
        for size in np.unique(sizes).tolist():
            rows = firsts[sizes == size][:, None] + np.arange(size)
            buckets[size] = (people[rows], slots[rows])
        return buckets

    @property
    def largest(self) -> int:
        return max(self.by_size)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """How many different codes each column has."""
        return tuple(len(np.unique(column)) for column in self.columns)

    @cached_property
    def codes(self) -> list[Places]:
        """The columns, numbered without gaps."""
        return [np.unique(column, return_inverse=True)[1] for column in self.columns]

    @cached_property
    def stacked(self) -> tuple[Places, list[slice]]:
        """The codes of all columns, numbered on from one to the next, and the numbers of each."""
        return stacked(list(zip(self.codes, self.levels, strict=True)))

    @cached_property
    def cells(self) -> dict[int, Places]:
        """For each size whose permutations can be weighed, where in a table of people and values each of a bucket's
        people and each of its values meet."""
        return {
            size: people[:, :, None] * self.width + self.values[slots][:, None, :]
            for size, (people, slots) in self.by_size.items()
            if size <= WEIGHED
        }

    @cached_property
    def alone(self) -> Floats:
        """What is believed by the group alone."""
        beliefs = np.zeros((len(self.homes), self.width))
        for size, (people, slots) in self.by_size.items():
            places = np.arange(len(slots))[:, None] * self.width + self.values[slots]
            counts = np.bincount(places.ravel(), minlength=len(slots) * self.width).reshape(-1, self.width)
            beliefs[people] = _multiples(1 / size, size)[counts][:, None, :]
        return beliefs

    def likelihoods(self, beliefs: Floats) -> list[Floats]:
        """By column, how likely each code is among those who have a value: every count is one more than it is."""
        from shoal.kernels.beliefs import sums_by_code

        codes, parts = self.stacked
        sums = sums_by_code(beliefs, codes, parts[-1].stop)
        likelihoods = []
        for part, count in zip(parts, self.levels, strict=True):
            together = np.asfortranarray(sums[part])
            likelihoods.append((together + 1) / (together.sum(axis=0) + count))
        return likelihoods


def _multiples(share: float, most: int) -> Floats:
    """A share added up none, one, two, … times."""
    return np.append(0.0, np.cumsum(np.full(most, share)))


@dataclass(frozen=True, eq=False)
class Sampler:
    """Whose value is whose in groups too large for permutations. `groups` has, of each size, how many there are; people
    stand in the order of the sizes and of the groups, with the value that each has."""

    groups: dict[int, int]
    people: Places
    values: Places

    @classmethod
    def of(cls, buckets: GroupedPeople, exact: int) -> Sampler | None:
        """Of the groups above a size, where there are any; values are as they come."""
        large = {size: each for size, each in buckets.by_size.items() if size > exact}
        if not large:
            return None
        people, slots = (np.concatenate([each[part].ravel() for each in large.values()]) for part in (0, 1))
        return cls({size: len(each[0]) for size, each in large.items()}, people, buckets.values[slots].astype(np.int64))

    def draw(self, logs: Floats, sweeps: int, generator: np.random.Generator) -> Floats:
        """How often each person has each value in some sweeps, as a share. In a sweep the people of each group are
        paired at random, and each pair draws which of them has which of their two values."""
        width, likely = logs.shape[1], logs.ravel()
        cells = self.people * width
        counts = np.zeros(logs.size, np.int64)
        begin = 0
        for sizes in self._portions(sweeps):
            end = begin + sum(size * self.groups[size] for size in sizes)
            own, values = cells[begin:end], self.values[begin:end]
            for some in _in_turns(sweeps, end - begin):
                held = np.empty((some, end - begin), np.int64)
                for sweep, (first, second, draws) in enumerate(zip(*self._pairs(sizes, some, generator), strict=True)):
                    one, other, mine, theirs = own[first], own[second], values[first], values[second]
                    stay = likely[one + mine] + likely[other + theirs]
                    change = likely[one + theirs] + likely[other + mine]
                    swapped = draws < 1 / (1 + np.exp(np.clip(stay - change, -700, 700)))
                    values[first], values[second] = np.where(swapped, theirs, mine), np.where(swapped, mine, theirs)
                    held[sweep] = own + values
                counts += np.bincount(held.ravel(), minlength=logs.size)
            begin = end
        return _multiples(1 / sweeps, sweeps)[counts].reshape(-1, width)

    def _portions(self, sweeps: int) -> Iterator[list[int]]:
        """Sizes whose groups are looked at together: as many as can be drawn for at once, and one at least."""
        portion: list[int] = []
        drawn = 0
        for size, count in self.groups.items():
            drawn += size * count * sweeps
            if portion and drawn > DRAWN:
                yield portion
                portion, drawn = [], size * count * sweeps
            portion.append(size)
        yield portion

    def _pairs(self, sizes: list[int], sweeps: int, generator: np.random.Generator) -> tuple[Places, Places, Floats]:
        """For each sweep, who is paired with whom, and a number that is drawn for each pair."""
        firsts, seconds, draws = [], [], []
        begin = 0
        for size in sizes:
            many, half = self.groups[size], size // 2
            drawn = generator.random((sweeps, many * (size + half)))
            order = np.argsort(drawn[:, : many * size].reshape(sweeps, many, size), axis=2)
            order += begin + np.arange(many)[:, None] * size
            firsts.append(order[:, :, 0 : 2 * half : 2].reshape(sweeps, -1))
            seconds.append(order[:, :, 1::2].reshape(sweeps, -1))
            draws.append(drawn[:, many * size :])
            begin += many * size
        return np.hstack(firsts), np.hstack(seconds), np.hstack(draws)


def _in_turns(sweeps: int, people: int) -> Iterator[int]:
    """How many sweeps are drawn at once, until all are."""
    most = max(1, DRAWN // people)
    while sweeps > 0:
        yield min(sweeps, most)
        sweeps -= most
