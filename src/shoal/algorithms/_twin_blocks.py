"""Blocks of twins: which sensitive values are made equally frequent, so that few records have to go.

Frequencies stand in descending order, and a block is a range of places: some best blocks are consecutive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

Blocks = list[tuple[int, int]]
"""For each block the first place and the one after the last."""


def _costs(frequencies: Sequence[int]) -> Callable[[int, int], int]:
    """How many records go when every value of a block is cut to the rarest one."""
    sums = [0, *accumulate(frequencies)]
    return lambda begin, end: sums[end] - sums[begin] - (end - begin) * frequencies[end - 1]


def removed(frequencies: Sequence[int], blocks: Blocks) -> int:
    """How many records go in all."""
    cost = _costs(frequencies)
    return sum(cost(*block) for block in blocks)


def dynamic(frequencies: Sequence[int], l: int) -> Blocks:  # noqa: E741
    """The blocks of at least l values that remove fewest records. One of 2l values or more can be split without
    removing more, so that none is that large.

    Example:
        >>> dynamic([50, 45, 40, 30, 26], 2), removed([50, 45, 40, 30, 26], dynamic([50, 45, 40, 30, 26], 2))
        ([(0, 3), (3, 5)], 19)
    """
    cost = _costs(frequencies)
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(frequencies) + 1):
        starts = range(max(0, end - 2 * l + 1), end - l + 1)
        choices = [(best[begin][0] + cost(begin, end), begin) for begin in starts]
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
    cost, blocks = _costs(frequencies), []
    waiting = [(0, len(frequencies))]
    while waiting:
        begin, end = waiting.pop()
        halves = [(cost(begin, at) + cost(at, end), at) for at in range(begin + l, end - l + 1)]
        least, at = min(halves, default=(cost(begin, end), end))
        if least < cost(begin, end):
            waiting += [(begin, at), (at, end)]
        else:
            blocks.append((begin, end))
    return sorted(blocks)


VARIANTS: dict[str, Callable[[Sequence[int], int], Blocks]] = {
    "dynamic": dynamic,
    "bottom-up": bottom_up,
    "top-down": top_down,
}
