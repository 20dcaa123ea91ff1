"""How many people are in both lists and not who, also when one of the holders cheats.

The asker's list becomes a table of numbers, an xor filter: each person stands for three cells and a number of its own,
and the cells of the people in the list add up to their numbers. Every cell is encrypted with the asker's key (ElGamal,
with the number as a multiple of the generator), so the other holder can add cells and cannot read them. For each person
in its own list it adds three cells, subtracts the person's number and multiplies the result by a fresh secret. What is
zero stays zero, and everything else becomes random. It sends the results in another order, and the asker counts the
zeros.

An asker that cheats can put any numbers into the cells. A result still is zero or random, and which person it belongs
to cannot be told, so it learns how many people of the other list satisfy its cells and nothing else. The other holder
sees encrypted cells and no result. Both rest on the decisional Diffie-Hellman assumption.

So that one person more or less cannot be told from the count either, the other holder adds results of its own, of which
a random number are zeros (the truncated geometric mechanism).

References: Freedman, Nissim and Pinkas 2004 (counting by encryption that can be added to); Graf and Lemire 2020 (the
filter); Zhang, Chen, Liu and Lin 2023 (the filter under encryption); Ghosh, Roughgarden and Sundararajan 2009 (noise).
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
from collections.abc import Sequence
from random import SystemRandom
from typing import Any

import numpy as np

from shoal.errors import InputError, ShoalError
from shoal.overlap import points
from shoal.overlap.points import BYTES, PRINT
from shoal.overlap.sums import ORDER, times

PAIR, CELL, SALT = 2 * BYTES, 4 * BYTES, 16
"""Bytes of a result, of a cell, and of what the places of people are drawn with."""
_FIRST = sum(256**place for place in range(PRINT))
"""What is added to the number of a person: each of its digits counts one more than it says."""
_TRIES = 1_000
_STEPS = 14
"""How far the noise goes: to 14 times its scale, beyond which it would get once in more than a million sessions."""


def spread(fewest: int) -> int:
    """How many zeros are added on average, when fewer people than this shall not decide what is told; twice as many
    results are added in all.

    Example:
        >>> spread(1), spread(10)
        (0, 140)
    """
    return 0 if fewest == 1 else _STEPS * fewest


def margin(fewest: int) -> int:
    """By how much the size is off at most, in 95 of 100 sessions.

    Example:
        >>> margin(1), margin(10)
        (0, 30)
    """
    return 0 if fewest == 1 else math.ceil(fewest * math.log(20))


def asked_bytes(people: int) -> int:
    """How long the asker's part of a session about so many people is."""
    return SALT + PAIR + _cells(people) * CELL


def answered_bytes(people: int, fewest: int) -> int:
    """How long the other holder's part is, when it has so many people."""
    return (people + 2 * spread(fewest)) * PAIR


def asked(digests: Sequence[bytes]) -> tuple[bytes, bytes]:
    """A fresh key, and the encrypted cells of the people with these digests."""
    cells = _cells(len(digests))
    for _ in range(_TRIES):
        salt = os.urandom(SALT)
        places, prints = _rows(salt, digests, cells)
        order = _peel(places, cells)
        if order is not None:
            break
    else:
        raise ShoalError("no places were found for the people of the list")  # one in 2**1000
    numbers = [secrets.randbelow(ORDER) for _ in range(cells)]
    for person, cell in reversed(order):
        numbers[cell] = 0
        numbers[cell] = (prints[person] + _FIRST - sum(numbers[place] for place in places[person])) % ORDER
    key = points.draw()
    secret = int.from_bytes(key, "big")
    drawn = [int.from_bytes(points.draw(), "big") for _ in range(cells)]
    pairs = b"".join(
        blind.to_bytes(BYTES, "big") + ((secret * blind + number) % ORDER).to_bytes(BYTES, "big")
        for blind, number in zip(drawn, numbers, strict=True)
    )
    return key, salt + points.pack(points.of(secret)) + points.encrypt(pairs)


