"""How many people two holders have in common, and who, without showing each other their lists.

Commutative encryption by Diffie and Hellman's exchange on P-256. The asker sends its identifiers as points times its
key; the other holder multiplies them by its own key and sends its own list the same way; the asker multiplies that by
its key too. Who is in both lists is then the same point in both, and nothing else can be told from a point without the
keys. Each side draws a key for one session and forgets it.

What is not protected: both learn the length of the other's list. A holder that does not follow the protocol can put
guessed people into its list and learn whether they are in the other one; so know whom you deal with, bound the length
of lists, and do not repeat sessions with slightly different lists, whose difference is one person. The result itself is
personal data. Only the asker learns it.

References: Pohlig and Hellman 1978; Meadows 1986; Huberman, Franklin and Hogg 1999.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.errors import InputError, ParameterError
from shoal.overlap import points
from shoal.overlap.points import BYTES

MOST = 10_000_000
"""Points that are taken from the other holder at most."""
FEWEST = 10
"""An overlap of fewer people is not shown where only the size is asked for."""
_MAGIC = b"shoal overlap 1\n"
_TAG = b"shoal overlap P-256 SHA-256 counter v1"
_LONGEST_HEADER = 1_000


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What the asker learns: the size, unless it is too small to be shown, and the places of the common people in its
    own list, unless only the size was asked for."""

    own: int
    other: int
    size: int | None
    fewer_than: int | None = None
    places: tuple[int, ...] | None = field(default=None, repr=False)


def normalized(identifier: str) -> str:
    """An identifier as both holders must spell it: one form of each sign, no upper case, single blanks.

    Example:
        >>> normalized(" Ada  LOVELACE") == normalized("ada lovelace")
        True
    """
    return " ".join(unicodedata.normalize("NFKC", identifier).casefold().split())


@dataclass(frozen=True, eq=False, kw_only=True)
class Asker:
    """The holder that asks and learns the result. It keeps its key until the answer comes, then forgets it.

    Example:
        >>> asker = Asker.of(["Ada Lovelace ", "ruby", "Sam", "Brendan"])
        >>> answer = answered(asker.message, ["ADA  lovelace", "Ruby", "Alexander", "Mika", "Zoe"])
        >>> asker.finished(answer).places
        (0, 1)
    """

    session: str
    size_only: bool
    key: bytes = field(repr=False)
    sent: bytes = field(repr=False)
    places: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, identifiers: Iterable[str | None], *, size_only: bool = False, session: str | None = None) -> Asker:
        """A new session about a list; people that are listed twice count once, missing ones not at all."""
        session = secrets.token_hex(16) if session is None else session
        _check_session(session)
        key = points.draw()
        digests, places = _digests(identifiers, session)
        sent = _split(points.multiplied("hash", key, b"".join(digests)))
        # In the order of the points, which says nothing about the order of the list.
        order = sorted(range(len(sent)), key=sent.__getitem__)
        return cls(
            session=session, size_only=size_only, key=key, sent=b"".join(sent[place] for place in order),
            places=tuple(places[place] for place in order),
        )  # fmt: skip

    @property
    def message(self) -> bytes:
        """What goes to the other holder."""
        header = {"step": "ask", "session": self.session, "size_only": self.size_only, "own": len(self.places)}
        return _packed(header, self.sent)

    def finished(self, answer: bytes, *, fewest: int = FEWEST) -> Overlap:
        """The overlap, from the other holder's answer."""
        header, body = _unpacked(answer, "answer")
        if header["session"] != self.session or header["size_only"] != self.size_only:
            raise InputError("this answer belongs to another session")
        own, other = len(self.places), header["own"]
        if header["yours"] != own or len(body) != (own + other) * BYTES:
            raise InputError("this answer has another number of points than it should have")
        returned, theirs = _split(body[: own * BYTES]), body[own * BYTES :]
        _check_distinct(returned)
        _check_distinct(_split(theirs))
        both = set(_split(points.multiplied("point", self.key, theirs)))
        common = [place for place, point in zip(self.places, returned, strict=True) if point in both]
        if not self.size_only:
            return Overlap(own=own, other=other, size=len(common), places=tuple(sorted(common)))
        if len(common) < fewest:
            return Overlap(own=own, other=other, size=None, fewer_than=fewest)
        return Overlap(own=own, other=other, size=len(common))

    def saved(self, identifiers: Iterable[str | None]) -> bytes:
        """What the asker keeps between two steps: its key, and the place in the list of each point. It is secret."""
        header = {
            "step": "state", "session": self.session, "size_only": self.size_only, "own": len(self.places),
            "key": self.key.hex(), "list": self._digest(identifiers),
        }  # fmt: skip
        return _packed(header, np.array(self.places, "<i8").tobytes())

    @classmethod
    def loaded(cls, saved: bytes, identifiers: Iterable[str | None]) -> Asker:
        """The asker that was saved, when the list is still the same."""
        header, body = _unpacked(saved, "state")
        if len(body) != header["own"] * 8 or len(header["key"]) != 2 * BYTES:
            raise InputError("this is not the state of a session")
        made = cls(
            session=header["session"], size_only=header["size_only"], key=bytes.fromhex(header["key"]), sent=b"",
            places=tuple(np.frombuffer(body, "<i8").tolist()),
        )  # fmt: skip
        if not hmac.compare_digest(made._digest(identifiers), header["list"]):
            raise InputError("the list is not the one that the session was started with")
        return made

    def _digest(self, identifiers: Iterable[str | None]) -> str:
        digests, _ = _digests(identifiers, self.session)
        return hmac.new(self.key, b"".join(digests), "sha256").hexdigest()


