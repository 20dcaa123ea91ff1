"""World counts: all ways to give kinds of people the values of their groups, counted kind by kind."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import comb

from shoal.core.run import Run

CELLS = 1 << 24
"""Numbers that the states of one count of worlds may have together, which bounds its memory."""
UNLIMITED = 1 << 62
"""More moves than are ever made."""

State = bytes
"""What is left of each value in each group, as an array of numbers of a fixed width."""
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
        first = array(self.code, self.remaining).tobytes()
        layers: list[dict[State, int]] = [{first: 1}]
        cost, steps, cells = 1 + len(self.remaining) // 64, 0, 0
        for at in range(len(self.kinds)):
            after: dict[State, int] = {}
            each = self._one_of_each(at)
            for before, ways in layers[-1].items():
                run.check()
                state = int.from_bytes(before, sys.byteorder)
                for _, taken, times in self._moves(at, each, before, 1 + (nodes - steps) // cost):
                    then = (state - taken).to_bytes(len(first), sys.byteorder)
                    known = after.get(then)
                    after[then] = (known or 0) + ways * times
                    cells += 0 if known else len(self.remaining)
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
            start = self.groups[at][0] * self.width
            having, before, each = [0] * self.width, {}, self._one_of_each(at)
            for bare, ways in layers[at].items():
                reaching, state = 0, int.from_bytes(bare, sys.byteorder)
                for _, taken, times in self._moves(at, each, bare, UNLIMITED):
                    then = (state - taken).to_bytes(len(bare), sys.byteorder)
                    further = times * ahead.get(then, 0)
                    reaching += further
                    counts = self._cells(taken.to_bytes(len(bare), sys.byteorder))
                    for value, count in enumerate(counts[start : start + self.width]):
                        having[value] += count * ways * further
                before[bare] = reaching
            ahead = before
            yield self.kinds[at], max(having) / (total * self.sizes[at]), sum(ways > 0 for ways in having)

    def _cells(self, state: State) -> Sequence[int]:
        return memoryview(state).cast(self.code)  # type: ignore[call-overload, no-any-return]

    def _one_of_each(self, at: int) -> list[int]:
        """Of each value, what somebody of a kind takes who has it: one, in each group of the kind."""
        ones = []
        for value in range(self.width):
            cells = array(self.code, bytes(len(self.remaining) * array(self.code).itemsize))
            for place in self.groups[at]:
                cells[place * self.width + value] = 1
            ones.append(int.from_bytes(cells.tobytes(), sys.byteorder))
        return ones

    def _moves(self, at: int, each: list[int], state: State, most: int) -> Iterable[Move]:
        """How a kind can take its values, the first so many of all ways: nobody is left without a value then."""
        cells = self._cells(state)
        shown = [cells[place * self.width : (place + 1) * self.width] for place in self.groups[at]]
        room = list(map(min, *shown)) if len(shown) > 1 else list(shown[0])
        rest = sum(room)
        moves: list[Move] = [(self.sizes[at], 0, 1)] if rest >= self.sizes[at] else []
        for free, one in zip(room, each, strict=True):
            rest -= free
            if free:
                moves = list(islice(_taking(moves, free, rest, one), most))
        return moves


def _taking(moves: list[Move], free: int, rest: int, one: int) -> Iterator[Move]:
    """Moves that also take up to so many of a further value, of which there is one for each who is without a value
    then: so many are free of the values that come after it."""
    for without, taken, times in moves:
        for count in range(max(0, without - rest), min(free, without) + 1):
            yield without - count, taken + count * one, times * comb(without, count)
