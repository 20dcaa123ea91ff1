"""How many people two holders have in common, or who, without showing each other their lists.

**Who.** Commutative encryption by Diffie and Hellman's exchange on P-256. The asker sends its identifiers as points
times its key; the other holder multiplies them by its own key and sends its own list the same way; the asker multiplies
that by its key too. Who is in both lists is then the same point in both, and nothing else can be told from a point
without the keys. Each side draws a key for one session and forgets it.

**How many.** The points above would tell an asker with one key for each person who is common, in whatever order they
come back. So the size is counted in another way, which an asker cannot cheat: see `shoal.overlap.cardinality`.

What is not protected: both learn the length of the other's list. An asker can put guessed people into its list. Where
it asks who, it learns of each of them whether they are in the other list. Where it asks how many, the answering holder
blurs the number (`fewest`). The result itself is personal data. Only the asker learns it.

References: Pohlig and Hellman 1978; Meadows 1986; Huberman, Franklin and Hogg 1999.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.errors import InputError, ParameterError
from shoal.overlap import cardinality, points
from shoal.overlap.messages import MOST, MOST_FEWEST, check_session, digest, pack, unpack
from shoal.overlap.points import BYTES

FEWEST = 10
"""How many people together do not visibly change the size that is told, unless the answering holder says otherwise."""
_TAG = b"shoal overlap P-256 SHA-256 counter v1"


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What the asker learns: the size, unless it is too small to be shown, and the places of the common people in its
    own list, unless only the size was asked for. A blurred size is off by more than `margin` in 1 of 20 sessions."""

    own: int
    other: int
    size: int | None
    fewer_than: int | None = None
    margin: int = 0
    places: tuple[int, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class OverlapQuestion:
    """What an asker's message says before anybody answers it: how many people it asks about, and what it wants."""

    session: str
    size_only: bool
    people: int


def normalized(identifier: str) -> str:
    """An identifier as both holders must spell it: one form of each sign and no invisible ones, no upper case, single
    blanks; figures as a number without idle zeros, but with leading ones.

    Example:
        >>> normalized(" Ada  LOVELACE\u200b") == normalized("ada lovelace")
        True
        >>> normalized("17.0") == normalized("17") != normalized("017")
        True
    """
    from shoal.parsing.identity import identifier as spelling  # which takes longer to load than the workers need

    return spelling(" ".join(unicodedata.normalize("NFKC", spelling(identifier)).casefold().split()))


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
    own: int
    asked: str = field(repr=False)
    key: bytes = field(repr=False)
    sent: bytes = field(repr=False)
    places: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, identifiers: Iterable[str | None], *, size_only: bool = False, session: str | None = None) -> Asker:
        """A new session about a list; people that are listed twice count once, missing ones not at all."""
        session = secrets.token_hex(16) if session is None else session
        check_session(session)
        digests, places = _digests(identifiers, session)
        if size_only:
            key, sent = cardinality.asked(digests)
            places = []
        else:
            key = points.draw()
            blinded = _split(points.multiply("hash", key, b"".join(digests)))
            # In the order of the points, which says nothing about the order of the list.
            order = sorted(range(len(blinded)), key=blinded.__getitem__)
            sent, places = b"".join(blinded[place] for place in order), [places[place] for place in order]
        return cls(
            session=session,
            size_only=size_only,
            own=len(digests),
            key=key,
            sent=sent,
            places=tuple(places),
            asked=digest(_asking(session, size_only, len(digests), sent)),
        )

    @property
    def message(self) -> bytes:
        """What goes to the other holder."""
        return _asking(self.session, self.size_only, self.own, self.sent)

    def finished(self, answer: bytes) -> Overlap:
        """The overlap, from the other holder's answer."""
        header, body = unpack(answer, "answer")
        if (header["session"], header["size_only"], header["asked"]) != (self.session, self.size_only, self.asked):
            raise InputError("this answer belongs to another session")
        other, fewest = header["own"], header["fewest"]
        expected = cardinality.answered_bytes(other, fewest) if self.size_only else (self.own + other) * BYTES
        if header["yours"] != self.own or len(body) != expected:
            raise InputError("this answer has another number of points than it should have")
        if self.size_only:
            size = cardinality.counted(self.key, body) - cardinality.spread(fewest)
            size = max(0, min(size, self.own, other))
            if fewest > 1 and size < fewest:
                return Overlap(own=self.own, other=other, size=None, fewer_than=fewest)
            return Overlap(own=self.own, other=other, size=size, margin=cardinality.margin(fewest))
        returned, theirs = _split(body[: self.own * BYTES]), body[self.own * BYTES :]
        _check_distinct(returned)
        _check_distinct(_split(theirs))
        both = set(_split(points.multiply("point", self.key, theirs)))
        common = [place for place, point in zip(self.places, returned, strict=True) if point in both]
        return Overlap(own=self.own, other=other, size=len(common), places=tuple(sorted(common)))

    def saved(self, identifiers: Iterable[str | None]) -> bytes:
        """What the asker keeps between two steps: its key, and the place in the list of each point. It is secret."""
        header = {name: getattr(self, name) for name in ("session", "size_only", "own", "asked")}
        header |= {"key": self.key.hex(), "list": self._digest(identifiers)}
        return pack("state", header, np.array(self.places, "<i8").tobytes())

    @classmethod
    def loaded(cls, saved: bytes, identifiers: Iterable[str | None]) -> Asker:
        """The asker that was saved, when the list is still the same."""
        header, body = unpack(saved, "state")
        try:
            key = bytes.fromhex(header["key"])
        except ValueError:
            key = b""
        if not points.is_key(key) or len(body) != (0 if header["size_only"] else header["own"] * 8):
            raise InputError("this is not the state of a session")
        stated = {name: header[name] for name in ("session", "size_only", "own", "asked")}
        asker = cls(**stated, key=key, sent=b"", places=tuple(np.frombuffer(body, "<i8").tolist()))
        if not hmac.compare_digest(asker._digest(identifiers).encode(), header["list"].encode(errors="replace")):
            raise InputError("the list is not the one that the session was started with")
        return asker

    def _digest(self, identifiers: Iterable[str | None]) -> str:
        digests, _ = _digests(identifiers, self.session)
        return hmac.new(self.key, b"".join(digests), "sha256").hexdigest()


