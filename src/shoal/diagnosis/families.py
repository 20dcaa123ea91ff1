"""Families of sets: a set of attributes is a bit mask, and what is done with many of them."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 63
"""Attributes in a question about sets: a set is a bit mask."""
COUNTED = 200_000
"""Steps after which the number of sets inside a family is left unknown."""


def members(mask: int) -> list[int]:
    """The positions of a mask's bits.

    Example:
        >>> members(0b1011)
        [0, 1, 3]
    """
    positions = []
    while mask:
        lowest = mask & -mask
        positions.append(lowest.bit_length() - 1)
        mask ^= lowest
    return positions


def mask_of(positions: Iterable[int]) -> int:
    """The mask of some positions."""
    return sum(1 << position for position in positions)


def by_size(mask: int) -> tuple[int, list[int]]:
    """The order in which sets are listed: small ones first, then as their attributes come."""
    return mask.bit_count(), members(mask)


def subsets(family: tuple[int, ...]) -> int | None:
    """How many non-empty sets lie inside one of a family's; None when counting takes too long.

    Example:
        >>> subsets((0b011, 0b110))
        5
    """
    steps = 0
    counts: dict[tuple[int, ...], int] = {}

    def count(masks: tuple[int, ...]) -> int:
        """How many sets, the empty one included."""
        nonlocal steps
        steps += 1
        if steps > COUNTED:
            raise OverflowError
        masks = _maximal(masks)
        if len(masks) <= 1:
            return 1 << masks[0].bit_count() if masks else 0
        if masks not in counts:
            common = masks[0]
            for mask in masks:
                common &= mask
            if common:
                counts[masks] = count(tuple(mask & ~common for mask in masks)) << common.bit_count()
            else:
                bit = 1 << max(members(_union(masks)), key=lambda position: sum(mask >> position & 1 for mask in masks))
                having = tuple(mask & ~bit for mask in masks if mask & bit)
                counts[masks] = count(having) + count(tuple(mask & ~bit for mask in masks))
        return counts[masks]

    try:
        return count(family) - 1 if family else 0
    except (OverflowError, RecursionError):
        return None


def _union(masks: tuple[int, ...]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _maximal(masks: tuple[int, ...]) -> tuple[int, ...]:
    maximal: list[int] = []
    for mask in sorted(set(masks), key=int.bit_count, reverse=True):
        if not any(mask & ~other == 0 for other in maximal):
            maximal.append(mask)
    return tuple(sorted(maximal))
