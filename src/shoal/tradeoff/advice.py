"""A balance in words: where the curves meet, what to take and why, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.core.formatting import percent
from shoal.tradeoff.sweep_result import Pair, Place, Point, SweepResult

SUPPRESSED = "suppression-share"
LITTLE = 0.01
"""By how much a learner must beat whoever always names the most frequent value."""


def summary(result: SweepResult) -> str:
    """What to take, in one sentence."""
    if result.recommended is None:
        if result.refused is not None:
            return f"No setting of the sweep has a release with k = {result.asked_k}, which the policy asks for."
        return f"No setting of the sweep has a release with both {result.utility.words} and {result.privacy.words}."
    if result.utility.decides:
        share = result.recommended.share(result.utility.name)
        assert share is not None
        return f"The declared analyses survive best with {_place(result.recommended.place)}: to {percent(share.mean)}."
    utility, privacy = (result.recommended.share(each.name) for each in (result.utility, result.privacy))
    assert utility is not None and privacy is not None
    return (
        f"{_place(result.recommended.place)} balances privacy and utility best{_within(result)}: utility is "
        f"{percent(utility.mean)} ({result.utility.words}) and privacy is {percent(privacy.mean)} "
        f"({result.privacy.words})."
    )


def _within(result: SweepResult) -> str:
    """How the choice was limited, where that made a difference."""
    return "" if result.refused is None else f" among those with k = {result.asked_k} or more"


def _meeting(result: SweepResult) -> str:
    """Where the leading curves meet, or come closest."""
    if result.axis is None:
        front = result.front()
        return f"For {len(front)} of {len(result.points)} settings, no other setting is better in both."
    name = result.axis.name
    best = result.best
    if best is not None:
        first, *more = best.crossings
        again = "" if not more else ", and again at " + ", ".join(f"{name} = {each.at:.3g}" for each in more)
        place = f"{name} = {first.at:.3g}{_with(best.beside)}"
        return f"The curves of utility and privacy meet at {place}, where both are {percent(first.value)}{again}."
    near = min((pair for pair in result.leading if pair.closest is not None), key=_gap)
    assert near.closest is not None
    low, high = result.axis.values[0], result.axis.values[-1]
    place = f"{name} = {near.closest.at:.4g}{_with(near.beside)}"
    return (
        f"The curves of utility and privacy do not meet between {name} = {low:.4g} and {high:.4g}. They come closest "
        f"at {place}, where utility is {percent(near.closest.utility)} and privacy is {percent(near.closest.privacy)}."
    )


def advice(result: SweepResult) -> Iterator[str]:
    """What to take and why; how far it depends on the seed; what the figures do not say."""
    point = result.recommended
    lacking = result.scores(result.utility.name, result.privacy.name).count(None)
    if point is not None and result.utility.decides:
        yield f"Take {_place(point.place)}: every setting meets the policy, and the analyses survive best in this one."
    elif point is not None:
        among = " that the policy allows" if result.refused is not None else ""
        yield (
            f"Take {_place(point.place)}: at every other setting{among}, the lower of utility and privacy is lower "
            "still."
        )
        yield from _about_policy(result)
        yield _meeting(result)
        yield from _about_learner(result, point)
        yield from _about_seeds(result)
    if lacking:
        yield f"{lacking} of {len(result.points)} settings have no such figures; the table gives the reason for each."
    if result.privacy.name.partition(":")[0] == SUPPRESSED and not result.utility.decides:
        yield (
            "A share of suppressed cells protects nobody. What protects people is the policy: first choose the "
            "smallest k that you can justify, and only then balance."
        )


def _about_policy(result: SweepResult) -> Iterator[str]:
    """What the curves alone would say, where the policy forbids it."""
    if result.refused is not None:
        yield (
            f"By the curves alone it would be {_place(result.refused.place)}, but the policy asks for k = "
            f"{result.asked_k}."
        )


def _about_learner(result: SweepResult, point: Point) -> Iterator[str]:
    """What the learner adds to guessing."""
    utility = point.share(result.utility.name)
    if not result.utility.learned or point.baseline is None or utility is None:
        return
    guess = f"Always guessing the most frequent value of {result.target} is right for {percent(point.baseline)}"
    more = utility.mean - point.baseline
    original = "" if result.original is None else f"; on the original table the accuracy is {percent(result.original)}"
    if more < LITTLE:
        yield f"{guess} there, so the classifier learns next to nothing from this release{original}."
    else:
        yield f"{guess} there, so the classifier adds {100 * more:.0f} points{original}."


def _about_seeds(result: SweepResult) -> Iterator[str]:
    if result.seeds < 2 or result.axis is None:
        return
    pair = result.best or result.leading[0]
    firsts = [each[0].at for each in pair.by_seed if each]
    name = result.axis.name
    if firsts:
        yield (
            f"The curves meet for {len(firsts)} of {result.seeds} seeds{_with(pair.beside)}, first between {name} = "
            f"{min(firsts):.3g} and {max(firsts):.3g}."
        )
    else:
        yield f"The curves meet for none of {result.seeds} seeds."


def _gap(pair: Pair) -> float:
    return abs(pair.closest.gap) if pair.closest is not None else float("inf")


def _with(beside: Place) -> str:
    return "".join(f" with {_place({name: value})}" for name, value in beside.items())


def _place(place: Place) -> str:
    numbers = [f"{name} = {value:.4g}" for name, value in place.items() if name != "algorithm"]
    named = " and ".join(numbers)
    algorithm = place.get("algorithm")
    return named if algorithm is None else f"{named} with {algorithm}".removeprefix(" with ")
