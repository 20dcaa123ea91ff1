"""Association rules of three or more holders, each with records of its own about the same kind of thing, without
showing one another a count.

The holders agree on a list of items, and pass one file round, always in the same order. Each turn is one holder's work
on it. The first round makes the key, of which everybody has a part. Then, for itemsets of one item, of two and so on,
one round adds up everybody's encrypted counts and the next one tests which itemsets may be shown. What passed is read
in the round after that, by all holders together.

An itemset is shown when at least `fewest` have it. Of any other itemset everybody learns that it was not shown, and
nothing else: no holder, and no group of holders without all others, can read its count. A count that is shown is
blurred by every holder, with noise that hides `fewest` people (the truncated geometric mechanism of
`shoal.overlap.cardinality`). Otherwise the counts of rare itemsets would follow from those that are shown: whoever is
in none of the towns that are shown is in the one that is not.

**Model.** Holders follow the protocol and are curious (semi-honest). One who sends something else can get counts read
that are not to be shown, or make the result wrong. All holders but one together learn that one's counts of the itemsets
that are shown, blurred by its own noise alone; that is so in any sum, and why two holders are refused.

References: Kantarcioglu and Clifton 2004 (rules of several holders by commutative encryption); Ghosh, Roughgarden and
Sundararajan 2009 (noise).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, ParameterError
from shoal.overlap import cardinality, encrypted_counts, normalized, points
from shoal.overlap.itemsets import Item, SharedCounts, candidates
from shoal.overlap.points import BYTES
from shoal.overlap.rules_message import RulesMessage, RulesPlan, number, text

_STATE = b"shoal rules state 1\n"


@dataclass(frozen=True, eq=False, kw_only=True)
class RulesHolder:
    """One of the holders between two of its turns: its place in the round, its part of the key and its last turn. It is
    secret, and no two sessions have the same.

    Example:
        >>> plan = RulesPlan(items=(("disease", "flu"), ("season", "winter")), holders=3, fewest=2)
        >>> rows = [{"disease": "Flu", "season": "winter"}, {"disease": "cold", "season": "winter"}] * 2
        >>> message, holders = started(plan), [None, None, None]
        >>> for turn in range(100):
        ...     if RulesMessage.unpacked(message).finished:
        ...         break
        ...     message, holders[turn % 3] = take_turn(message, rows, holders[turn % 3])
        >>> sorted(shared_counts(message).counts)
        [(0,), (0, 1), (1,)]
    """

    session: str
    place: int
    turn: int
    key: bytes = field(repr=False)
    rows: str = field(repr=False)

    def saved(self) -> bytes:
        stated = {**vars(self), "key": self.key.hex()}
        return _STATE + json.dumps(stated, sort_keys=True).encode()

    @classmethod
    def loaded(cls, saved: bytes) -> RulesHolder:
        try:
            if not saved.startswith(_STATE):
                raise ValueError
            stated = json.loads(saved[len(_STATE) :])
            key = bytes.fromhex(stated["key"])
            if not points.is_key(key):
                raise ValueError
            return cls(
                session=text(stated["session"]), place=number(stated["place"]), turn=number(stated["turn"]), key=key,
                rows=text(stated["rows"]),
            )  # fmt: skip
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError("this is not the state of a session about rules") from None


def started(plan: RulesPlan) -> bytes:
    """The file that the first holder takes its turn with."""
    return RulesMessage(plan=plan).packed()


def take_turn(
    message: bytes, rows: Iterable[dict[str, str | None]], holder: RulesHolder | None, *, person: str | None = None
) -> tuple[bytes, RulesHolder]:
    """One turn of a holder: the file for the next one, and what to keep until the next turn. A holder's first turn has
    no holder yet, and decides its place in the round."""
    known = RulesMessage.unpacked(message)
    if known.finished:
        raise InputError("this session is finished; everybody can read its rules")
    if known.plan.people and person is None:
        raise ParameterError("the holders agreed to count people; name the column that says whose each record is")
    if person is not None and not known.plan.people:
        raise ParameterError("the holders agreed to count records, not people; leave the person column out")
    has = transactions(rows, known.plan.items, person)
    holder = _expected(known, holder, has)
    if known.round == 0:
        first = points.pack(points.of(1))[:BYTES]
        after = replace(known, key=points.multiply("point", holder.key, known.key or first))
    else:
        after = _counted(known, holder, has) if known.round % 2 else _tested(known, holder)
    if known.place == known.plan.holders - 1:
        after = _closed(after)
    after = replace(after, turn=known.turn + 1)
    return after.packed(), replace(holder, turn=known.turn)


def shared_counts(message: bytes) -> SharedCounts:
    """What all holders learn, from the file of a finished session."""
    known = RulesMessage.unpacked(message)
    if not known.finished:
        raise InputError(f"this session is not finished: it is the turn of holder {known.place + 1}")
    counts = dict(zip(known.passed, known.revealed, strict=True))
    total = counts.pop((), None)
    return SharedCounts(items=known.plan.items, total=total, margin=margin(known.plan), counts=counts)


def transactions(
    rows: Iterable[dict[str, str | None]], items: Sequence[Item], person: str | None = None
) -> NDArray[np.bool_]:
    """Which record, or person, has which item. Spellings are made alike first.

    Example:
        >>> transactions([{"town": "Rome "}, {"town": "Oslo"}], [("Town", "rome")]).tolist()
        [[True], [False]]
    """
    spelling = cache(normalized)  # most values of a table are repeated very often
    places = {(spelling(column), spelling(value)): place for place, (column, value) in enumerate(items)}
    owners: dict[str, int] = {}
    found: list[tuple[int, int]] = []
    for place, row in enumerate(rows):
        spelled = {spelling(column): spelling(value) for column, value in row.items() if value is not None}
        # Whoever is not named is somebody else each time.
        name = str(place) if person is None else spelled.get(spelling(person), f"\0{place}")
        owner = owners.setdefault(name, len(owners))
        found += [(owner, places[entry]) for entry in spelled.items() if entry in places]
    has = np.zeros((len(owners), len(items)), np.bool_)
    for owner, place in found:
        has[owner, place] = True
    return has


def _expected(known: RulesMessage, holder: RulesHolder | None, has: NDArray[np.bool_]) -> RulesHolder:
    """The holder whose turn it is, with the table that it began with."""
    key = points.draw() if holder is None else holder.key
    # Keyed, because a digest of counts alone could be found by trying.
    rows = hmac.new(key, hashlib.sha256(np.packbits(has).tobytes() + repr(has.shape).encode()).digest(), "sha256")
    if holder is None:
        if known.round > 0:
            raise InputError("this session began without you: your secret state of it is missing")
        return RulesHolder(session=known.plan.session, place=known.place, turn=-1, key=key, rows=rows.hexdigest())
    if holder.session != known.plan.session:
        raise InputError("this file belongs to another session than your state")
    if known.turn <= holder.turn:
        raise InputError("you had this turn before; a turn is taken once")
    if known.place != holder.place:
        raise InputError(f"it is the turn of holder {known.place + 1}, and you are holder {holder.place + 1}")
    if not hmac.compare_digest(rows.hexdigest().encode(), holder.rows.encode(errors="replace")):
        raise InputError("the table is not the one that the session was started with")
    return holder


def _counted(known: RulesMessage, holder: RulesHolder, has: NDArray[np.bool_]) -> RulesMessage:
    """After a holder added its counts of the candidates, and took its part of the key off what passed before."""
    fewest, unread = known.plan.fewest, len(known.unread)
    own = [int(has[:, list(each)].all(axis=1).sum()) for each in known.candidates]
    noisy = [each + cardinality.noise(fewest) - cardinality.spread(fewest) for each in own]
    pairs, sums = encrypted_counts.encrypted(known.key, own + noisy), encrypted_counts.unpacked(known.sums)
    if known.place > 0:
        pairs = encrypted_counts.added(sums[unread:], pairs)
    working = known.working
    if known.place == 0:
        working = b"".join(first.to_bytes(BYTES, "big") for (first, _), _ in sums)
    return replace(
        known,
        sums=encrypted_counts.packed([*sums[:unread], *pairs]),
        working=points.multiply("point", holder.key, working),
    )


def _tested(known: RulesMessage, holder: RulesHolder) -> RulesMessage:
    """After a holder had the pairs of a test."""
    working, fewest = known.working, known.plan.fewest
    if known.place == 0:
        exact = encrypted_counts.unpacked(known.sums)[: len(known.candidates)]
        working = encrypted_counts.tests(exact, fewest)
    return replace(known, working=encrypted_counts.blinded(holder.key, working, fewest))


def _closed(known: RulesMessage) -> RulesMessage:
    """The message after the last holder's turn of a round."""
    plan = known.plan
    if known.round == 0:
        singles = candidates([()], 1, plan.items, several=True)
        return replace(known, candidates=((), *singles))
    if known.round % 2:
        return _read(known)
    verdicts = encrypted_counts.passing(known.working, plan.fewest)
    if () in known.candidates and not verdicts[0]:
        verdicts = [False] * len(verdicts)  # so few records that nothing is told of them
    noisy = encrypted_counts.unpacked(known.sums)[len(known.candidates) :]
    shown = [place for place, verdict in enumerate(verdicts) if verdict]
    passed, length = (*known.passed, *(known.candidates[place] for place in shown)), known.round // 2 + 1
    longer = candidates(passed, length, plan.items, several=plan.people) if shown and length <= plan.longest else []
    return replace(
        known,
        passed=passed,
        candidates=tuple(longer),
        sums=encrypted_counts.packed([noisy[place] for place in shown]),
        working=b"",
        finished=not shown,
    )


def _read(known: RulesMessage) -> RulesMessage:
    """After the counts were read that passed before: blurred, and never below what they were tested for."""
    unread, fewest = len(known.unread), known.plan.fewest
    pairs = encrypted_counts.unpacked(known.sums)
    offset = known.plan.holders * cardinality.spread(fewest)
    counts = encrypted_counts.decrypted(pairs[:unread], known.working, offset)
    return replace(
        known,
        revealed=(*known.revealed, *(max(each, fewest) for each in counts)),
        sums=encrypted_counts.packed(pairs[unread:]),
        working=b"",
        finished=not known.candidates,
    )


def margin(plan: RulesPlan) -> int:
    """By how much a shown count is off at most, in 19 of 20 cases: the noise of all holders together.

    Example:
        >>> margin(RulesPlan(items=(("disease", "flu"),), holders=3))
        50
    """
    weights = cardinality.weights(plan.fewest)
    alone = np.array(weights) / sum(weights)
    together = alone
    for _ in range(plan.holders - 1):
        together = np.convolve(together, alone)
    middle = len(together) // 2
    within = together[middle] + 2 * np.append(0.0, np.cumsum(together[middle + 1 :]))
    return int(np.searchsorted(within, 0.95))
