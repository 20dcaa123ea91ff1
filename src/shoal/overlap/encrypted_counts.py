"""Counts under a key that all holders have a part of: they can be added and tested by everybody, and read only by all
holders together.

A count m is a pair of points (rG, rP + mG) (ElGamal with the count as a multiple of the generator G). The key P is G
times the parts of all holders, one after the other. Whether a count is one of some numbers v is told without telling
which: from (R, S - vG), each holder multiplies R by its part of the key, both by a fresh secret, and sorts the pairs.
After all holders the two points of a pair are the same where the count is v, and random where it is not.

References: Cramer, Gennaro and Schoenmakers 1997 (counts that many hold the key of); Pohlig and Hellman 1978 (keys that
are multiplied one after the other).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache

from shoal.errors import InputError
from shoal.overlap import points
from shoal.overlap.points import BYTES
from shoal.overlap.sums import ORDER, Multiples, Point, add, negate

Pair = tuple[Point, Point]
"""An encrypted count."""

PAIR, TEST = 4 * BYTES, 2 * BYTES
"""Bytes of an encrypted count, and of a pair of points of which only x is needed."""
_BABY, _GIANT = 4_096, 1 << 20
"""Counts are looked up up to the product of both."""


def encrypted(public: bytes, counts: Sequence[int]) -> list[Pair]:
    """Counts under the key of all holders."""
    if not counts:
        return []
    table = Multiples(points.lift(public), bits=8 * BYTES, width=4)
    drawn, blinds = ([secrets.randbelow(ORDER - 1) + 1 for _ in counts] for _ in range(2))
    first = [points.of((each + table.offset) % ORDER) for each in drawn]
    # A count of 0 is no point, so a blind is added and taken off again.
    second = [points.of((count + blind) % ORDER) for count, blind in zip(counts, blinds, strict=True)]
    second = add(table.add_to(second, drawn), [negate(points.of(blind)) for blind in blinds])
    return list(zip(first, second, strict=True))


def added(pairs: Sequence[Pair], others: Sequence[Pair]) -> list[Pair]:
    """Encrypted counts, each plus the other one in the same place."""
    if not pairs:
        return []
    sides = zip(zip(*pairs, strict=True), zip(*others, strict=True), strict=True)
    first, second = (add(list(left), list(right)) for left, right in sides)
    return list(zip(first, second, strict=True))


def packed(pairs: Sequence[Pair]) -> bytes:
    return b"".join(points.pack(point) for pair in pairs for point in pair)


def unpacked(joined: bytes) -> list[Pair]:
    """Encrypted counts, of which every point is on the curve."""
    both = points.unpack(joined)
    return list(zip(both[::2], both[1::2], strict=True))


def tests(pairs: Sequence[Pair], fewest: int) -> bytes:
    """Pairs that tell, once all holders have had them, which counts are below `fewest`: so many for each count."""
    small = [negate(points.of(number)) for number in range(1, fewest)]
    result = []
    for first, second in pairs:
        result += [(first, other) for other in (second, *add([second] * len(small), small))]
    return b"".join(x.to_bytes(BYTES, "big") for pair in result for x, _ in pair)


def blinded(key: bytes, joined: bytes, fewest: int) -> bytes:
    """The pairs after a holder had them: its part of the key is taken off, every pair has a fresh factor, and those of
    a count are in an order that tells nothing."""
    return b"".join(b"".join(sorted(part)) for part in _by_count(points.blind(key, joined), fewest))


def passing(joined: bytes, fewest: int) -> list[bool]:
    """For each count whether it is large enough, from its pairs after all holders had them."""
    return [not any(pair[:BYTES] == pair[BYTES:] for pair in part) for part in _by_count(joined, fewest)]


def _by_count(joined: bytes, fewest: int) -> list[list[bytes]]:
    pairs = [joined[start : start + TEST] for start in range(0, len(joined), TEST)]
    return [pairs[start : start + fewest] for start in range(0, len(pairs), fewest)]


def decrypted(pairs: Sequence[Pair], keyed: bytes, offset: int = 0) -> list[int]:
    """The counts of pairs, from their first points times the parts of all holders. No count may be below minus the
    offset, or equal to it."""
    baby = _babies()
    step = negate(points.of(_BABY))
    counts = []
    for place, (_, second) in enumerate(pairs):
        if offset:
            (second,) = add([second], [points.of(offset)])
        mask = points.lift(keyed[place * BYTES : (place + 1) * BYTES])
        # Which of the two points with this x it is, nobody knows; one of them leads to a small number.
        left = add([second, second], [mask, negate(mask)])
        for giant in range(_GIANT):
            match = next((point for point in left if point[0] in baby), None)
            if match is not None:
                number, point = baby[match[0]]
                counts.append(giant * _BABY + (number if match == point else -number) - offset)
                break
            left = add(left, [step, step])
        else:
            raise InputError("a count is larger than any that can be read; the session is over")
    return counts


@cache
def _babies() -> dict[int, tuple[int, Point]]:
    """The first multiples of the generator, by x."""
    generator, table = points.of(1), {points.of(1)[0]: (1, points.of(1))}
    point = points.of(2)
    for number in range(2, _BABY + 1):
        table[point[0]] = number, point
        (point,) = add([point], [generator])
    return table
