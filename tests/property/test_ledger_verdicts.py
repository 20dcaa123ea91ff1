"""The ledger's verdict against every world that fits the releases, on small random series of releases.

People come and leave, are left out and have several records; values change; columns come and go; releases have any form
and promise anything. The oracle counts with sets and loops, and knows nothing of how Shoal counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from counts import count
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.api import publish
from shoal.core.policy import Policy
from shoal.core.recoding import Plan, Recoding
from shoal.core.release_history import LocatedRelease, Promise, PublishedValues
from shoal.core.run import Run
from shoal.errors import DisclosureError, InputError
from shoal.ledger import Ledger
from shoal.ledger.judgement import CERTAIN, judge

ABSENT, WITHHELD = -2, -1
VALUES = {"ill": "abc", "job": "uvw"}
"""Columns with the same values would be taken for one column that was renamed."""

Unit = tuple[int, int]
"""A person, and the number of the person's record."""


@dataclass
class Published:
    """A release: where each record is, by whom it cannot be told apart and by what its group says; `values` has of each
    attribute what each record shows, and `more` what groups show beyond their records."""

    classes: dict[Unit, int]
    groups: dict[Unit, int]
    values: dict[str, dict[Unit, str]]
    more: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    linking: tuple[str, ...] = ()
    k: int = 1
    l: int = 1  # noqa: E741

    def shows(self, unit: Unit) -> bool:
        return self.groups.get(unit, ABSENT) >= 0

    def told(self, attribute: str) -> Counter[tuple[int, str]]:
        shown = [(self.groups[unit], value) for unit, value in self.values[attribute].items() if self.shows(unit)]
        return Counter([*shown, *self.more.get(attribute, [])])

    def group_values(self, attribute: str, group: int) -> Counter[str]:
        return Counter({value: count for (at, value), count in self.told(attribute).items() if at == group})


def followed(series: list[Published]) -> list[Published]:
    """The series with one record for whoever never has more than one in a table, whichever it is."""
    counts = [Counter(person for person, _ in each.groups) for each in series]
    single = {person for each in counts for person in each if all(other[person] <= 1 for other in counts)}

    def renamed(held: dict[Unit, object]) -> dict[Unit, object]:
        return {(person, 0) if person in single else (person, number): what for (person, number), what in held.items()}

    return [
        Published(
            renamed(each.classes), renamed(each.groups), {a: renamed(held) for a, held in each.values.items()},  # type: ignore[arg-type]
            each.more, each.linking, each.k, each.l,
        )
        for each in series
    ]  # fmt: skip


def exposed_by_joining(series: list[Published]) -> dict[str, set[int]]:
    """Who hides among fewer people than promised, and than in each release alone, by each way of joining rows."""
    joined, columns = [series[-1]], set(series[-1].linking)
    while more := [each for each in series if each not in joined and columns & set(each.linking)]:
        joined += more
        columns.update(*(each.linking for each in more))
    if len(joined) < 2:
        return {}
    units = {unit for each in joined for unit in each.groups}
    ways = {
        "complementary-release": lambda one, other: all(
            each.classes.get(other, ABSENT) == each.classes[one] for each in joined if each.shows(one)
        )
    }
    if any(unit not in each.groups for each in joined for unit in units):
        ways["temporal-release"] = lambda one, other: all(
            each.classes.get(other, ABSENT) == each.classes.get(one, ABSENT) for each in joined
        )
    found: dict[str, set[int]] = {}
    for name, alike in ways.items():
        for unit in units:
            showing = [each for each in joined if each.shows(unit)]
            if not showing:
                continue
            together = len({other[0] for other in units if alike(unit, other)})
            alone = min(
                len({other[0] for other in each.groups if each.classes[other] == each.classes[unit]})
                for each in showing
            )
            if together < max(each.k for each in showing) and together < alone:
                found.setdefault(name, set()).add(unit[0])
    return found


