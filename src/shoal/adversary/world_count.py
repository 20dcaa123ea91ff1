"""World counts: all ways to give kinds of people the values of their groups, counted kind by kind."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import comb

from shoal.core.run import Run

CELLS = 1 << 24
"""Numbers that the states of one count of worlds may have together, which bounds its memory."""
UNLIMITED = 1 << 62
"""More moves than are ever made."""

State = bytes
"""What is left of each value in each group: the bytes of an array of numbers."""
Move = tuple[int, int, int]
"""People who are still without a value, what the others took, as one number, and in how many ways they could."""


@dataclass(frozen=True, eq=False)
class WorldCount:
    """The worlds of one component: `sizes[i]` people of the kind `kinds[i]` are in `groups[i]`, and of each of so many
    values (`width`) a group has what is `remaining`."""

    kinds: list[int]
    sizes: list[int]
    groups: list[list[int]]
    remaining: tuple[int, ...]
    width: int
    code: str = field(init=False)
    """The narrowest kind of array that holds the numbers of a state."""

    def __post_init__(self) -> None:
        most = max(self.remaining, default=0)
        code = next(code for code in "BHIQ" if most < 256 ** array(code).itemsize)
        object.__setattr__(self, "code", code)

    def layers(self, nodes: int, run: Run) -> tuple[int, list[dict[State, int]] | None]:
        """After each kind, in how many ways what is left can have come about; None where that takes more steps than
        are allowed. Also the steps that it took."""
        layers: list[dict[State, int]] = [{array(self.code, self.remaining).tobytes(): 1}]
        numbers = len(self.remaining)
        cost, steps, cells = 1 + numbers // 64, 0, 0
        for at in range(len(self.kinds)):
            after: dict[State, int] = {}
            moves = _Moves(self, at)
            for state, ways in layers[-1].items():
                run.check()
                before, length = _as_one(state), len(state)
                for _, taken, times in moves.of(state, 1 + (nodes - steps) // cost):
                    then = (before - taken).to_bytes(length, sys.byteorder)
                    if then in after:
                        after[then] += ways * times
                    else:
                        after[then] = ways * times
                        cells += numbers
                    steps += cost
                    if steps >= nodes or cells >= CELLS:
                        return steps, None
            layers.append(after)
        return steps, layers

    def shares(self, layers: list[dict[State, int]]) -> Iterator[tuple[int, float, int]]:
        """For each kind the probability of its most likely value, and how many values are possible."""
        ahead: dict[State, int] = dict.fromkeys(layers[-1], 1)
        (total,) = layers[-1].values()  # in the end nothing is left of any value
        for at in range(len(self.kinds) - 1, -1, -1):
            having, behind, moves = [0] * self.width, {}, _Moves(self, at)
            for state, ways in layers[at].items():
                reaching, before, length = 0, _as_one(state), len(state)
                for _, taken, times in moves.of(state, UNLIMITED):
                    if further := ahead.get((before - taken).to_bytes(length, sys.byteorder)):
                        reaching += times * further
                        worlds = ways * times * further
                        for value, count in moves.counts(taken):
                            having[value] += count * worlds
                behind[state] = reaching
            ahead = behind
            yield self.kinds[at], max(having) / (total * self.sizes[at]), sum(ways > 0 for ways in having)


def _as_one(state: State) -> int:
    """A state as one number, from which what a move takes is taken in one step. It would be a poor key: Python's hashes
    of whole numbers repeat after 61 bits, so many states with more cells than that would have the same."""
    return int.from_bytes(state, sys.byteorder)


class _Moves:
    """How one kind can take its values from any state. They follow from what is free of each value in all groups of the
    kind, which many states have in common."""

    def __init__(self, worlds: WorldCount, at: int) -> None:
        self.size, self.code = worlds.sizes[at], worlds.code
        width = array(worlds.code).itemsize
        self.length, step = len(worlds.remaining) * width, worlds.width * width
        self.places = [slice(place * step, (place + 1) * step) for place in worlds.groups[at]]
        self.ones = []  # of each value, what somebody takes who has it: one, in each group
        for value in range(worlds.width):
            taken = array(worlds.code, [0] * len(worlds.remaining))
            for place in worlds.groups[at]:
                taken[place * worlds.width + value] = 1
            self.ones.append(_as_one(taken.tobytes()))
        self.made: dict[tuple[int, ...], list[Move]] = {}
        self.known: dict[tuple[bytes, ...], list[Move]] = {}
        self.counted: dict[int, list[tuple[int, int]]] = {}

    def of(self, state: State, most: int) -> list[Move]:
        """The first so many moves at least, by which nobody is left without a value; no later call asks for more."""
        shown = tuple([state[place] for place in self.places])
        if (moves := self.known.get(shown)) is None:
            first, *others = (array(self.code, each).tolist() for each in shown)
            for other in others:
                first = [one if one < two else two for one, two in zip(first, other, strict=True)]
            free = tuple(first)
            if free not in self.made:
                self.made[free] = self._making(free, most)
            moves = self.known[shown] = self.made[free]
        return moves

    def counts(self, taken: int) -> list[tuple[int, int]]:
        """The values that a move takes, and how many people have each."""
        if taken not in self.counted:
            cells = array(self.code, taken.to_bytes(self.length, sys.byteorder)[self.places[0]])
            self.counted[taken] = [(value, count) for value, count in enumerate(cells) if count]
        return self.counted[taken]

    def _making(self, free: tuple[int, ...], most: int) -> list[Move]:
        rest = sum(free)
        moves = iter([(self.size, 0, 1)] if rest >= self.size else [])
        for number, one in zip(free, self.ones, strict=True):
            rest -= number
            if number:
                moves = _taking(moves, number, rest, one)
        return list(islice(moves, most))


def _taking(moves: Iterator[Move], free: int, rest: int, one: int) -> Iterator[Move]:
    """Each move with every number of people who take a further value, of which so many are `free`; the values that come
    after it have a `rest` that is enough for the others."""
    for without, taken, times in moves:
        for count in range(max(0, without - rest), min(free, without) + 1):
            yield without - count, taken + count * one, times * comb(without, count)
