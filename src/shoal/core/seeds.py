"""Seeds: drawn, mixed with the operating system's randomness, and long enough that nobody finds one by trying."""

from __future__ import annotations

import hashlib
import secrets
from numbers import Integral
from typing import Any

from shoal.errors import ParameterError
from shoal.notices import tell

BITS = 128
"""Bits of a seed that is drawn or mixed: nobody tries so many."""
SHORT = 2**40
"""Seeds below this are found by trying: at 100,000 a second, a computer of the size of a desk is through in months, and
ten thousand rented ones in minutes."""


def checked(seed: Any) -> int:
    """A seed, when it is one."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ParameterError("the seed is a whole number from 0 up")
    return int(seed)


def drawn() -> int:
    """A seed from the operating system."""
    return secrets.randbits(BITS)


def mixed(seed: int) -> int:
    """A seed that follows from another one and from the operating system, so that whoever has the one lacks the other.

    Example:
        >>> mixed(1) != mixed(1)
        True
    """
    key = secrets.randbits(256).to_bytes(32, "big")
    return int.from_bytes(hashlib.blake2b(str(seed).encode(), key=key, digest_size=BITS // 8).digest(), "big")


def warned(seed: int) -> int:
    """The same seed, with a note where it is too short to hide anything behind."""
    if seed < SHORT:
        tell(
            "the seed is short enough to be found by trying, and whoever finds it can undo what the algorithm did at "
            f"random; leave it out, or give one of more than {SHORT:,}"
        )
    return seed