def exposed_by_values(series: list[Published], attribute: str) -> tuple[set[int], set[int]]:
    """Whose value is more certain, or has fewer possibilities, than promised and than in each release alone; and of
    whom nobody can say, because no world fits."""
    having = [each for each in series if attribute in each.values]
    exposed: set[int] = set()
    unknown: set[int] = set()
    for component in components(having):
        seen_worlds, counts = 0, Counter[tuple[Unit, str]]()
        extra = [
            (at, group)
            for at, each in enumerate(having)
            for group, value in each.more.get(attribute, [])
            if any(each.groups.get(unit) == group for unit in component)
        ]
        for world in product(VALUES[attribute], repeat=len(component) + len(extra)):
            if fits(having, attribute, component, extra, world):
                seen_worlds += 1
                counts.update((unit, value) for unit, value in zip(component, world, strict=False))
        for unit in component:
            showing = [each for each in having if each.shows(unit)]
            alone = [each.group_values(attribute, each.groups[unit]) for each in showing]
            surest = max(Fraction(max(held.values()), sum(held.values())) for held in alone)
            fewest = min(len(held) for held in alone)
            least = max(each.l for each in showing)
            bound = Fraction(1, least) if least > 1 else Fraction(CERTAIN).limit_denominator(10)
            if seen_worlds:
                possible = sum(counts[unit, value] > 0 for value in VALUES[attribute])
                risk = Fraction(max(counts[unit, value] for value in VALUES[attribute]), seen_worlds)
            else:
                possible = len(set.intersection(*(set(held) for held in alone)))
                risk = Fraction(possible == 1)
            if possible and ((risk > bound and risk > surest) or (possible < least and possible < fewest)):
                exposed.add(unit[0])
            elif not seen_worlds and surest < 1:
                unknown.add(unit[0])
    return exposed, unknown


def components(having: list[Published]) -> list[list[Unit]]:
    """Records that share a group in some release, directly or through others."""
    waiting = {unit for each in having for unit in each.groups if each.shows(unit)}
    found = []
    while waiting:
        part, fresh = set(), {waiting.pop()}
        while fresh:
            part |= fresh
            waiting -= fresh
            fresh = {
                other
                for other in waiting
                for each in having
                for unit in part
                if each.shows(unit) and each.groups.get(other, ABSENT) == each.groups[unit]
            }
        found.append(sorted(part))
    return found


def fits(
    having: list[Published], attribute: str, component: list[Unit], extra: list[tuple[int, int]], world: tuple[str, ...]
) -> bool:
    for at, each in enumerate(having):
        held = Counter(
            (each.groups[unit], value) for unit, value in zip(component, world, strict=False) if each.shows(unit)
        )
        held.update(
            (group, value) for (row, group), value in zip(extra, world[len(component) :], strict=True) if row == at
        )
        inside = {each.groups[unit] for unit in component if each.shows(unit)}
        if held != Counter({key: count for key, count in each.told(attribute).items() if key[0] in inside}):
            return False
    return True


def laid(published: Published, several: bool) -> LocatedRelease:
    """The release as the ledger has it."""
    units = sorted(published.groups)
    classes = np.array([published.classes[unit] for unit in units], np.int32)
    groups = np.array([published.groups[unit] for unit in units], np.int32)
    values = {}
    for attribute in published.values:
        told = published.told(attribute)
        keys = sorted(told)
        values[attribute] = PublishedValues(
            tuple(VALUES[attribute]), np.array([group for group, _ in keys], np.int32),
            np.array([VALUES[attribute].index(value) for _, value in keys], np.int32),
            np.array([told[key] for key in keys], np.int64),
        )  # fmt: skip
    return LocatedRelease(
        name="", ids=np.array([1 + person for person, _ in units], np.uint64), several=several,
        records=np.array([1000 + 10 * person + number for person, number in units], np.uint64) if several else None,
        classes=classes, groups=groups, values=values, linking=published.linking, shown=published.linking,
        promise=Promise(k=published.k, l=published.l),
    )  # fmt: skip


def numbered(places: list[int]) -> list[int]:
    kept = sorted({place for place in places if place >= 0})
    return [kept.index(place) if place >= 0 else place for place in places]


@st.composite
def serieses(draw: st.DrawFn) -> tuple[list[Published], bool]:
    several = draw(st.booleans())
    everybody: list[Unit] = [(person, 0) for person in range(draw(st.integers(2, 5)))]
    everybody += [(0, 1)] if several else []
    places = st.sampled_from([ABSENT, WITHHELD, 0, 0, 0, 1, 1, 2])
    true = {a: {unit: draw(st.sampled_from(values)) for unit in everybody} for a, values in VALUES.items()}
    series = []
    for _ in range(draw(st.integers(2, 3))):
        groups = numbered([draw(places) for _ in everybody])
        assume(max(groups) >= 0)
        held = {unit: group for unit, group in zip(everybody, groups, strict=True) if group != ABSENT}
        if draw(st.booleans()):  # as in two tables: who is told apart otherwise than by groups
            told = numbered([draw(st.integers(0, 2)) if group >= 0 else group for group in held.values()])
            classes = dict(zip(held, told, strict=True))
        else:
            classes = dict(held)
        attributes = draw(st.sampled_from([("ill",), ("ill",), ("ill", "job"), ("job",), ()]))
        shown = {a: {unit: true[a][unit] for unit in held} for a in attributes}
        if attributes and draw(st.integers(0, 3)) == 0:  # somebody's value is another one now
            unit = draw(st.sampled_from(sorted(held)))
            shown[attributes[0]][unit] = draw(st.sampled_from(VALUES[attributes[0]]))
        more = {
            a: draw(st.lists(st.tuples(st.integers(0, max(groups)), st.sampled_from(VALUES[a])), max_size=1))
            for a in attributes
        }
        plain = draw(st.sampled_from([(), (), ("city",)]))
        series.append(
            Published(
                classes, held, shown, more, (*attributes, *plain), draw(st.sampled_from([1, 2, 3])),
                draw(st.sampled_from([1, 1, 2, 3])),
            )
        )  # fmt: skip
    return series, several


