"""The sentence that leads: what a diagnosis, a release, a verification or an attack comes down to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from shoal.core.contracts.attack import Attempt
from shoal.core.finding import IN_RECORDS, Finding, Findings, claimed
from shoal.core.formatting import amount, counted, enumerated, percent, printable
from shoal.core.plain_risk import PlainRisk
from shoal.core.risk_line import risk_words
from shoal.publishing.columns import ReleasedColumn

MOST_NAMED = 3
"""Columns that a sentence names for what they lost; one more is named, too, where it is the last."""
MOST_LISTED = 6
"""Columns that a sentence names where it names all of a set."""
BELOW = ("people-below-k", "records-below-k")
"""Findings that count those whose class is too small."""


def exposed(findings: Findings, records: int, attributes: Sequence[str]) -> str:
    """How exposed people are by a set of attributes: whom they single out, and what is kept of what is wanted.

    Example:
        >>> alone = Finding(name="unique-records", value=3)
        >>> exposed(Findings((alone,)), 40, ["age", "sex"])
        '3 of 40 people stand alone: nobody else has the same age and sex.'
    """
    people = _number(findings, "people") or records  # where people are not counted apart, each record is one
    alone = _number(findings, "unique-people", "unique-records")
    many = len(attributes) > MOST_LISTED
    which = "the same " + (f"values in all {len(attributes)} columns" if many else _named(attributes))
    if alone:
        verb = "stands" if alone == 1 else "stand"
        parts = [f"{alone:,} of {counted(people, 'people')} {verb} alone: nobody else has {which}"]
    else:
        smallest = counted(_number(findings, "k"), "people")
        parts = [f"None of {counted(people, 'people')} stands alone: at least {smallest} share {which}"]
    below, k = _number(findings, *BELOW), findings.get("k")
    if below and k is not None and k.bound is not None:
        share = percent(below / max(people, 1))
        parts.append(f"{below:,} ({share}) share theirs with fewer than {int(k.bound) - 1:,} others")
    return "; ".join([*parts, *_broken(findings)]) + "."


def risk(findings: Findings) -> str:
    """How likely it is that somebody who knows a person's attributes finds the person's record."""
    chances = [_share(findings, name) for name in ("average-risk", "highest-risk")]
    return (
        f"Whoever knows these columns of a person finds the right record with a chance of {percent(chances[0])} on "
        f"average, and of {percent(chances[1])} for the most exposed."
    )


def survey_risk(findings: Findings) -> str | None:
    """How many people of the population an attacker is expected to find, where weights say what records stand for."""
    expected, population = findings.get("expected-reidentifications"), findings.get("population")
    if expected is None or population is None:
        return None
    return (
        f"By the weights, the records stand for {float(population.value or 0):,.0f} people. Whoever links each of them "
        f"to somebody of the population is expected to be right {float(expected.value or 0):,.1f} times "
        f"({percent(_share(findings, 'global-risk'))} of the records), and about the most exposed with a chance of "
        f"{percent(_share(findings, 'highest-individual-risk'))}."
    )


def household_risk(findings: Findings) -> str:
    """What households add to the risk; empty where nobody says who lives with whom.

    Example:
        >>> figures = {"households": 900, "unique-households": 310, "expected-reidentifications": 24.0}
        >>> figures["household-reidentifications"] = 127.12
        >>> household_risk(Findings(tuple(Finding(name=name, value=value) for name, value in figures.items())))
        'With households, 127.1 people are expected to be found instead of 24; 310 of 900 households are unique.'
    """
    households, unique = _number(findings, "households"), _number(findings, "unique-households")
    if not households:
        return ""
    together, alone = (amount(findings[f"{each}-reidentifications"].value) for each in ("household", "expected"))
    return (
        f"With households, {together} people are expected to be found instead of {alone}; {unique:,} of "
        f"{counted(households, 'households')} {'is' if unique == 1 else 'are'} unique."
    )


def released(
    findings: Findings,
    columns: Sequence[ReleasedColumn],
    records: int,
    published: int,
    plain: PlainRisk | None = None,
) -> str:
    """What a release is: how much is in it, what holds, who was left out, and which columns lost most. Where plain
    columns give away more than the policy accepts, what holds is said of the quasi-identifiers alone.

    Example:
        >>> k = Finding(name="k", value=5, bound=5, holds=True, claim="5-anonymous")
        >>> released(Findings((k,)), [], 100, 98)
        '98 records, 5-anonymous; 2 records left out (2 %).'
    """
    size = _size(findings, counted(published, "records"))
    claims = [finding.claim for finding in findings if finding.claim and finding.holds]
    k = findings.get("k")
    if not claims and k is not None and k.value and k.holds is not False:
        claims = [f"the smallest class has {k.words}"]
    out = records - published
    left_out = f"{counted(out, 'records')} left out ({percent(out / max(records, 1))})" if out else "nobody left out"
    alone = _number(findings, "unique-people", "unique-records")
    exact = [f"{alone:,} stand alone by their published quasi-identifiers"] if alone else []
    promises = conditioned(claimed(claims), [column.name for column in columns if column.role == "quasi"], plain)
    parts = [", ".join([size, *promises]), *_broken(findings), left_out, *exact, *lost(columns)]
    return "; ".join(parts) + "."


def conditioned(claims: Sequence[str], quasi: Sequence[str], plain: PlainRisk | None) -> list[str]:
    """Claims, with what limits them where plain columns give away more than the policy accepts.

    Example:
        >>> conditioned(["5-anonymous"], ["age", "sex"], PlainRisk.of(
        ...     {"columns": ["income"], "almost_unique": [], "singled_out": 49}, 50, None))
        ['5-anonymous by age and sex; 1 column published as it is singles out 98 %']
    """
    if plain is None or not plain.above:
        return list(claims)
    *first, last = claims or [""]
    by = f"{last} by {f'{len(quasi)} quasi-identifiers' if len(quasi) > MOST_LISTED else _named(quasi)}"
    return [*first, f"{by if last and quasi else last}; {plain.condition}".removeprefix("; ")]


def evaluated(
    findings: Findings,
    columns: Sequence[ReleasedColumn],
    records: int,
    published: int,
    wanted: Sequence[Finding],
    plain: PlainRisk | None = None,
) -> str:
    """What a release is, and how what was asked about came out.

    Example:
        >>> lost = Finding(name="count where age >= 40", value=0.2, bound=0.05, holds=False, unit="share")
        >>> evaluated(Findings(()), [], 100, 98, [lost])
        '98 records; 2 records left out (2 %). 1 of 1 analyses does not survive: count where age >= 40.'
    """
    first = released(findings, columns, records, published, plain)
    judged = [finding for finding in wanted if finding.holds is not None]
    failed = [printable(finding.name) for finding in judged if not finding.holds]
    parts = [first]
    if judged and not failed:
        parts.append(
            f"All {counted(len(judged), 'analyses')} survive." if len(judged) > 1 else "The analysis survives."
        )
    elif failed:
        verb = "does" if len(failed) == 1 else "do"
        parts.append(f"{len(failed)} of {len(judged)} analyses {verb} not survive: {enumerated(failed)}.")
    tests = [finding for finding in wanted if finding.name.startswith("accuracy-") and finding.value is not None]
    best = max(tests, key=lambda each: (each.name.endswith("held-out"), float(each.value or 0)), default=None)
    if best is not None:
        beside = {name: percent(float(value)) for name, value in best.baselines.items() if value is not None}
        parts.append(
            f"A classifier that was trained on the release is right for {percent(float(best.value or 0))} of the "
            f"records, one that was trained on the table for {beside['original']}, and the most frequent value for "
            f"{beside['majority']}."
        )
    return " ".join(parts)


def verified(findings: Findings, counted_again: Findings | None = None) -> str:
    """Whether a release file is what its manifest says. The holder's findings, where models are `counted_again` with
    the table at hand, say more than the file alone.

    Example:
        >>> k = Finding(name="k", value=4, bound=5, holds=False, claim="5-anonymous", unit="records")
        >>> verified(Findings((k,)))
        'The release does not keep what its manifest says: not 5-anonymous (k is 4).'
    """
    if not findings.holds:
        return f"The release does not keep what its manifest says: {'; '.join(_broken(findings))}."
    published, left_out = findings.get("published"), findings.get("suppressed")
    parts = [
        *([_size(findings, published.words)] if published is not None else []),
        *claimed(_by_people(finding, counted_again).claim for finding in findings),
        *([f"{left_out.words} left out" if left_out.value else "nobody left out"] if left_out is not None else []),
        "the files are unchanged",
    ]
    return f"The release is what its manifest says: {', '.join(parts)}."


def _by_people(finding: Finding, counted_again: Findings | None) -> Finding:
    """The finding, or the same of people where it counts records and they were counted again."""
    again = None if counted_again is None else counted_again.get(finding.name)
    return again if again is not None and again.holds and finding.claim.endswith(IN_RECORDS) else finding


def attacked(attempts: Sequence[Attempt], reasons: Mapping[str, str]) -> str:
    """What the most successful attack gains, or why there is none.

    Example:
        >>> attacked([], {"homogeneity": "nobody is counted", "prosecutor": "nobody is counted", "linkage": "no list"})
        'No attack can be made on this release: nobody is counted.'
    """
    if not attempts:
        # the reason of most attacks; a listing has the others
        [(reason, _)] = Counter(reasons.values()).most_common(1) or [("none was tried", 0)]
        return f"No attack can be made on this release: {reason}."
    # What starts from nothing, such as a gain of certainty, is no success that could be compared.
    guesses = [attempt for attempt in attempts if attempt.baseline > 0] or attempts
    worst = max(guesses, key=lambda attempt: (attempt.success - attempt.baseline, attempt.worst))
    if not worst.gains:
        return (
            f"No attack is right more often than without the release. The nearest, {worst.name}, succeeds for "
            f"{_rate(worst)} of the people, and with {risk_words(worst.worst)} for the most exposed one."
        )
    return (
        f"The strongest attack, {worst.name}, succeeds for {_rate(worst)} of the people "
        f"({percent(worst.baseline)} without the release), and with {risk_words(worst.worst)} for the most exposed one."
    )


def _rate(attempt: Attempt) -> str:
    """How often an attack succeeds; a lower bound where others may do better."""
    return f"{'at least ' if attempt.lower_bound else ''}{percent(attempt.success)}"


def _size(findings: Findings, records: str) -> str:
    """How many records there are, and of how many people where those are counted."""
    people = _number(findings, "people")
    return f"{records} of {counted(people, 'people')}" if people else records


def _number(findings: Findings, *names: str) -> int:
    """The value of the first of some findings that there is; 0 without one."""
    finding = next((finding for finding in map(findings.get, names) if finding is not None), None)
    return int(finding.value or 0) if finding is not None else 0


def _share(findings: Findings, name: str) -> float:
    finding = findings.get(name)
    return float(finding.value or 0) if finding is not None else 0.0


def _named(names: Sequence[str]) -> str:
    return enumerated([printable(name) for name in names])


def _broken(findings: Findings) -> list[str]:
    """What is not kept, each in a few words."""
    return [_not_kept(finding) for finding in findings if finding.holds is False and finding.name not in BELOW]


def _not_kept(finding: Finding) -> str:
    if finding.claim:
        return f"not {finding.claim} ({finding.title} is {finding.bare(finding.value)})"
    wanted = "" if finding.bound is None else f" and not {finding.bound:,}"
    return f"{finding.title} is {finding.words}{wanted}"


def lost(columns: Sequence[ReleasedColumn]) -> list[str]:
    """The columns that lost most of their detail, and those whose values need not be true."""
    changed = [column.name for column in columns if column.shape == "changed"]
    if changed:
        return [f"the values of {_named(changed)} need not be true of their record, and no privacy model is promised"]
    known = [(column.lost, column) for column in columns if column.lost is not None and column.role == "quasi"]
    lossy = [column for lost, column in sorted(known, key=lambda each: -each[0]) if lost > 0]
    if not lossy:
        return ["no detail lost"] if known else []
    if all(column.exact == 1 for column in lossy):  # what is lost is the records that were left out
        return ["what is published is exact"]
    named = lossy if len(lossy) <= MOST_NAMED + 1 else lossy[:MOST_NAMED]
    first, *others = [(printable(column.name), column.lost_words) for column in named]
    parts = [f"{first[0]} lost {first[1]} of its detail", *(f"{name} {share}" for name, share in others)]
    rest = lossy[len(named) :]
    if rest:
        less = rest[0].lost_words
        parts.append(f"{len(rest)} others {less if less.startswith('<') else f'{less} or less'}")
    return [", ".join(parts)]
