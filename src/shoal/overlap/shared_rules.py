"""Association rules of three or more holders, each with records of its own about the same kind of thing, without
showing one another a count.

The holders agree on a list of items, and pass one file round, always in the same order. Each turn is one holder's work
on it. The first round makes the key, of which everybody has a part. Then, for itemsets of one item, of two and so on,
one round adds up everybody's encrypted counts and the next one tests which itemsets may be shown. What passed is read
in the round after that, by all holders together.

An itemset is shown when at least `fewest` have it, and when no count above 0 and below `fewest` follows from what is
shown: of its items, some and not others (Atzori and others). Of any other itemset everybody learns that it was not
shown, and nothing else: no holder, and no group of holders without all others, can read its count.

**Model.** Holders follow the protocol and are curious (semi-honest). One who sends something else can read counts that
are not to be shown, or make the result wrong. All holders but one together learn that one's counts, by subtraction, of
the itemsets that are shown; that is so in any sum, and why two holders are refused.

References: Kantarcioglu and Clifton 2004 (rules of several holders by commutative encryption); Atzori, Bonchi,
Giannotti and Pedreschi 2008 (counts that follow from shown ones).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, ParameterError
from shoal.overlap import encrypted_counts, normalized, points
from shoal.overlap.encrypted_counts import PAIR, TEST, Pair
from shoal.overlap.itemsets import Item, Itemset, SharedCounts, candidates, tests_of
from shoal.overlap.messages import check_session, digest
from shoal.overlap.points import BYTES

LEAST_HOLDERS, MOST_HOLDERS, MOST_ITEMS, LONGEST, MOST_FEWEST = 3, 20, 1_000, 4, 100
_MAGIC = b"shoal rules 1\n"
_STATE = b"shoal rules state 1\n"


@dataclass(frozen=True, kw_only=True)
class RulesPlan:
    """What all holders agree on: the items, how many holders there are, the fewest whom a count may be about, how many
    items an itemset has at most, and whether people are counted, who may have several records, or records.

    Example:
        >>> plan = RulesPlan(items=(("disease", "flu"), ("season", "winter")), holders=3)
        >>> plan.fewest, plan.longest
        (10, 2)
    """

    items: tuple[Item, ...]
    holders: int
    fewest: int = 10
    longest: int = 2
    people: bool = False
    session: str = field(default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        check_session(self.session)
        bounds = {
            "holders": (LEAST_HOLDERS, MOST_HOLDERS), "fewest": (2, MOST_FEWEST), "longest": (1, LONGEST),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                reason = "; with two, each would learn the other's counts" if name == "holders" else ""
                raise ParameterError(f"{name} is a number from {low} to {high}{reason}")
        spelled = [(normalized(column), normalized(value)) for column, value in self.items]
        if not 0 < len(spelled) <= MOST_ITEMS:
            raise ParameterError(f"a session is about 1 to {MOST_ITEMS:,} items")
        if not all(column and value for column, value in spelled):
            raise ParameterError("an item is a column and a value; one of them is empty")
        if len(set(spelled)) < len(spelled):
            raise ParameterError("an item is listed twice; spellings that differ only in case or blanks are one")


@dataclass(frozen=True, eq=False, kw_only=True)
class RulesMessage:
    """The file that goes round. `passed` are the itemsets that may be shown, `revealed` the counts of those that were
    read, and `sums` the encrypted counts of the passed ones and then of the `candidates`. What holders are at is in
    `working`: the pairs of a test, or the points of counts that are being read."""

    plan: RulesPlan
    turn: int = 0
    key: bytes = b""
    passed: tuple[Itemset, ...] = ()
    candidates: tuple[Itemset, ...] = ()
    revealed: tuple[int, ...] = ()
    finished: bool = False
    sums: bytes = field(default=b"", repr=False)
    working: bytes = field(default=b"", repr=False)

    @property
    def round(self) -> int:
        """The first round makes the key; after it, odd rounds add up counts, and even ones test them."""
        return self.turn // self.plan.holders

    @property
    def place(self) -> int:
        """Whose turn it is, from 0."""
        return self.turn % self.plan.holders

    @property
    def unread(self) -> tuple[Itemset, ...]:
        """The itemsets that passed and were not read yet."""
        return self.passed[len(self.revealed) :]

    def packed(self) -> bytes:
        plan = {**vars(self.plan), "items": [list(item) for item in self.plan.items]}
        header = {
            "plan": plan, "turn": self.turn, "key": self.key.hex(), "passed": self.passed, "finished": self.finished,
            "candidates": self.candidates, "revealed": self.revealed, "sums": len(self.sums),
            "sha256": digest(self.sums + self.working),
        }  # fmt: skip
        return _MAGIC + json.dumps(header, sort_keys=True).encode() + b"\n" + self.sums + self.working

    @classmethod
    def unpacked(cls, message: bytes) -> RulesMessage:
        """The message, which may be anything at all."""
        wrong = InputError("this is not the file of a session about rules")
        if not message.startswith(_MAGIC):
            raise wrong
        end = message.find(b"\n", len(_MAGIC))
        try:
            header = json.loads(message[len(_MAGIC) : end])
            plan = header["plan"]
            items = tuple((_text(column), _text(value)) for column, value in plan["items"])
            numbers = {name: _number(plan[name]) for name in ("holders", "fewest", "longest")}
            body, size = message[end + 1 :], _number(header["sums"])
            known = cls(
                plan=RulesPlan(items=items, people=plan["people"] is True, session=plan["session"], **numbers),
                turn=_number(header["turn"]),
                key=bytes.fromhex(header["key"]),
                passed=_itemsets(header["passed"], len(items)),
                candidates=_itemsets(header["candidates"], len(items)),
                revealed=tuple(map(_number, header["revealed"])),
                finished=header["finished"] is True,
                sums=body[:size],
                working=body[size:],
            )
            stated = header["sha256"]
        except (ValueError, TypeError, KeyError, RecursionError, ParameterError):
            raise wrong from None
        if digest(body) != stated:
            raise InputError("this file is damaged or cut short; ask for it again")
        if not known._is_whole():
            raise wrong
        return known

    def _is_whole(self) -> bool:
        """Whether everything is there that should be at this turn, and nothing else."""
        counted = not self.finished and (self.round % 2 == 0 or self.place > 0) and self.round > 0
        counts = len(self.passed) + (len(self.candidates) if counted else 0)
        if self.finished or self.place == 0 or self.round == 0:
            working = 0
        elif self.round % 2:
            working = len(self.unread) * BYTES
        else:
            working = sum(tests_of(len(each), self.plan.fewest) for each in self.candidates) * TEST
        return (
            len(self.key) == (BYTES if self.turn else 0)
            and (len(self.sums), len(self.working)) == (counts * PAIR, working)
            and len(self.revealed) <= len(self.passed)
            and len({*self.passed, *self.candidates}) == len(self.passed) + len(self.candidates)
        )


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
        >>> shared_counts(message).counts
        {(0,): 6, (1,): 12, (0, 1): 6}
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
                session=_text(stated["session"]), place=_number(stated["place"]), turn=_number(stated["turn"]), key=key,
                rows=_text(stated["rows"]),
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
    return SharedCounts(items=known.plan.items, total=counts.pop((), None), counts=counts)


def transactions(
    rows: Iterable[dict[str, str | None]], items: Sequence[Item], person: str | None = None
) -> NDArray[np.bool_]:
    """Which record, or person, has which item. Spellings are made alike first.

    Example:
        >>> transactions([{"town": "Rome "}, {"town": "Oslo"}], [("Town", "rome")]).tolist()
        [[True], [False]]
    """
    places = {(normalized(column), normalized(value)): place for place, (column, value) in enumerate(items)}
    owners: dict[str, int] = {}
    found: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        spelled = {normalized(column): normalized(value) for column, value in row.items() if value is not None}
        # Whoever is not named is somebody else each time.
        name = str(number) if person is None else spelled.get(normalized(person), f"\0{number}")
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
    own = [int(has[:, list(each)].all(axis=1).sum()) for each in known.candidates]
    pairs, sums = encrypted_counts.encrypted(known.key, own), encrypted_counts.unpacked(known.sums)
    before = len(known.passed)
    if known.place > 0:
        pairs = encrypted_counts.added(sums[before:], pairs)
    working = known.working
    if known.place == 0:
        unread = sums[len(known.revealed) : before]
        working = b"".join(first.to_bytes(BYTES, "big") for (first, _), _ in unread)
    return replace(
        known,
        sums=encrypted_counts.packed([*sums[:before], *pairs]),
        working=points.multiply("point", holder.key, working),
    )


def _tested(known: RulesMessage, holder: RulesHolder) -> RulesMessage:
    """After a holder had the pairs of a test."""
    working, fewest = known.working, known.plan.fewest
    if known.place == 0:
        working = encrypted_counts.tests(known.candidates, _sums(known), fewest)
    return replace(known, working=encrypted_counts.blinded(holder.key, working, known.candidates, fewest))


def _sums(known: RulesMessage) -> dict[Itemset, Pair]:
    pairs = encrypted_counts.unpacked(known.sums)
    return dict(zip((*known.passed, *known.candidates), pairs, strict=True))


def _closed(known: RulesMessage) -> RulesMessage:
    """The message after the last holder's turn of a round."""
    plan = known.plan
    if known.round == 0:
        singles = candidates([()], 1, plan.items, several=True)
        return replace(known, candidates=((), *singles))
    if known.round % 2:
        pairs = encrypted_counts.unpacked(known.sums)[len(known.revealed) : len(known.passed)]
        counts = encrypted_counts.decrypted(pairs, known.working)
        known = replace(known, revealed=(*known.revealed, *counts), working=b"")
        return known if known.candidates else replace(known, finished=True)
    verdicts = encrypted_counts.passing(known.working, known.candidates, plan.fewest)
    new = [itemset for itemset, shown in zip(known.candidates, verdicts, strict=True) if shown]
    if () in known.candidates and () not in new:
        new = []  # so few records that nothing is told of them
    sums, passed, length = _sums(known), (*known.passed, *new), known.round // 2 + 1
    longer = candidates(passed, length, plan.items, several=plan.people) if length <= plan.longest else []
    return replace(
        known,
        passed=passed,
        candidates=tuple(longer),
        sums=encrypted_counts.packed([sums[itemset] for itemset in passed]),
        working=b"",
        finished=not new,
    )


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _itemsets(listed: Any, items: int) -> tuple[Itemset, ...]:
    itemsets = tuple(tuple(map(_number, each)) for each in listed)
    if any(sorted(set(each)) != list(each) or (each and each[-1] >= items) for each in itemsets):
        raise ValueError
    return itemsets
