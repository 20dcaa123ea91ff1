"""What goes round between holders who look for rules: what they agreed on, and how far they are."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import InputError, ParameterError
from shoal.overlap import normalized
from shoal.overlap.encrypted_counts import PAIR, TEST
from shoal.overlap.itemsets import Item, Itemset
from shoal.overlap.messages import check_session, digest
from shoal.overlap.points import BYTES

LEAST_HOLDERS, MOST_HOLDERS, MOST_ITEMS, LONGEST, MOST_FEWEST = 3, 20, 1_000, 4, 100
_MAGIC = b"shoal rules 1\n"


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
    """The file that goes round. `passed` are the itemsets that may be shown, and `revealed` the blurred counts of those
    that were read. `sums` has the encrypted blurred counts of those that were not read yet; then, of the `candidates`,
    the encrypted counts, and the blurred ones. What holders are at is in `working`: the pairs of a test, or the points
    of counts that are being read."""

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
            items = tuple((text(column), text(value)) for column, value in plan["items"])
            numbers = {name: number(plan[name]) for name in ("holders", "fewest", "longest")}
            body, size = message[end + 1 :], number(header["sums"])
            known = cls(
                plan=RulesPlan(items=items, people=plan["people"] is True, session=plan["session"], **numbers),
                turn=number(header["turn"]),
                key=bytes.fromhex(header["key"]),
                passed=_itemsets(header["passed"], len(items)),
                candidates=_itemsets(header["candidates"], len(items)),
                revealed=tuple(map(number, header["revealed"])),
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
        counts = len(self.unread) + (2 * len(self.candidates) if counted else 0)
        if self.finished or self.place == 0 or self.round == 0:
            working = 0
        elif self.round % 2:
            working = len(self.unread) * BYTES
        else:
            working = len(self.candidates) * self.plan.fewest * TEST
        return (
            len(self.key) == (BYTES if self.turn else 0)
            and (len(self.sums), len(self.working)) == (counts * PAIR, working)
            and len(self.revealed) <= len(self.passed)
            and len({*self.passed, *self.candidates}) == len(self.passed) + len(self.candidates)
        )


def number(value: Any) -> int:
    """A whole number from 0 up, or a `ValueError`."""
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def text(value: Any) -> str:
    """A text, or a `ValueError`."""
    if not isinstance(value, str):
        raise ValueError
    return value


def _itemsets(listed: Any, items: int) -> tuple[Itemset, ...]:
    itemsets = tuple(tuple(map(number, each)) for each in listed)
    if any(sorted(set(each)) != list(each) or (each and each[-1] >= items) for each in itemsets):
        raise ValueError
    return itemsets
