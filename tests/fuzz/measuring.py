"""Holds the models against the files: what each class shows, counted in people, by the definitions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.fuzz.case import Column
from tests.fuzz.checking import TWO_TABLES, Checks, caught, demand
from tests.fuzz.definitions import (
    DEFINITIONS,
    LEAST_SIZE,
    OF_MATCHES,
    OF_OWNERS,
    OF_SETS,
    OF_SIZES,
    TOGETHER,
    Group,
    fewest_matches,
    rarest,
)

import shoal
from shoal.core.finding import Findings


@dataclass(frozen=True)
class Shown:
    """The people of a class as a release shows them: the sensitive values of each record, by column, and, where that is
    known, whose they are, where these live, and how many people each record stands for."""

    records: int
    values: dict[str, list[Hashable]]
    names: list[Hashable] | None = None
    homes: list[Hashable] | None = None
    weights: list[float] | None = None

    @property
    def people(self) -> int:
        return self.records if self.names is None else len(set(self.names))

    @property
    def population(self) -> float | None:
        """How many people of the population the class stands for; somebody with several records counts once."""
        if self.weights is None:
            return None
        each = dict(zip(self.names or range(self.records), self.weights, strict=True))
        return math.fsum(each.values())


def check_models(checks: Checks) -> None:
    """The models hold in the file, and Shoal's verifiers see the same figures: the recipient's, who may not know whose
    the records are, and the holder's."""
    shown = classes_of(checks)
    levels = [_level(checks, name, given, shown) for name, given in checks.case.models]
    known = checks.case.person is None or bool(shown and shown[0].names is not None)
    for (name, _), (level, holds) in zip(checks.case.models, levels, strict=True):
        if known and level is not None:
            checks.seen["model", name] += 1
            demand(holds, f"{name} is broken")
    with caught(checks.told) as ended:
        found = shoal.verify(checks.target)
        checks.told.append(repr(found))
    demand(ended.state == "published", f"verify: {ended.state}")
    demand(found.holds, f"verify says no: {', '.join(finding.name for finding in found if finding.holds is False)}")
    if not shown:
        return
    if checks.verified is not None and known:
        _compare(checks.verified, [level for level, _ in levels], "the holder's verifier")
    person = checks.case.person
    if person is not None and person.name not in checks.sheets[""].names:
        by_records = [_as_received(checks, Shown(each.records, each.values, None, each.homes)) for each in shown]
        levels = [_level(checks, name, given, by_records) for name, given in checks.case.models]
        _compare(found, [level for level, _ in levels], "verify", counted=False)
    elif known:
        received = [_as_received(checks, each) for each in shown]
        levels = [_level(checks, name, given, received) for name, given in checks.case.models]
        _compare(found, [level for level, _ in levels], "verify", counted=checks.case.weight is None)


def _as_received(checks: Checks, shown: Shown) -> Shown:
    """A class as a recipient knows it: households only where the file shows them, weights not at all."""
    household = checks.case.household
    seen = household is None or household.name in checks.sheets[""].names
    return replace(shown, homes=shown.homes if seen else list(range(shown.records)), weights=None)


def _compare(found: Findings, levels: list[float | None], who: str, *, counted: bool = True) -> None:
    for finding, level in zip(found, levels, strict=False):
        value = finding.value
        if level is None:  # nothing says who is in which class
            continue
        if value is None and not counted:  # it cannot be told without knowing whose the records are
            continue
        same = isinstance(value, (int, float)) and (value == level or math.isclose(value, level, abs_tol=1e-9))
        demand(same, f"{who}: {finding.name}: measured {value}, the file has {level}")


def classes_of(checks: Checks) -> list[Shown]:
    """The people whom nobody can tell apart, as far as sensitive values are concerned."""
    form = checks.stated["form"]
    if form in TWO_TABLES:
        return _groups(checks)
    return _buckets(checks) if form == "sliced" else _alike(checks)