def answered(body: bytes, people: int, digests: Sequence[bytes], fewest: int) -> bytes:
    """A result for each person with these digests, and results that are added, in an order that tells nothing."""
    if len(body) != asked_bytes(people):
        raise InputError("this message has another number of cells than it should have")
    salt, cells = body[:SALT], body[SALT + PAIR :]
    (public,) = points.unpack(body[SALT : SALT + PAIR])
    points.unpack(cells)  # all of them are checked before any is used: an error must not tell which were used
    places, prints = _rows(salt, digests, _cells(people))
    blind = int.from_bytes(points.draw(), "big")
    listed = b"".join(
        b"".join(place.to_bytes(4, "big") for place in three) + number.to_bytes(PRINT, "big")
        for three, number in zip(places, prints, strict=True)
    )
    results = points.evaluate(cells, (points.of(blind), times(blind, public)), listed)
    results += _decoys(body[SALT : SALT + BYTES], fewest)
    return b"".join(sorted(results[start : start + PAIR] for start in range(0, len(results), PAIR)))


def counted(key: bytes, results: bytes) -> int:
    """How many results are zero."""
    numbers = [results[start : start + BYTES] for start in range(0, len(results), BYTES)]
    expected = points.multiply("point", key, b"".join(numbers[::2]))
    return sum(second == expected[at * BYTES : (at + 1) * BYTES] for at, second in enumerate(numbers[1::2]))


def noise(fewest: int) -> int:
    """A random number of zeros, around the average: each step away from it is less probable by the same factor."""
    chances = weights(fewest)
    return SystemRandom().choices(range(len(chances)), chances)[0]


def weights(fewest: int) -> list[float]:
    """How probable each number of zeros is, up to a factor."""
    average = spread(fewest)
    return [math.exp(-abs(zeros - average) / fewest) for zeros in range(2 * average + 1)]


def _decoys(public: bytes, fewest: int) -> bytes:
    """Results of nobody: as many zeros as the noise says, and others that are not zero."""
    generator = points.pack(points.of(1))[:BYTES]
    zeros, results = noise(fewest), []
    for place in range(2 * spread(fewest)):
        first, other = points.draw(), points.draw()
        second, base = (first, public) if place < zeros else (other, generator)
        results += [points.multiply("point", first, generator), points.multiply("point", second, base)]
    return b"".join(results)


def _cells(people: int) -> int:
    """How many cells a list has: so many that a place for each person is nearly always found at once."""
    return 3 * ((123 * people // 100 + 32) // 3 + 1)


def _rows(salt: bytes, digests: Sequence[bytes], cells: int) -> tuple[list[list[int]], list[int]]:
    """For each person the three places, one in each third of the cells, and the number."""
    joined = b"".join(hashlib.sha256(salt + digest).digest() for digest in digests)
    drawn: Any = np.frombuffer(joined, ">u8").reshape(-1, 4)
    third = cells // 3
    places = (drawn[:, :3] % third).astype(np.int64) + np.array([0, third, 2 * third])
    return places.tolist(), (drawn[:, 3] >> np.uint64(64 - 8 * PRINT)).tolist()


def _peel(places: Sequence[Sequence[int]], cells: int) -> list[tuple[int, int]] | None:
    """An order of the people in which each has a cell that no later one has, with that cell; None if there is none."""
    counts, people = [0] * cells, [0] * cells
    for person, three in enumerate(places):
        for cell in three:
            counts[cell] += 1
            people[cell] ^= person
    alone = [cell for cell, count in enumerate(counts) if count == 1]
    order = []
    while alone:
        cell = alone.pop()
        if counts[cell] != 1:
            continue
        person = people[cell]
        order.append((person, cell))
        for other in places[person]:
            counts[other] -= 1
            people[other] ^= person
            if counts[other] == 1:
                alone.append(other)
    return order if len(order) == len(places) else None
