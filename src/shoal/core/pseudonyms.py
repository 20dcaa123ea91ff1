"""Pseudonyms: what may stand in the place of a direct identifier."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from shoal.errors import ParameterError

LEAST_KEY = 16


_PSEUDONYM = re.compile(r"[0-9a-f]{32}")


def are_pseudonyms(texts: Iterable[str | None]) -> bool:
    """Whether all texts have the shape of a pseudonym, or are missing. It does not say what they were made from.

    Example:
        >>> are_pseudonyms(Pseudonyms().of("name", ["Ann", None])), are_pseudonyms(["Ann"])
        (True, False)
    """
    return all(text is None or _PSEUDONYM.fullmatch(text) for text in texts)


@dataclass(frozen=True)
class Pseudonyms:
    """Keyed pseudonyms when there is a key (the same person gets the same one in every release), else random ones.

    Keyed pseudonyms are HMAC-SHA256, cut to 128 bits. The key is never stored and never printed.
    They do not protect against whoever holds the key. Random ones come from the operating system, never from a seed:
    nobody can compute them again, the holder included.

    Example:
        >>> keyed = Pseudonyms(key=b"a key of at least sixteen bytes")
        >>> keyed.of("name", ["Ann", None]) == keyed.of("name", ["Ann", None])
        True
        >>> Pseudonyms().of("name", ["Ann"]) == Pseudonyms().of("name", ["Ann"])
        False
    """

    key: bytes | None = None

    def __post_init__(self) -> None:
        if self.key is not None and len(self.key) < LEAST_KEY:
            raise ParameterError(f"the pseudonym key has {len(self.key)} bytes; use at least {LEAST_KEY} random ones")

    def __repr__(self) -> str:
        return f"Pseudonyms({'keyed' if self.key is not None else 'random'})"

    @property
    def told_apart(self) -> str:
        """What tells these from others, and not the key: that they are random, or a keyed hash of nothing."""
        return "random" if self.key is None else hmac.new(self.key, b"", hashlib.sha256).hexdigest()

    def of(self, column: str, values: list[str | None]) -> list[str | None]:
        """A pseudonym for each distinct value; a missing identifier stays missing."""
        if self.key is None:
            drawn = secrets.token_bytes(16 * len(values))
            tokens = [drawn[16 * place : 16 * place + 16].hex() for place in range(len(values))]
        else:
            salted = column.encode() + b"\0"
            tokens = [
                hmac.new(self.key, salted + (value or "").encode(), hashlib.sha256).hexdigest()[:32] for value in values
            ]
        return [None if value is None else token for value, token in zip(values, tokens, strict=True)]