def asked(message: bytes, *, most: int = MOST) -> OverlapQuestion:
    """What an asker's message asks for."""
    header, _ = unpack(message, "ask", most=most)
    return OverlapQuestion(session=header["session"], size_only=header["size_only"], people=header["own"])


def answered(
    message: bytes,
    identifiers: Iterable[str | None],
    *,
    most: int = MOST,
    size_only: bool = False,
    fewest: int = FEWEST,
) -> bytes:
    """The answer of the other holder to a message. Its key is drawn here and forgotten here.

    With `size_only` a message that asks who is common is refused. An asker of the size learns nothing that fewer than
    `fewest` people decide: the size is blurred by a random number of that magnitude. With 1 it is told exactly.
    """
    if not 1 <= fewest <= MOST_FEWEST:
        raise ParameterError(f"fewest is a number from 1 to {MOST_FEWEST:,}")
    header, body = unpack(message, "ask", most=most)
    own = header["own"]
    if size_only and not header["size_only"]:
        raise InputError("the other holder asks who is common, and you allow the size only; it must ask for the size")
    if header["size_only"]:
        if own < fewest:
            raise InputError(
                f"the other holder asks about fewer than {fewest:,} people, the fewest that you tell about, so nothing "
                "was told"
            )
        digests, _ = _digests(identifiers, header["session"])
        reply = cardinality.answered(body, own, digests, fewest)
    else:
        if len(body) != own * BYTES:
            raise InputError("this message has another number of points than it says")
        _check_distinct(_split(body))
        key = points.draw()
        digests, _ = _digests(identifiers, header["session"])
        listed = sorted(_split(points.multiply("hash", key, b"".join(digests))))
        reply = points.multiply("point", key, body) + b"".join(listed)
    answer = {
        "session": header["session"],
        "size_only": header["size_only"],
        "own": len(digests),
        "yours": own,
        "asked": digest(message),
        "fewest": fewest if header["size_only"] else 1,
    }
    return pack("answer", answer, reply)


def _asking(session: str, size_only: bool, own: int, sent: bytes) -> bytes:
    return pack("ask", {"session": session, "size_only": size_only, "own": own}, sent)


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
