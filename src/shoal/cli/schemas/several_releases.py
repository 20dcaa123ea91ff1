"""Output of `shoal ledger`, `shoal overlap` and `shoal rules`."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from shoal.cli.schemas.entries import Printed, Share


class LedgerRelease(TypedDict):
    """One release of a ledger."""

    number: int
    made: str
    name: str
    form: str
    models: list[str]
    records: int
    published: int


class Listed(Printed):
    """The releases of a ledger, and its sessions of `shoal overlap`."""

    releases: list[LedgerRelease]
    sessions: list[dict[str, Any]]


class BreachEntry(TypedDict):
    """An attack that succeeds with several releases: how many people are exposed, among how many, the share of them,
    the worst risk, what was promised, the earlier releases that it takes, and, where it is about values, the sensitive
    attribute and the fewest values that somebody has left."""

    attack: str
    attribute: str
    people: int
    among: int
    left: int | None
    exposed: Share
    worst: Share
    bound: Share
    earlier: list[str]


class JudgedRelease(TypedDict):
    """What a release breaks together with those before it, and what could not be judged."""

    number: int
    name: str
    holds: bool
    breaches: list[BreachEntry]
    not_judged: list[str]


class Judged(Printed):
    """Whether a ledger is whole, and its releases keep together what they promise."""

    holds: bool
    whole: bool
    releases: list[JudgedRelease]


class Exported(Printed):
    """A ledger as a JSON file: how many releases it has, and where it was written."""

    releases: int
    file: str


class Overlapping(Printed):
    """What a step of `shoal overlap` told; sizes of lists, and at the end of the overlap. A blurred size is off by more
    than `margin` in 1 of 20 sessions."""

    own: NotRequired[int]
    other: NotRequired[int]
    size: NotRequired[int | None]
    margin: NotRequired[int]
    fewer_than: NotRequired[int | None]


class RuleEntry(TypedDict):
    """Whoever has the given items mostly has another one; an item is a column and a value."""

    given: list[list[str]]
    then: list[str]
    count: int
    support: Share
    confidence: Share


class RulesOutput(Printed):
    """Where a session of `shoal rules` is, and at its end what all holders learn; `total` is missing where it is below
    the fewest that may be told about. Counts are off by more than `margin` in 1 of 20 cases."""

    holders: int
    finished: bool
    turn: NotRequired[int]
    total: NotRequired[int | None]
    margin: NotRequired[int]
    itemsets: NotRequired[int]
    rules: NotRequired[list[RuleEntry]]
