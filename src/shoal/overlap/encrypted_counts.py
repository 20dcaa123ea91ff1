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
from collections.abc import Mapping, Sequence
from functools import cache

from shoal.errors import InputError
from shoal.overlap import points
from shoal.overlap.itemsets import Itemset, cells, tests_of
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


def tests(itemsets: Sequence[Itemset], sums: Mapping[Itemset, Pair], fewest: int) -> bytes:
    """Pairs that tell, once all holders have had them, which itemsets may not be shown: those that fewer than `fewest`
    have, and those from which a count above 0 and below that would follow. One itemset after the other."""
    small = [negate(points.of(number)) for number in range(1, fewest)]
    result = []
    for itemset in itemsets:
        for part, terms in cells(itemset):
            first, second = _total([(sign, sums[each]) for sign, each in terms])
            shifted = add([second] * len(small), small)
            result += [(first, other) for other in ([second, *shifted] if part == itemset else shifted)]
    return b"".join(x.to_bytes(BYTES, "big") for pair in result for x, _ in pair)


def _total(terms: Sequence[tuple[int, Pair]]) -> Pair:
    (_, total), *rest = terms  # the first sign is always plus
    for sign, (first, second) in rest:
        other = (first, second) if sign > 0 else (negate(first), negate(second))
        (total,) = added([total], [other])
    return total


def blinded(key: bytes, joined: bytes, itemsets: Sequence[Itemset], fewest: int) -> bytes:
    """The pairs after a holder had them: its part of the key is taken off, every pair has a fresh factor, and those of
    an itemset are in an order that tells nothing."""
    pairs = points.blind(key, joined)
    return b"".join(b"".join(sorted(part)) for part in _by_itemset(pairs, itemsets, fewest))


def passing(joined: bytes, itemsets: Sequence[Itemset], fewest: int) -> list[bool]:
    """For each itemset whether it may be shown, from its pairs after all holders had them."""
    parts = _by_itemset(joined, itemsets, fewest)
    return [not any(pair[:BYTES] == pair[BYTES:] for pair in part) for part in parts]


def _by_itemset(joined: bytes, itemsets: Sequence[Itemset], fewest: int) -> list[list[bytes]]:
    pairs = [joined[start : start + TEST] for start in range(0, len(joined), TEST)]
    parts, begin = [], 0
    for itemset in itemsets:
        end = begin + tests_of(len(itemset), fewest)
        parts.append(pairs[begin:end])
        begin = end
    return parts


def decrypted(pairs: Sequence[Pair], keyed: bytes) -> list[int]:
    """The counts of pairs, from their first points times the parts of all holders."""
    baby = _babies()
    step = negate(points.of(_BABY))
    counts = []
    for place, (_, second) in enumerate(pairs):
        mask = points.lift(keyed[place * BYTES : (place + 1) * BYTES])
        # Which of the two points with this x it is, nobody knows; one of them leads to a small number.
        left = add([second, second], [mask, negate(mask)])
        for giant in range(_GIANT):
            match = next((point for point in left if point[0] in baby), None)
            if match is not None:
                number, point = baby[match[0]]
                counts.append(giant * _BABY + (number if match == point else -number))
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
