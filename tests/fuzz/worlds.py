"""Counts the worlds that several releases leave: everybody has one value, and every group the values that it shows.

Written for small tables, from the definition. People who are in the same groups of all releases are of one kind, so
worlds are counted by how many of a kind have each value.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb, factorial, prod

Place = tuple[int, Hashable]
"""A group of a release, by its place in the series."""
MOST = 20_000
"""Steps after which a count is given up."""


class TooManyError(Exception):
    """There are too many worlds to count."""


def certainties(
    groups: Sequence[Mapping[Hashable, Hashable]], values: Sequence[Mapping[Hashable, Counter[Hashable]]]
) -> dict[Hashable, tuple[Fraction, int]]:
    """For each person how likely the most likely value is, and how many values are possible. `groups[r]` has the group
    of each person of release `r`, `values[r]` what each group shows. Values that a group shows beyond those of its
    people are anybody's."""
    kinds: dict[frozenset[Place], list[Hashable]] = defaultdict(list)
    for person in dict.fromkeys(name for held in groups for name in held):
        kinds[frozenset((at, held[person]) for at, held in enumerate(groups) if person in held)].append(person)
    sizes = Counter[Place]()
    for kind, people in kinds.items():
        for place in kind:
            sizes[place] += len(people)
    shown = {(at, group): held for at, each in enumerate(values) for group, held in each.items()}
    found: dict[Hashable, tuple[Fraction, int]] = {}
    for component in _components(list(kinds)):
        counted = _Count([(kind, len(kinds[kind])) for kind in component], shown, sizes)
        for kind, told in zip(component, counted.best(), strict=True):
            found |= dict.fromkeys(kinds[kind], told)
    return found


def _components(kinds: list[frozenset[Place]]) -> Iterator[list[frozenset[Place]]]:
    """Kinds that hang together by the groups that they share."""
    left = list(kinds)
    while left:
        part, places = [left.pop()], set[Place]()
        places |= part[0]
        growing = True
        while growing:
            joined = [kind for kind in left if kind & places]
            growing = bool(joined)
            for kind in joined:
                left.remove(kind)
                part.append(kind)
                places |= kind
        yield part


class _Count:
    """The worlds of one component."""

    def __init__(
        self, kinds: list[tuple[frozenset[Place], int]], shown: Mapping[Place, Counter[Hashable]], sizes: Counter[Place]
    ) -> None:
        self.kinds = kinds
        self.places = sorted({place for kind, _ in kinds for place in kind}, key=repr)
        self.texts = sorted({value for place in self.places for value in shown[place]}, key=repr)
        self.start = tuple(tuple(shown[place][value] for value in self.texts) for place in self.places)
        self.more = [shown[place].total() - sizes[place] for place in self.places]
        self.inside = [[at for at, place in enumerate(self.places) if place in kind] for kind, _ in kinds]
        self.memory: dict[object, tuple[int, tuple[tuple[int, ...], ...]]] = {}

    def best(self) -> list[tuple[Fraction, int]]:
        """For each kind the share of the worlds in which somebody of it has the most likely value, and how many values
        there are worlds for."""
        total, having = self._counted(0, self.start)
        assert total, "no world fits what was published"
        return [
            (Fraction(max(row), total * size), sum(count > 0 for count in row))
            for row, (_, size) in zip(having, self.kinds, strict=True)
        ]

    def _counted(self, at: int, left: tuple[tuple[int, ...], ...]) -> tuple[int, tuple[tuple[int, ...], ...]]:
        """How many worlds there are from a kind on, and for each kind in how many its people have each value, added
        up over its people."""
        if at == len(self.kinds):
            # What is left over are the values of people of whom nothing else is known, in any order.
            ways = prod(factorial(sum(row)) // prod(map(factorial, row)) for row in left)
            fits = all(sum(row) == more for row, more in zip(left, self.more, strict=True))
            return (ways if fits else 0), ()
        key = (at, left)
        if key in self.memory:
            return self.memory[key]
        if len(self.memory) > MOST:
            raise TooManyError
        size, inside = self.kinds[at][1], self.inside[at]
        room = [min(left[place][value] for place in inside) for value in range(len(self.texts))]
        total, here = 0, [0] * len(self.texts)
        later: list[list[int]] = [[0] * len(self.texts) for _ in self.kinds[at + 1 :]]
        for counts in _split(size, room):
            rest = tuple(
                tuple(a - b for a, b in zip(row, counts, strict=True)) if place in inside else row
                for place, row in enumerate(left)
            )
            found, having = self._counted(at + 1, rest)
            if not found:
                continue
            ways = _arrangements(counts)
            total += ways * found
            here = [old + ways * found * count for old, count in zip(here, counts, strict=True)]
            for old, row in zip(later, having, strict=True):
                old[:] = [one + ways * other for one, other in zip(old, row, strict=True)]
        answer = total, (tuple(here), *map(tuple, later))
        self.memory[key] = answer
        return answer


def _split(count: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The ways to give so many people values, none more often than there is room."""
    if not room:
        if not count:
            yield ()
        return
    for first in range(min(count, room[0]) + 1):
        if count - first <= sum(room[1:]):
            for rest in _split(count - first, room[1:]):
                yield first, *rest


def _arrangements(counts: Sequence[int]) -> int:
    ways, left = 1, sum(counts)
    for count in counts:
        ways *= comb(left, count)
        left -= count
    return ways
