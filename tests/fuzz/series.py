"""Several releases of the same people: what a ledger lets pass must keep, all together, what the releases promise."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.fuzz.case import Case, Step
from tests.fuzz.checking import TWO_TABLES, Checks, demand
from tests.fuzz.worlds import TooManyError, certainties

CERTAIN = Fraction(9, 10)
"""How certain nobody may become of a value where no release promises anything about values."""
SIZES = {"k-anonymity": "k", "alpha-k-anonymity": "k", "p-sensitive-k-anonymity": "k", "k-map": "k"}
VARIETIES = {
    "p-sensitive-k-anonymity": "p",
    "distinct-l-diversity": "l",
    "entropy-l-diversity": "l",
    "frequency-l-diversity": "l",
    "recursive-l-diversity": "l",
    "inference-l": "l",
}


@dataclass(frozen=True)
class Laid:
    """A release beside others: where each record is in it, and what its groups show. `classes` are the records that
    look alike, `groups` those of which the same values are told; `present` is every record of the table."""

    classes: dict[Hashable, Hashable]
    groups: dict[Hashable, Hashable]
    shown: dict[str, dict[Hashable, Counter[Hashable]]]
    present: frozenset[Hashable]
    k: int
    l: int  # noqa: E741


class Series:
    """The releases of a ledger so far."""

    def __init__(self, case: Case, seen: Counter[tuple[str, str]]) -> None:
        self.case, self.seen = case, seen
        self.laid: list[Laid] = []
        tokens = case.column(case.traced or "").values
        self.tokens = {token: row for row, token in enumerate(tokens)}
        self.signatures: dict[Hashable, frozenset[Hashable]] = {}

    def add(self, step: Step, checks: Checks) -> None:
        """Lays a release that was let pass beside the earlier ones, and holds them all together."""
        if checks.rows is None or checks.stated["form"] == "perturbed":
            return
        self._check_signatures(checks)
        self.laid.append(_laid(step, checks))
        if len(self.laid) < 2 or not self._knows_people:
            return
        self._check_who()
        if any(each.present != self.laid[0].present for each in self.laid):
            self._check_who_over_time()
        self._check_what()

    @property
    def _knows_people(self) -> bool:
        """Whether the ledger can tell people, and the records of each, apart as the table does."""
        person = self.case.person
        if person is None:
            names = self.case.named("identifier")
            return any(None not in each.values and len(set(each.values)) == self.case.records for each in names)
        told = [person, *self.case.named("quasi"), *self.case.named("sensitive")]
        return len(set(zip(*(column.values for column in told), strict=True))) == self.case.records

    def _owner(self, record: Hashable) -> Hashable:
        """Whose a record is."""
        person = self.case.person
        return record if person is None else person.values[self.tokens[record]]

    def _check_signatures(self, checks: Checks) -> None:
        """By m-invariance, the group of whoever stays shows the same values in every release."""
        if checks.stated["form"] != "counterfeited":
            self.signatures = {}
            return
        (column,) = checks.case.named("sensitive")
        shown, rows = checks.groups(column.name), checks.rows or []
        tokens = checks.case.column(checks.case.traced or "").values
        found = {
            tokens[row]: frozenset(shown[group])
            for row, group in zip(rows, map(str, checks.sheets[""].column("group")), strict=True)
        }
        known = self.signatures if self._knows_people else {}
        moved = [name for name, held in found.items() if known.get(name, held) != held]
        demand(not moved, "m-invariance: the group of somebody who stayed shows other values")
        self.signatures = found
        self.seen["joint check", "signatures"] += 1

    def _people(self, records: Iterable[Hashable]) -> int:
        return len(set(map(self._owner, records)))

    def _alone(self, record: Hashable) -> int:
        """The fewest people that a record may belong to by a single release."""
        return min(
            self._people(name for name, place in each.classes.items() if place == each.classes[record])
            for each in self.laid
            if record in each.classes
        )

    def _check_who(self) -> None:
        """By all releases that show a record, it may belong to as many people as the most that one of them promises,
        or to as many as by one of them alone."""
        for record in self._records:
            showing = [each for each in self.laid if record in each.classes]
            alike = [
                other
                for other in self._records
                if all(other in each.classes and each.classes[other] == each.classes[record] for each in showing)
            ]
            self._demand_people(record, alike, "complementary")
        self.seen["joint check", "complementary"] += 1

    def _check_who_over_time(self) -> None:
        """The same by whoever knows who was in the table when."""
        history = {
            record: tuple((each.classes.get(record), record in each.present) for each in self.laid)
            for record in self._records
        }
        for record in self._records:
            alike = [other for other in self._records if history[other] == history[record]]
            self._demand_people(record, alike, "temporal")
        self.seen["joint check", "temporal"] += 1

    @property
    def _records(self) -> list[Hashable]:
        """Every record that some release shows."""
        return list(dict.fromkeys(record for each in self.laid for record in each.classes))

    def _demand_people(self, record: Hashable, alike: list[Hashable], how: str) -> None:
        promised = max(each.k for each in self.laid if record in each.classes)
        people = self._people(alike)
        kept = people >= promised or people >= self._alone(record)
        demand(kept, f"the ledger let releases pass that tell together whose a record is ({how})")

    def _check_what(self) -> None:
        """By all releases that show a record, its value is no more certain than the most that one of them promises
        allows, and as many values are possible; or by one of them alone it is the same."""
        for name in {name for each in self.laid for name in each.shown}:
            laid = [each for each in self.laid if name in each.shown]
            try:
                found = certainties([each.groups for each in laid], [each.shown[name] for each in laid])
            except TooManyError:
                self.seen["joint check", "too many worlds"] += 1
                continue
            for record, (certainty, left) in found.items():
                showing = [each for each in laid if record in each.groups]
                promised = max(each.l for each in showing)
                groups = [each.shown[name][each.groups[record]] for each in showing]
                alone = max(Fraction(max(held.values()), held.total()) for held in groups)
                limit = Fraction(1, promised) if promised > 1 else CERTAIN
                surely = certainty <= limit or certainty <= alone
                demand(surely, "the ledger let releases pass that tell together what somebody has")
                choice = left >= promised or left >= min(map(len, groups))
                demand(choice, "the ledger let releases pass that leave too few values together")
            self.seen["joint check", "worlds counted"] += 1

    def check_file(self, folder: Path) -> None:
        """The ledger holds nobody's name, and no plain value."""
        data = b"".join(path.read_bytes() for path in folder.glob("people.ledger*"))
        hidden = self.case.named("identifier") + self.case.named("person") + self.case.named("plain")
        values = {value for column in hidden for value in column.values if isinstance(value, str) and "uetzal" in value}
        demand(not any(value.encode() in data for value in values), "the ledger holds a name or a plain value")


