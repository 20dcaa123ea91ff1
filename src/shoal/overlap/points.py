"""Points of the curve P-256 by their x-coordinates, multiplied by a secret number on as many processes as help.

Only x crosses: it is the same for a point and its mirror image, so which of the two a number is lifted to does not
matter, and multiplying by one secret and then by another gives the same as the other way round. The group has prime
order, so no point leaks a part of a key.

Run as a module it is the worker: a key and 32-byte items come in, 32-byte points go out.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

from shoal.errors import InputError, MissingExtraError, ShoalError

BYTES = 32
LARGE = 2_000
"""Items from which on a further process is worth its start."""

_PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_INVALID = 3

Operation = Literal["hash", "point"]


def draw() -> bytes:
    """A fresh key."""
    while True:
        key = os.urandom(BYTES)
        if 0 < int.from_bytes(key, "big") < _ORDER:
            return key


def multiplied(operation: Operation, key: bytes, items: bytes) -> bytes:
    """Each item times the key, in order. An item is a `point`, or a digest that is turned into one by a `hash`."""
    count = len(items) // BYTES
    workers = max(1, min(os.cpu_count() or 1, count // LARGE))
    if workers == 1:
        return _multiplied(operation, key, items)
    size = -(-count // workers) * BYTES
    shares = [items[start : start + size] for start in range(0, len(items), size)]
    results: list[Any] = [None] * len(shares)

    def work(place: int) -> None:
        command = [sys.executable, "-m", __name__, operation]
        results[place] = subprocess.run(command, input=key + shares[place], capture_output=True, check=False)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(shares))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(done.returncode == _INVALID for done in results):
        raise _invalid()
    if any(done.returncode or len(done.stdout) != len(share) for done, share in zip(results, shares, strict=True)):
        raise ShoalError("a process that multiplies points ended early; nothing was written")
    return b"".join(done.stdout for done in results)


def _invalid() -> InputError:
    return InputError("the other holder's message has a point that is not on the curve; the session is over")


def _multiplied(operation: Operation, key: bytes, items: bytes) -> bytes:
    ec = _curves()
    curve, exchange = ec.SECP256R1(), ec.ECDH()
    secret = ec.derive_private_key(int.from_bytes(key, "big"), curve)
    lift: Callable[[bytes], Any] = _hashed if operation == "hash" else _lifted
    return b"".join(
        secret.exchange(exchange, lift(items[start : start + BYTES])) for start in range(0, len(items), BYTES)
    )


def _lifted(x: bytes) -> Any:
    ec = _curves()
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x02" + x)
    except ValueError:
        raise _invalid() from None


def _hashed(digest: bytes) -> Any:
    """A point from a digest: hashed with a counter until it is the x of one. How long that takes depends on the digest,
    which only this machine sees."""
    ec = _curves()
    curve = ec.SECP256R1()
    for counter in range(1 << 16):
        x = hashlib.sha256(digest + counter.to_bytes(2, "big")).digest()
        if int.from_bytes(x, "big") < _PRIME:
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


def check_installed() -> None:
    """Refuses, before any work is done, to go on without the package."""
    _curves()


if __name__ == "__main__":
    given = sys.stdin.buffer.read()
    chosen: Operation = "hash" if sys.argv[1] == "hash" else "point"
    try:
        sys.stdout.buffer.write(_multiplied(chosen, given[:BYTES], given[BYTES:]))
    except InputError:
        sys.exit(_INVALID)
