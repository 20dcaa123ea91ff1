"""Blocks of twins: which sensitive values are made equally frequent, so that few records have to go.

Frequencies stand in descending order, and a block is a range of places: some best blocks are consecutive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

Blocks = list[tuple[int, int]]
"""For each block the first place and the one after the last."""


class _Costs:
    """How many records go when every value of a block is cut to the rarest one."""

    def __init__(self, frequencies: Sequence[int]) -> None:
        self.frequencies, self.sums = frequencies, [0, *accumulate(frequencies)]

    def of(self, begin: int, end: int) -> int:
        return self.sums[end] - self.sums[begin] - (end - begin) * self.frequencies[end - 1]


def removed(frequencies: Sequence[int], blocks: Blocks) -> int:
    """How many records go in all."""
    costs = _Costs(frequencies)
    return sum(costs.of(*block) for block in blocks)


def dynamic(frequencies: Sequence[int], l: int) -> Blocks:  # noqa: E741
    """The blocks of at least l values that remove fewest records. One of 2l values or more can be split without
    removing more, so that none is that large.

    Example:
        >>> dynamic([50, 45, 40, 30, 26], 2), removed([50, 45, 40, 30, 26], dynamic([50, 45, 40, 30, 26], 2))
        ([(0, 3), (3, 5)], 19)
    """
    costs = _Costs(frequencies)
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(frequencies) + 1):
        starts = range(max(0, end - 2 * l + 1), end - l + 1)
        choices = [(best[begin][0] + costs.of(begin, end), begin) for begin in starts]
        best.append(min(choices, default=(float("inf"), 0)))
    blocks, end = [], len(frequencies)
    while end:
        blocks.append((best[end][1], end))
        end = best[end][1]
    return blocks[::-1]


def bottom_up(frequencies: Sequence[int], l: int) -> Blocks:  # noqa: E741
    """Blocks of l values from the most frequent one down; those that are left over join the last block."""
    count = max(1, len(frequencies) // l)
    return [(at * l, (at + 1) * l if at < count - 1 else len(frequencies)) for at in range(count)]


def top_down(frequencies: Sequence[int], l: int) -> Blocks:  # noqa: E741
    """All values as one block, split again and again where that removes fewest records, as long as it helps."""
    costs, blocks = _Costs(frequencies), []
    waiting = [(0, len(frequencies))]
    while waiting:
        begin, end = waiting.pop()
        halves = [(costs.of(begin, at) + costs.of(at, end), at) for at in range(begin + l, end - l + 1)]
        cost, at = min(halves, default=(costs.of(begin, end), end))
        if cost < costs.of(begin, end):
            waiting += [(begin, at), (at, end)]
        else:
            blocks.append((begin, end))
    return sorted(blocks)


VARIANTS: dict[str, Callable[[Sequence[int], int], Blocks]] = {
    "dynamic": dynamic,
    "bottom-up": bottom_up,
    "top-down": top_down,
}
