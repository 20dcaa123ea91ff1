"""Judgement: whether a release and earlier ones together keep what each of them promises.

Each release is held to its own promise, person by person: whom several releases expose more than each of them alone
must still hide among as many people, and have as many possible values, as every release promises that shows the person.
Each sensitive attribute is judged over the releases that have it. What is told here is proven; what can neither be
proven to hold nor to break is told as not judged.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.adversary.composition import together
from shoal.adversary.joining import fewest_candidates, joint_candidates, joint_candidates_over_time, linked_releases
from shoal.adversary.locating import align
from shoal.core.contracts.model import SLACK
from shoal.core.formatting import counted, percent
from shoal.core.grouping import Codes, Counts
from shoal.core.release_history import AlignedReleases, LocatedRelease, PublishedValues
from shoal.core.run import Run
from shoal.parsing.identifiers import one_spelling

CERTAIN = 0.9
"""How certain nobody may become of a value by several releases where none of them promises anything about values."""
NODES = 200_000
"""Steps that counting what fits all releases may take for people whose groups hang together."""
SECONDS = 600.0
"""How long a release is judged. What is not judged by then is not judged."""
ALIKE = 0.5
"""The share of the values of two columns that both must have for a new column to be taken for an old one renamed."""
THIS = "release:this"
"""What names the release that is being made among those that may stay unjudged."""
_MANY = np.iinfo(np.int64).max

Chosen = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Breach:
    """An attack that succeeds with several releases and with none of them alone: how many `people` of `among` are
    exposed, how much the worst risk is and what was promised to that person (`bound`), the fewest values that somebody
    has `left` where it is about values, and the earlier releases that it takes."""

    attack: str
    people: int
    among: int
    worst: float
    bound: float
    earlier: tuple[str, ...]
    attribute: str = ""
    left: int | None = None

    @property
    def exposed(self) -> float:
        """The share of the people that is exposed."""
        return self.people / max(self.among, 1)

    @property
    def sentence(self) -> str:
        """What is wrong, in words."""
        others = " and ".join(self.earlier)
        shown = f"{self.people:,} of {counted(self.among, 'people')} ({percent(self.exposed)})"
        what = f"what somebody has in {self.attribute!r}" if self.attribute else "whose a record is"
        left = "" if self.left is None else f", and leaves {counted(self.left, 'values')} possible"
        return (
            f"{self.attack}: together with {others} it tells {what} with up to {percent(self.worst)}{left}, where "
            f"{percent(self.bound)} is the limit; that exposes {shown}"
        )

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "exposed": self.exposed, "earlier": list(self.earlier)}


@dataclass(frozen=True)
class Unjudged:
    """What could not be judged: what has to be named to allow it, and the reason."""

    name: str
    reason: str

    @property
    def sentence(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class JointJudgement:
    """What a release and earlier ones give away together, what could not be judged, what is worth knowing, how many
    `people` the table has and how many of them are `known` from earlier tables, and how long it took."""

    breaches: tuple[Breach, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    notes: tuple[str, ...] = ()
    people: int = 0
    known: int = 0
    seconds: float = 0.0

    def refused(self, allowed: Iterable[str]) -> tuple[Unjudged, ...]:
        """What could not be judged and nobody allowed."""
        names = set(allowed)
        return tuple(each for each in self.unjudged if each.name not in names)

    @property
    def sentence(self) -> str:
        """How far the release could be held against the earlier ones."""
        return (
            f"The ledger knows {self.known:,} of {counted(self.people, 'people')} "
            f"({percent(self.known / max(self.people, 1))}) from earlier releases; judging took {self.seconds:.1f} s."
        )


def judge(
    earlier: Sequence[LocatedRelease],
    later: LocatedRelease,
    run: Run,
    *,
    allowed: Iterable[str] = (),
    seconds: float = SECONDS,
) -> JointJudgement:
    """What comes of a release after others. A new column in the place of one that is gone is taken for that one renamed
    where its values say so, unless it is `allowed` to stay unjudged."""
    if not earlier:
        return JointJudgement(people=len(np.unique(later.ids)))
    began, run = time.monotonic(), run.part(seconds=seconds)
    releases, notes = _one_name_each([*earlier, later], set(allowed))
    known = np.isin(np.unique(later.ids), np.concatenate([each.ids for each in earlier]))
    breaches = list(_who(releases, run))
    unjudged: list[Unjudged] = []
    later = releases[-1]
    names = [
        name
        for name in dict.fromkeys(name for each in reversed(releases) for name in each.values)
        if later.has(name) and any(each.has(name) for each in releases[:-1])
    ]
    for number, name in enumerate(names):
        part = run.part(between=(number / len(names), (number + 1) / len(names)))
        exposed, reasons = _what(name, releases, part, seconds)
        breaches += exposed
        unjudged += [Unjudged(name, reason) for reason in reasons]
    return JointJudgement(
        breaches=tuple(breaches),
        unjudged=tuple(unjudged),
        notes=tuple(notes),
        people=len(known),
        known=int(known.sum()),
        seconds=time.monotonic() - began,
    )


def _one_name_each(releases: Sequence[LocatedRelease], allowed: set[str]) -> tuple[list[LocatedRelease], list[str]]:
    """The releases with one name for each column, in whatever case it is written, and for columns that were renamed."""
    written: dict[str, str] = {}
    for name in reversed([name for each in releases for name in (*each.values, *each.linking, *each.shown)]):
        written.setdefault(one_spelling(name), name)  # as the last release has it
    *earlier, later = (_rename(each, lambda name: written[one_spelling(name)]) for each in releases)
    notes = []
    before = dict.fromkeys(name for each in earlier for name in each.values)
    gone = [name for name in before if not later.has(name)]
    for name in later.values:
        if name in allowed or any(each.has(name) for each in earlier):
            continue
        shown = {old: [each.values[old] for each in earlier if old in each.values] for old in gone}
        alike = [old for old in gone if _alike(later.values[name], shown[old])]
        for old in alike[:1]:
            gone.remove(old)
            earlier = [_rename(each, {old: name}.get) for each in earlier]
            notes.append(
                f"Column {name!r} has the values that {old!r} had in earlier releases, and is judged as that column "
                f"renamed. If it is another one, name it with --allow-unjudged."
            )
    return [*earlier, later], notes


def _rename(release: LocatedRelease, called: Any) -> LocatedRelease:
    """A release whose columns are called otherwise; what has no other name keeps its own."""

    def name(old: str) -> str:
        return str(called(old) or old)

    promised = {name(column): least for column, least in release.promise.columns.items()}
    return replace(
        release,
        values={name(column): values for column, values in release.values.items()},
        linking=tuple(map(name, release.linking)),
        shown=tuple(map(name, release.shown)),
        promise=replace(release.promise, columns=promised),
    )


def _alike(new: PublishedValues, old: Sequence[PublishedValues]) -> bool:
    """Whether most of what a column shows is what another one showed, and the other way round."""
    counts: list[Counter[str]] = [Counter(), Counter()]
    for total, columns in zip(counts, ([new], old), strict=True):
        for column in columns:
            times = np.bincount(column.values, weights=column.counts, minlength=len(column.texts))
            for text, count in zip(column.texts, times.tolist(), strict=True):
                if text is not None:
                    total[one_spelling(text)] += int(count)
    shares = [
        sum(count for text, count in one.items() if text in other) / max(one.total(), 1)
        for one, other in (counts, counts[::-1])
    ]
    return min(shares) >= ALIKE


def _who(releases: Sequence[LocatedRelease], run: Run) -> Iterable[Breach]:
    """Whose records are found by joining rows of the release with rows of earlier ones."""
    rows = next(part for part in linked_releases(releases) if len(releases) - 1 in part)
    if len(rows) < 2:
        return
    joined = [releases[row] for row in rows]
    run.report(0.0, "joining releases")
    # A form that has no table with everybody's quasi-identifiers still tells in which group somebody is.
    places = [each.groups if each.classes is None else each.classes for each in releases]
    people = align(releases, places).some(rows)
    promised = np.array([each.promise.k for each in joined], np.int64)
    attacks = [("complementary-release", joint_candidates)]
    if people.moved:
        attacks.append(("temporal-release", joint_candidates_over_time))
    for name, counting in attacks:
        broken, counts, least = _too_few(people, promised, counting(people))
        if broken.any():
            pairs = [
                each.name
                for row, each in enumerate(joined[:-1])
                if _too_few(pair := people.some([row, len(joined) - 1]), promised[[row, -1]], counting(pair))[0].any()
            ]
            worst = np.flatnonzero(broken)[np.argmin(counts[broken])]
            yield Breach(
                attack=name,
                people=people.people(broken),
                among=people.people(people.shown),
                worst=1 / int(counts[worst]),
                bound=1 / int(least[worst]),
                earlier=tuple(pairs or [each.name for each in joined[:-1]]),
            )


def _too_few(people: AlignedReleases, promised: Counts, counts: Counts) -> tuple[Chosen, Counts, Counts]:
    """Whose record may belong to fewer people than a release promises that shows it, and than by each release alone;
    and of each record the number of people, and the one that is promised."""
    shown = people.places >= 0
    least = np.where(shown, promised[:, None], 1).max(axis=0)
    broken = people.shown & (counts < least) & (counts < fewest_candidates(people))
    return broken, counts, least


def _what(name: str, releases: Sequence[LocatedRelease], run: Run, seconds: float) -> tuple[list[Breach], list[str]]:
    """Whose value of a sensitive attribute releases tell that have it, and why that could not be judged of others."""
    having = [each for each in releases if name in each.values]
    reasons = [
        f"{each.name} publishes it, and not as a sensitive attribute as others do, so they cannot be compared"
        for each in releases
        if each.has(name) and name not in each.values
    ]
    if len(having) < 2 or having[-1] is not releases[-1]:
        return [], reasons
    rows = [row for row, each in enumerate(releases) if name in each.values]
    people = align(releases, [each.groups for each in releases]).some(rows)
    known = together(name, having, people, nodes=NODES, run=run)
    least, bound = _promises(name, having, known.places)
    alone, left_alone = known.alone.max(axis=0), np.where(known.places >= 0, known.left_alone, _MANY).min(axis=0)
    sure = known.exact | (known.left == 1)
    # Of so many possible values, one has at least the share that each would have if all were equally likely.
    risks = np.where(sure & (known.left != 1), known.risks, 1 / np.maximum(known.left, 1))
    surer = sure & (known.left > 0) & (risks > bound + SLACK) & (risks > alone + SLACK)
    fewer = (known.left > 0) & (known.left < least) & (known.left < left_alone)
    broken = surer | fewer
    breaches = []
    if broken.any():
        worst = np.flatnonzero(broken)[np.argmax(risks[broken])]
        earlier: Chosen = np.asarray((known.places[:-1][:, broken] >= 0).any(axis=1))
        breach = Breach(
            attack="composition",
            attribute=name,
            people=people.people(people.spread(broken, known.shown)),
            among=people.people(known.shown),
            left=int(known.left[broken].min()),
            worst=float(risks[worst]),
            bound=float(bound[worst]),
            earlier=tuple(each.name for each, there in zip(having[:-1], earlier, strict=True) if there),
        )
        breaches.append(breach)
    # Nobody can lose what one release has given away alone.
    open_ = ~broken & (alone < 1 - SLACK)
    late = f" within {seconds:,.0f} seconds" if run.expired else ""
    changed = "no table fits all releases in the groups of {}: values were changed, or these are not the same people"
    wide = f"the groups of {{}} hang together too widely for all tables that fit them to be counted{late}"
    for chosen, why in ((known.contradicted, changed), (~sure & ~known.contradicted, wide)):
        if (chosen & open_).any():
            count = people.people(people.spread(chosen & open_, known.shown))
            share = percent(count / people.people(known.shown))
            reasons.append(why.format(f"{counted(count, 'people')} ({share})"))
    return breaches, reasons


def _promises(name: str, releases: Sequence[LocatedRelease], places: Codes) -> tuple[Counts, NDArray[np.float64]]:
    """How many values every release promises that shows a person, and how certain nobody may become."""
    promised = np.array([each.promise.values_of(name) for each in releases], np.int64)
    shown = places >= 0
    least = np.where(shown, promised[:, None], 1).max(axis=0)
    return least, np.where(least > 1, 1 / least, CERTAIN)
