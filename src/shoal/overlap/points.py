"""Points of the curve P-256, multiplied by secret numbers on as many processes as help.

Where the x-coordinate is enough, only x crosses: it is the same for a point and its mirror image, so which of the two a
number is lifted to does not matter, and multiplying by one secret and then by another gives the same as the other way
round. The group has prime order, so no point leaks a part of a key. The point at infinity has no coordinates and cannot
be sent.

Run as a module it is the worker: the head and the items of an operation come in, what is made of the items goes out.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Literal

from shoal.errors import InputError, MissingExtraError, ShoalError
from shoal.overlap.sums import GENERATOR, ORDER, PRIME, Multiples, Point, add, negate, on_curve

BYTES = 32
SHARE = 2.0
"""Seconds of work that make a process worth its start, which takes up to 0.4: two are then 1.7 times as fast as one."""

_PLACE, PRINT = 4, 5
PERSON = 3 * _PLACE + PRINT
"""Bytes of a person that cells are evaluated for: three places of cells and a number."""
_INVALID = 3
_LENGTH = 8
_TOGETHER = 1_000
"""People whose sums are worked out together."""

Operation = Literal["hash", "point", "encrypt", "evaluate", "blind"]
_SIZES: dict[Operation, tuple[int, int, float]] = {
    "hash": (BYTES, BYTES, 70e-6),
    "point": (BYTES, BYTES, 52e-6),
    "encrypt": (2 * BYTES, 4 * BYTES, 42e-6),
    "evaluate": (PERSON, 2 * BYTES, 123e-6),
    "blind": (2 * BYTES, 2 * BYTES, 146e-6),
}
"""Bytes of an item and of what is made of it, and about how many seconds that takes."""


def draw() -> bytes:
    """A fresh key."""
    while True:
        key = os.urandom(BYTES)
        if is_key(key):
            return key


def is_key(key: bytes) -> bool:
    """Whether bytes are a number that a point can be multiplied by."""
    return len(key) == BYTES and 0 < int.from_bytes(key, "big") < ORDER


def multiply(operation: Literal["hash", "point"], key: bytes, items: bytes) -> bytes:
    """Each item times the key, in order. An item is a `point`, or a digest that is turned into one by a `hash`."""
    return _compute(operation, key, items)


def encrypt(numbers: bytes) -> bytes:
    """Pairs of numbers as pairs of points: each number times the generator, with both coordinates."""
    return _compute("encrypt", b"", numbers)


def evaluate(cells: bytes, blinds: tuple[Point, Point], people: bytes) -> bytes:
    """For each person, the sum of three cells minus the person's number times the generator, with a pair of points
    added to it and the result multiplied by a fresh secret. A person is three places of cells and a number; a cell is a
    pair of points. Only x-coordinates come back."""
    return _compute("evaluate", b"".join(map(pack, blinds)) + cells, people)


def blind(key: bytes, pairs: bytes) -> bytes:
    """Pairs of points, both times a fresh secret for each pair, and the first one times the key as well."""
    return _compute("blind", key, pairs)


def pack(point: Point) -> bytes:
    """A point by both coordinates."""
    return point[0].to_bytes(BYTES, "big") + point[1].to_bytes(BYTES, "big")


def unpack(joined: bytes) -> list[Point]:
    """Points by both coordinates, each of them on the curve."""
    numbers = [int.from_bytes(joined[start : start + BYTES], "big") for start in range(0, len(joined), BYTES)]
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    if not all(map(on_curve, points)):
        raise _invalid()
    return points


def lift(x: bytes) -> Point:
    """One of the two points with an x-coordinate, always the same."""
    numbers = _lift(x).public_numbers()
    return numbers.x, numbers.y


def of(number: int) -> Point:
    """A number times the generator."""
    joined = _curves().derive_private_key(number, _curves().SECP256R1()).public_key().public_bytes(*_both())
    return int.from_bytes(joined[1 : BYTES + 1], "big"), int.from_bytes(joined[BYTES + 1 :], "big")


def _compute(operation: Operation, head: bytes, items: bytes) -> bytes:
    """What an operation makes of each item, in order. All processes get the head."""
    size, result_size, seconds = _SIZES[operation]
    count = len(items) // size
    workers = max(1, min(os.cpu_count() or 1, int(count * seconds / SHARE)))
    if workers == 1:
        return _OPERATIONS[operation](head, items)
    step = -(-count // workers) * size
    shares = [items[start : start + step] for start in range(0, len(items), step)]
    command = [sys.executable, "-P", "-m", __name__, operation]  # nothing of the current folder is imported
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) for _ in shares]
    results = [b""] * len(shares)

    def work(place: int) -> None:
        results[place] = started[place].communicate(len(head).to_bytes(_LENGTH, "big") + head + shares[place])[0]

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(shares))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:  # an interrupt: without its processes no thread waits, and nothing goes on
        for process in started:
            process.kill()
        raise
    if any(process.returncode == _INVALID for process in started):
        raise _invalid()
    whole = (len(made) * size == len(share) * result_size for made, share in zip(results, shares, strict=True))
    if any(process.returncode for process in started) or not all(whole):
        raise ShoalError("a process that multiplies points ended early; nothing was written")
    return b"".join(results)


def _invalid() -> InputError:
    return InputError("the other holder's message has a point that is not on the curve; the session is over")


def _multiply(lift: Callable[[bytes], Any], key: bytes, items: bytes) -> bytes:
    ec = _curves()
    exchange = ec.ECDH()
    secret = ec.derive_private_key(int.from_bytes(key, "big"), ec.SECP256R1())
    return b"".join(
        secret.exchange(exchange, lift(items[start : start + BYTES])) for start in range(0, len(items), BYTES)
    )


def _encrypt(_: bytes, numbers: bytes) -> bytes:
    ec, both = _curves(), _both()
    curve = ec.SECP256R1()
    secrets = (int.from_bytes(numbers[start : start + BYTES], "big") for start in range(0, len(numbers), BYTES))
    return b"".join(ec.derive_private_key(each, curve).public_key().public_bytes(*both)[1:] for each in secrets)


@cache
def _subtracting() -> Multiples:
    """What subtracts the number of a person."""
    return Multiples(negate(GENERATOR), bits=8 * PRINT, width=8)


def _evaluate(head: bytes, people: bytes) -> bytes:
    ec = _curves()
    curve, exchange = ec.SECP256R1(), ec.ECDH()
    first_blind, second_blind = unpack(head[: 4 * BYTES])
    cells = memoryview(head)[4 * BYTES :]

    def coordinates(start: int) -> Point:
        return (
            int.from_bytes(cells[start : start + BYTES], "big"),
            int.from_bytes(cells[start + BYTES : start + 2 * BYTES], "big"),
        )

    results = []
    for begin in range(0, len(people), _TOGETHER * PERSON):
        batch = [
            people[start : start + PERSON]
            for start in range(begin, min(begin + _TOGETHER * PERSON, len(people)), PERSON)
        ]
        # The blinds come first: they are secret and random, so no cell can be chosen to be the same as a sum.
        first: Sequence[Point] = [first_blind] * len(batch)
        second: Sequence[Point] = [second_blind] * len(batch)
        for at in range(0, 3 * _PLACE, _PLACE):
            starts = [4 * BYTES * int.from_bytes(person[at : at + _PLACE], "big") for person in batch]
            first = add(first, [coordinates(start) for start in starts])
            second = add(second, [coordinates(start + 2 * BYTES) for start in starts])
        second = _subtracting().add_to(second, [int.from_bytes(person[-PRINT:], "big") for person in batch])
        for pair in zip(first, second, strict=True):
            secret = ec.generate_private_key(curve)
            results += [
                secret.exchange(exchange, ec.EllipticCurvePublicKey.from_encoded_point(curve, b"\x04" + pack(point)))
                for point in pair
            ]
    return b"".join(results)


def _blind(key: bytes, pairs: bytes) -> bytes:
    ec = _curves()
    curve, exchange, part = ec.SECP256R1(), ec.ECDH(), int.from_bytes(key, "big")
    results = []
    for start in range(0, len(pairs), 2 * BYTES):
        secret = int.from_bytes(draw(), "big")
        for at, number in ((start, secret * part % ORDER), (start + BYTES, secret)):
            factor = ec.derive_private_key(number, curve)
            results.append(factor.exchange(exchange, _lift(pairs[at : at + BYTES])))
    return b"".join(results)


def _lift(x: bytes) -> Any:
    ec = _curves()
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x02" + x)
    except ValueError:
        raise _invalid() from None


def _hash_to_point(digest: bytes) -> Any:
    """A point from a digest: hashed with a counter until it is the x of one. How long that takes depends on the digest,
    which only this machine sees."""
    ec = _curves()
    curve = ec.SECP256R1()
    for counter in range(1 << 16):
        x = hashlib.sha256(digest + counter.to_bytes(2, "big")).digest()
        if int.from_bytes(x, "big") < PRIME:
            try:
                return ec.EllipticCurvePublicKey.from_encoded_point(curve, b"\x02" + x)
            except ValueError:
                continue
    raise ShoalError("no point was found for an identifier")  # one in 2**65536


def _curves() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise MissingExtraError("overlap between holders", "crypto") from None
    return ec


def _both() -> tuple[Any, Any]:
    """How a point is written by both coordinates, with one byte before them."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return Encoding.X962, PublicFormat.UncompressedPoint


def check_installed() -> None:
    """Refuses, before any work is done, to go on without the package."""
    _curves()


_OPERATIONS: dict[Operation, Callable[[bytes, bytes], bytes]] = {
    "hash": partial(_multiply, _hash_to_point),
    "point": partial(_multiply, _lift),
    "encrypt": _encrypt,
    "evaluate": _evaluate,
    "blind": _blind,
}

if __name__ == "__main__":
    chosen: Operation = next(name for name in _OPERATIONS if name == sys.argv[1])
    length = int.from_bytes(sys.stdin.buffer.read(_LENGTH), "big")
    common = sys.stdin.buffer.read(length)
    try:
        sys.stdout.buffer.write(_OPERATIONS[chosen](common, sys.stdin.buffer.read()))
    except InputError:
        sys.exit(_INVALID)