def asked(message: bytes, *, most: int = MOST) -> int:
    """How many people the asker's list has, which its message tells."""
    own: int = _unpacked(message, "ask", most=most)[0]["own"]
    return own


def answered(message: bytes, identifiers: Iterable[str | None], *, most: int = MOST) -> bytes:
    """The answer of the other holder to a message. Its key is drawn here and forgotten here."""
    header, body = _unpacked(message, "ask", most=most)
    if len(body) != header["own"] * BYTES:
        raise InputError("this message has another number of points than it says")
    _check_distinct(_split(body))
    key = points.draw()
    digests, _ = _digests(identifiers, header["session"])
    own = b"".join(sorted(_split(points.multiplied("hash", key, b"".join(digests)))))
    returned = points.multiplied("point", key, body)
    if header["size_only"]:
        # In another order, so that the asker learns how many are common and not which.
        returned = b"".join(sorted(_split(returned)))
    answer = {
        "step": "answer", "session": header["session"], "size_only": header["size_only"],
        "own": len(own) // BYTES, "yours": header["own"],
    }  # fmt: skip
    return _packed(answer, returned + own)


def _digests(identifiers: Iterable[str | None], session: str) -> tuple[list[bytes], list[int]]:
    """A digest of each different identifier for this session, and the place where it first stands."""
    first: dict[str, int] = {}
    for place, identifier in enumerate(identifiers):
        spelled = "" if identifier is None else normalized(identifier)
        if spelled:
            first.setdefault(spelled, place)
    if not first:
        raise InputError("the list has no identifiers")
    start = hashlib.sha256(_TAG + b"\0" + session.encode() + b"\0")
    digests = []
    for spelled in first:
        digest = start.copy()
        digest.update(spelled.encode())
        digests.append(digest.digest())
    return digests, list(first.values())


def _split(joined: bytes) -> list[bytes]:
    return [joined[start : start + BYTES] for start in range(0, len(joined), BYTES)]


def _check_distinct(sent: Sequence[bytes]) -> None:
    if len(set(sent)) < len(sent):
        raise InputError("the other holder's message repeats points; the session is over")


def _check_session(session: Any) -> None:
    if not isinstance(session, str) or not 8 <= len(session) <= 100 or not session.isascii() or not session.isalnum():
        raise ParameterError("a session is named by 8 to 100 letters and digits")


def _packed(header: dict[str, Any], body: bytes) -> bytes:
    return _MAGIC + json.dumps(header, sort_keys=True).encode() + b"\n" + body


_FIELDS: dict[str, dict[str, type]] = {
    "ask": {"session": str, "size_only": bool, "own": int},
    "answer": {"session": str, "size_only": bool, "own": int, "yours": int},
    "state": {"session": str, "size_only": bool, "own": int, "key": str, "list": str},
}


def _unpacked(message: bytes, step: str, *, most: int = MOST) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a message, which may be anything at all."""
    wrong = InputError(f"this is not the {step if step == 'state' else step + ' message'} of an overlap session")
    if not message.startswith(_MAGIC):
        raise wrong
    end = message.find(b"\n", len(_MAGIC), len(_MAGIC) + _LONGEST_HEADER)
    try:
        header: Any = json.loads(message[len(_MAGIC) : end]) if end > 0 else None
        _check_session(header["session"] if isinstance(header, dict) else None)
    except (ValueError, RecursionError, KeyError, ParameterError):
        raise wrong from None
    fields = _FIELDS[step]
    if header.get("step") != step or any(type(header.get(name)) is not kind for name, kind in fields.items()):
        raise wrong
    if any(not header[name] > 0 for name in ("own", "yours") if name in fields):
        raise wrong
    if header["own"] > most:
        raise InputError(f"the other holder's list is longer than {most:,}, the most that is taken")
    return header, message[end + 1 :]