def _laid(step: Step, checks: Checks) -> Laid:
    case, rows, form = checks.case, checks.rows or [], checks.stated["form"]
    sheet = checks.sheets[""]
    tokens = case.column(case.traced or "").values
    published = [tokens[row] for row in rows]
    quasi = [column.name for column in case.named("quasi")]
    alike: list[Any]
    if form in TWO_TABLES or form == "sliced":
        groups = list(map(str, sheet.column("bucket" if form == "sliced" else "group")))
        exact = [tuple(checks.lexicons[name].values[row] for name in quasi) for row in rows]
        alike = exact if set(quasi) <= set(sheet.names) else groups
    else:
        alike = groups = list(zip(*(sheet.column(name) for name in quasi), strict=True))  # type: ignore[arg-type]
    return Laid(
        classes=dict(zip(published, alike, strict=True)),
        groups=dict(zip(published, groups, strict=True)),
        shown={column.name: _shown(checks, column.name, rows, groups) for column in case.named("sensitive")},
        present=frozenset(tokens),
        k=max([given[SIZES[name]] for name, given in step.models if name in SIZES], default=1),
        l=max([math.ceil(given[VARIETIES[name]]) for name, given in step.models if name in VARIETIES], default=1),
    )


def _shown(checks: Checks, name: str, rows: list[int], groups: list[Any]) -> dict[Hashable, Counter[Hashable]]:
    """How often each group shows each sensitive value."""
    if checks.stated["form"] in TWO_TABLES:
        return dict(checks.groups(name))
    found: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for row, group in zip(rows, groups, strict=True):
        found[group][checks.lexicons[name].values[row]] += 1
    return found
