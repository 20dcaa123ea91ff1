"""World counts: all ways to give kinds of people the values of their groups, counted kind by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

from shoal.core.run import Run

CELLS = 1 << 24
"""Numbers that the states of one count of worlds may have together, which bounds its memory."""

Remaining = tuple[int, ...]
"""What is left of each value in each group."""


@dataclass(frozen=True, eq=False)
class WorldCount:
    """The worlds of one component: `sizes[i]` people of the kind `kinds[i]` are in `groups[i]`, and of each of so many
    values (`width`) a group has what is `remaining`."""

    kinds: list[int]
    sizes: list[int]
    groups: list[list[int]]
    remaining: Remaining
    width: int

    def layers(self, nodes: int, run: Run) -> tuple[int, list[dict[Remaining, int]] | None]:
        """After each kind, in how many ways what is left can have come about; None where that takes more steps than
        are allowed. Also the steps that it took."""
        layers: list[dict[Remaining, int]] = [{self.remaining: 1}]
        cost, steps, cells = 1 + len(self.remaining) // 64, 0, 0
        for at in range(len(self.kinds)):
            after: dict[Remaining, int] = {}
            for before, ways in layers[-1].items():
                run.check()
                for _, times, then in self._moves(at, before):
                    known = after.get(then)
                    after[then] = (known or 0) + ways * times
                    cells += 0 if known else len(self.remaining)
                    steps += cost
                    if steps >= nodes or cells >= CELLS:
                        return steps, None
            layers.append(after)
        return steps, layers

    def shares(self, layers: list[dict[Remaining, int]]) -> Iterator[tuple[int, float, int]]:
        """For each kind the probability of its most likely value, and how many values are possible."""
        ahead: dict[Remaining, int] = dict.fromkeys(layers[-1], 1)
        (total,) = layers[-1].values()  # in the end nothing is left of any value
        for at in range(len(self.kinds) - 1, -1, -1):
            having, before = [0] * self.width, {}
            for state, ways in layers[at].items():
                reaching = 0
                for counts, times, then in self._moves(at, state):
                    further = times * ahead.get(then, 0)
                    reaching += further
                    for value, count in enumerate(counts):
                        having[value] += count * ways * further
                before[state] = reaching
            ahead = before
            yield self.kinds[at], max(having) / (total * self.sizes[at]), sum(ways > 0 for ways in having)

    def _moves(self, at: int, state: Remaining) -> Iterator[tuple[list[int], int, Remaining]]:
        """How a kind can take its values: how many of each, in how many ways, and what is left then."""
        starts = [place * self.width for place in self.groups[at]]
        room = [min(state[start + value] for start in starts) for value in range(self.width)]
        for counts, times in _choices(room, self.sizes[at], sum(room)):
            left = list(state)
            for start in starts:
                for value, count in enumerate(counts):
                    left[start + value] -= count
            yield counts, times, tuple(left)


def _choices(room: list[int], size: int, total: int) -> Iterator[tuple[list[int], int]]:
    """The ways to take so many things, at most so many of each value, and how many orders each has."""
    if not room:
        if size == 0:
            yield [], 1
        return
    rest = total - room[0]
    for count in range(max(0, size - rest), min(room[0], size) + 1):
        for others, times in _choices(room[1:], size - count, rest):
            yield [count, *others], times * comb(size, count)