@settings(max_examples=count(17, 100), deadline=None)
@given(serieses())
def test_the_verdict_is_that_of_every_world(made: tuple[list[Published], bool]) -> None:
    series, several = made
    found = judge([laid(each, several) for each in series[:-1]], laid(series[-1], several), Run())
    series = followed(series)
    expected = {(name, ""): len(people) for name, people in exposed_by_joining(series).items()}
    unjudged = set()
    for attribute in series[-1].values:
        if any(attribute in each.values for each in series[:-1]):
            exposed, unknown = exposed_by_values(series, attribute)
            expected |= {("composition", attribute): len(exposed)} if exposed else {}
            unjudged |= {attribute} if unknown else set()
    assert {(each.attack, each.attribute): each.people for each in found.breaches} == expected
    assert {each.name for each in found.unjudged} == unjudged


AGES = list(range(30, 36))
SPELLED = ("anna {}", "  Anna {}", "ANNA  {}", "\uff21nna\u200b {}")


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, Published, bool]:
    """A table of some of six people, a release of it, and whether that has two tables."""
    places = st.sampled_from([ABSENT, WITHHELD, 0, 0, 1, 1, 2])
    groups = numbered([draw(places) for _ in AGES])
    assume(max(groups) >= 0)
    held = {(person, 0): group for person, group in enumerate(groups) if group != ABSENT}
    true = {person: "aabbcc"[person] for person, _ in held}
    if draw(st.integers(0, 3)) == 0:
        true[draw(st.sampled_from(sorted(true)))] = draw(st.sampled_from("abc"))
    spelled = draw(st.sampled_from(SPELLED))
    table = pl.DataFrame(
        {
            "name": [spelled.format(person) for person in true],
            "age": [AGES[person] for person in true],
            "ill": list(true.values()),
        }
    )
    apart = draw(st.booleans())  # quasi-identifiers as they are: everybody is in a class alone
    classes = {unit: place if group >= 0 else group for place, (unit, group) in enumerate(held.items())}
    made = Published(
        classes if apart else held, held, {"ill": {(person, 0): value for person, value in true.items()}},
        linking=("ill",),
    )  # fmt: skip
    sizes = Counter(group for group in held.values() if group >= 0)
    made.k = 1 if apart else min(sizes.values())
    made.l = draw(st.sampled_from([1, min(len(made.group_values("ill", group)) for group in sizes)]))
    return table, made, apart


def release_of(data: shoal.Dataset, made: Published, apart: bool) -> shoal.Release:
    groups = np.array(list(made.groups.values()), np.int32)  # ages stand in the order of people
    policy = Policy(
        models=(
            *((shoal.KAnonymity(k=made.k),) if made.k > 1 else ()),
            *((shoal.DistinctLDiversity(l=made.l),) if made.l > 1 else ()),
        )
    )
    if not apart:
        return publish(data, Recoding.of_partition(data.summary, groups, ["interval"]), policy)
    count = int(groups.max()) + 1
    plan = Plan(data.summary.keys, groups, groups < 0, np.zeros((0, count), np.int32), (), by_record=True)
    return publish(data, Recoding(plan, form="two-table"), policy)


@settings(max_examples=count(9, 30), deadline=None)
@given(st.lists(tables(), min_size=2, max_size=3))
def test_what_is_published_keeps_what_was_promised(series: list[tuple[pl.DataFrame, Published, bool]]) -> None:
    kept: list[Published] = []
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "people.ledger")
        for table, made, apart in series:
            data = shoal.read(table, quasi=["age"], sensitive=["ill"], identifiers=["name"])
            exposed, unknown = exposed_by_values([*kept, made], "ill")
            broken = bool(exposed_by_joining([*kept, made]) or exposed or unknown) and bool(kept)
            known = {unit for each in kept for unit in each.groups} & set(made.groups)
            try:
                with ledger.publishing(data, release_of(data, made, apart), Run()) as publication:
                    publication.enter({"tables": [], "policy": {"models": []}, "form": "generalized"}, None)
                refused = False
            except DisclosureError:
                refused = True
            except InputError:
                assert kept and not known, "nobody is known"
                continue
            assert refused == broken
            if not refused:
                kept.append(made)
        assert len(ledger.entries()) == len(kept)
