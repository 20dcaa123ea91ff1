"""The first page: five sentences that a privacy officer understands without a manual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.core.contracts.attack import Attempt
from shoal.core.finding import IN_RECORDS, Findings, claimed
from shoal.core.formatting import counted, enumerated, percent, printable
from shoal.core.plain_risk import PlainRisk
from shoal.core.risk_line import line_words
from shoal.publishing.columns import ReleasedColumn
from shoal.publishing.headlines import attacked, conditioned, lost
from shoal.reports.risk import Risk

MOST_NAMED = 6
"""Columns that a sentence names."""


def published(release: str, records: int, out: int, people: int | None, recipient: str, purpose: str) -> str:
    """What was published, for whom and what for."""
    much = f"all {counted(records, 'records')}" if not out else f"{records - out:,} of {counted(records, 'records')}"
    whose = "" if people is None else f", of {counted(people, 'people')},"
    whom = f" for {_one_line(recipient)}" if recipient else ""
    why = f" ({_one_line(purpose)})" if purpose else ""
    return f"{much[0].upper()}{much[1:]}{whose} were published as {printable(release)}{whom}{why}."


def promise(
    verification: Findings,
    findings: Findings,
    *,
    claims: bool,
    unverified: bool,
    people: Mapping[str, int] | None,
    quasi: Sequence[str],
    plain: PlainRisk | None,
) -> str:
    """What is promised, and whether that was checked and holds; `people` has what the manifest states of them, and
    `plain` what limits the promise."""
    broken = [each for each in (*verification, *findings) if each.holds is False]
    if broken:
        names = enumerated(list(dict.fromkeys(each.claim or each.title for each in broken)))
        return f"The release does NOT keep what its manifest says, and must not be used: look at {names}."
    if unverified:
        return "No privacy model is promised for it: it was published without being checked against its policy."
    if not claims:
        return (
            "No privacy model is promised for it, because values were changed at random instead of being made coarser."
        )
    claims_kept = [each.claim for each in findings if each.holds]
    if people is not None and any(claim.endswith(IN_RECORDS) for claim in claims_kept):
        bare = list(dict.fromkeys(claim.removesuffix(IN_RECORDS) for claim in claims_kept if claim))
        promised = enumerated(conditioned(bare, quasi, plain))
        return (
            f"It is {promised}. People were counted when it was made: {people['published']:,} of them, and "
            f"{people['smallest_class']:,} in the smallest class. The published files were checked again for this "
            "report, by records, because they do not tell whose each one is: all of it holds."
        )
    promised = enumerated(conditioned(claimed(claims_kept), quasi, plain))
    signed = verification.get("signature")
    by = " and carries a valid signature" if signed is not None and signed.holds else ""
    return f"It is {promised}; the published files were checked again for this report: all of it holds{by}."


def exposed(risk: Risk | str, quasi: Sequence[str]) -> str:
    """How likely it is that somebody is found."""
    if isinstance(risk, str):
        return f"The risk that somebody finds a person in it has no figure: {risk}."
    many = len(quasi) > MOST_NAMED
    known = f"all {len(quasi)} quasi-identifiers" if many else enumerated([printable(name) for name in quasi])
    line, most = _one_in(risk.chosen.one_in), _one_in(round(1 / risk.highest) if risk.highest else 0)
    above = risk.chosen.above
    who = f"{above:,} of {counted(risk.everybody, risk.counted)} are" if above else "nobody is"
    return (
        f"Whoever knows {known} of a person in it finds the right record with a chance of {percent(risk.average)} on "
        f"average and {most} at most; {who} above the line of {line}."
    )


def tried(attempts: Sequence[Attempt], not_made: Mapping[str, str]) -> str:
    """What the attacks came to."""
    if not attempts:
        return attacked(attempts, not_made)
    sentence = attacked(attempts, not_made)
    return (
        sentence if len(attempts) == 1 else f"{len(attempts)} attacks were tried; {sentence[0].lower()}{sentence[1:]}"
    )


def cost(columns: Sequence[ReleasedColumn], out: int, records: int, analyses: Findings) -> str:
    """What was lost, and where to read on."""
    losses = lost(columns) or ["how much detail was lost has no figure"]
    left_out = [f"{counted(out, 'records')} left out ({percent(out / max(records, 1))})"] if out else []
    asked = [each.holds for each in analyses if each.holds is not None]
    survive = [f"{sum(asked):,} of {counted(len(asked), 'declared analyses')} survive"] if asked else []
    return f"The price: {'; '.join([*losses, *left_out, *survive])}; what stays unprotected is listed in section 7."


def _one_in(people: int) -> str:
    return line_words(1 / people) if people else "0 %"


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