def _alike(checks: Checks) -> list[Shown]:
    """Classes of equal published quasi-identifiers."""
    sheet, case = checks.sheets[""], checks.case
    sensitive = {column.name: checks.values(sheet, column.name) for column in case.named("sensitive")}
    keys = zip(*(sheet.column(column.name) for column in case.named("quasi")), strict=True)
    members: dict[Any, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        members[key].append(place)
    names, homes = _told(checks, checks.case.person), _told(checks, checks.case.household)
    weight, weights = checks.case.weight, None
    if weight is not None and checks.rows is not None:
        weights = [float(weight.values[row]) for row in checks.rows]

    def some(column: list[Any] | None, places: list[int]) -> Any:
        return None if column is None else [column[place] for place in places]

    shown = [
        Shown(
            len(places), {name: some(values, places) for name, values in sensitive.items()}, some(names, places),
            some(homes, places), some(weights, places),
        )
        for places in members.values()
    ]  # fmt: skip
    _check_weights(checks, list(members.values()), shown)
    return shown


def _check_weights(checks: Checks, members: list[list[int]], shown: list[Shown]) -> None:
    """Published weights are one for each class and, as means, add up to what the class stands for."""
    weight, sheet = checks.case.weight, checks.sheets[""]
    if weight is None or weight.name not in sheet.names:
        return
    checks.seen["weights", str(checks.case.weights)] += 1
    cells = [float(cell) for cell in sheet.column(weight.name)]
    for places, each in zip(members, shown, strict=True):
        demand(len({cells[place] for place in places}) == 1, "records of a class have different weights")
        total = each.population if checks.case.weights == "means" else None
        if total is not None and (checks.case.person is None or each.names is not None):
            demand(math.isclose(len(places) * cells[places[0]], total, rel_tol=1e-9), "weights do not add up")
    if checks.case.weights == "scaled" and checks.case.person is None:
        whole = math.fsum(float(weight.values[row]) for row in checks.kept)
        demand(math.isclose(math.fsum(cells), whole, rel_tol=1e-9), "scaled weights do not add up to the table's")


def _told(checks: Checks, column: Column | None) -> list[Hashable] | None:
    """Whose each published row is, or where: by its plain number, or by the pseudonym."""
    if column is None:
        return None
    if checks.rows is not None:
        return [column.values[row] for row in checks.rows]
    sheet = checks.sheets[""]
    return sheet.column(column.name) if column.name in sheet.names else None


def _groups(checks: Checks) -> list[Shown]:
    """The groups of the second of two tables; the first one has groups of the same sizes, counterfeits apart."""
    (column,) = checks.case.named("sensitive")
    shown = checks.groups(column.name)
    sizes = Counter(map(str, checks.sheets[""].column("group")))
    if checks.stated["form"] == "two-table":
        demand(sizes == {group: held.total() for group, held in shown.items()}, "the tables have groups of other sizes")
    demand(sizes.keys() == shown.keys(), "the two tables have other groups")
    return [Shown(held.total(), {column.name: list(held.elements())}) for held in shown.values()]


def _buckets(checks: Checks) -> list[Shown]:
    """The people of a bucket who have the same quasi-identifiers beside the sensitive attribute; where several tables
    say what stands beside it, values of which all tables say the same."""
    (column,) = checks.case.named("sensitive")
    quasi = {each.name for each in checks.case.named("quasi")}
    holding = [sheet for sheet in checks.sheets.values() if column.name in sheet.names]
    # Where it stands alone, a second table says no more than the first.
    telling = [sheet for sheet in holding if quasi & set(sheet.names)] or holding[:1]
    found: dict[Any, list[Hashable]] = defaultdict(list)
    beside: dict[Any, Counter[Any]] = defaultdict(Counter)
    for sheet in telling:
        names = [name for name in sheet.names if name in quasi]
        keys = zip(map(str, sheet.column("bucket")), *(sheet.column(name) for name in names), strict=True)
        for key, value in zip(keys, checks.values(sheet, column.name), strict=True):
            beside[key[0], value][tuple(names), key] += 1
            if len(telling) == 1:
                found[key].append(value)
    for (bucket, value), counts in beside.items():
        if len(telling) > 1:
            found[bucket, frozenset(counts.items())] += [value] * (counts.total() // len(telling))
    return [Shown(len(held), {column.name: held}) for held in found.values()]


def _level(checks: Checks, name: str, given: dict[str, Any], classes: list[Shown]) -> tuple[float | None, bool]:
    """The level of a model that a file has, where it tells, and whether it holds."""
    if not classes:
        return 0, True
    smallest = min(each.people for each in classes)
    if name in OF_OWNERS:
        counts = [None if each.homes is None else len(set(each.homes)) for each in classes]
        levels_known = [each.population for each in classes] if OF_OWNERS[name] == "weight" else counts
        if None in levels_known:
            return None, True
        least = min(level for level in levels_known if level is not None)
        return least, least >= given["k"] * (1 - 1e-9)
    if name in OF_SIZES:
        return smallest, smallest >= given[OF_SIZES[name]]
    if name in OF_MATCHES:
        columns = [checks.sheets[""].column(column.name) for column in checks.case.named("quasi")]
        fewest = fewest_matches(list(zip(*columns, strict=True)))
        return fewest, fewest >= given[OF_MATCHES[name]]
    if name in OF_SETS:
        return _of_sets(checks, given, by_name=classes[0].names is not None)
    definition = DEFINITIONS[name]
    holds = smallest >= given.get(LEAST_SIZE.get(name, ""), 1)
    person = checks.case.person if classes[0].names is not None else None
    levels: list[float] = []
    for column in checks.case.named("sensitive"):
        if given.get("column") in (None, column.name):
            lexicon = checks.lexicons[column.name]
            names = None if person is None else [person.values[row] for row in checks.kept]
            whole = Group([lexicon.values[row] for row in checks.kept], names)
            about = lexicon.attribute(whole, given.get("values", ()))
            parts = list(_parts(checks, classes, column.name))
            if name in TOGETHER:
                levels += TOGETHER[name](parts)
                holds &= min(levels) >= given[definition.bound]
                continue
            for part in parts:
                levels.append(definition.level(part, about, given))
                holds &= definition.keeps(part, about, given)
    return definition.worst(levels), holds


def _of_sets(checks: Checks, given: dict[str, Any], *, by_name: bool) -> tuple[int, bool]:
    """The rarest combination of the largest sets, and whether those of all sizes are frequent enough."""
    sheet = checks.sheets[""]
    columns = [sheet.column(column.name) for column in checks.case.named("quasi")]
    names = (_told(checks, checks.case.person) if by_name else None) or list(range(len(columns[0])))
    wanted = {**dict(enumerate(given.get("smaller", ()), 1)), given["size"]: given["k"]}
    levels = {size: rarest(columns, names, size) for size in wanted}
    return levels[given["size"]], all(levels[size] >= least for size, least in wanted.items())


def _parts(checks: Checks, classes: list[Shown], name: str) -> Iterator[Group]:
    """The values of each class; where each attribute is protected against whoever knows the others, of the people of a
    class who agree on those."""
    others = [column.name for column in checks.case.named("sensitive") if column.name != name]
    for each in classes:
        parts: dict[Any, list[int]] = defaultdict(list)
        for place in range(each.records):
            parts[tuple(each.values[other][place] for other in others) if checks.case.strict else ()].append(place)
        for places in parts.values():
            names = None if each.names is None else [each.names[place] for place in places]
            yield Group([each.values[name][place] for place in places], names)
