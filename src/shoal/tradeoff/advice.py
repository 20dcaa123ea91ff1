"""A balance in words: where the curves meet, what to take and why, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.core.formatting import percent

if TYPE_CHECKING:
    from shoal.tradeoff.balance import Balance, Pair, Place, Point

SUPPRESSED = "suppression-share"
LITTLE = 0.01
"""By how much a learner must beat whoever always names the most frequent value."""


def summary(found: Balance) -> str:
    """What to take, in one sentence."""
    if found.recommended is None:
        return f"No setting of the sweep has a release with both {found.utility.words} and {found.privacy.words}."
    if found.utility.decides:
        kept = found.recommended.share(found.utility.name)
        assert kept is not None
        return f"The declared analyses survive best with {_named(found.recommended.place)}: to {percent(kept.mean)}."
    utility, privacy = (found.recommended.share(each.name) for each in (found.utility, found.privacy))
    assert utility is not None and privacy is not None
    return (
        f"{_named(found.recommended.place)} balances privacy and utility best: utility is {percent(utility.mean)} "
        f"({found.utility.words}) and privacy is {percent(privacy.mean)} ({found.privacy.words})."
    )


def _meeting(found: Balance) -> str:
    """Where the leading curves meet, or come closest."""
    if found.axis is None:
        front = found.front()
        return f"For {len(front)} of {len(found.points)} settings, no other setting is better in both."
    name = found.axis.name
    best = found.best
    if best is not None:
        first, *more = best.crossings
        again = "" if not more else ", and again at " + ", ".join(f"{name} = {each.at:.3g}" for each in more)
        place = f"{name} = {first.at:.3g}{_with(best.beside)}"
        return f"The curves of utility and privacy meet at {place}, where both are {percent(first.value)}{again}."
    near = min((pair for pair in found.leading if pair.closest is not None), key=_gap)
    assert near.closest is not None
    low, high = found.axis.values[0], found.axis.values[-1]
    place = f"{name} = {near.closest.at:.4g}{_with(near.beside)}"
    return (
        f"The curves of utility and privacy do not meet between {name} = {low:.4g} and {high:.4g}. They come closest "
        f"at {place}, where utility is {percent(near.closest.utility)} and privacy is {percent(near.closest.privacy)}."
    )


def advice(found: Balance) -> tuple[str, ...]:
    """What to take and why; how far it depends on the seed; what the figures do not say."""
    return tuple(_advice(found))


def _advice(found: Balance) -> Iterator[str]:
    point = found.recommended
    lacking = found.scores(found.utility.name, found.privacy.name).count(None)
    if point is not None and found.utility.decides:
        yield f"Take {_named(point.place)}: every setting meets the policy, and the analyses survive best in this one."
    elif point is not None:
        yield f"Take {_named(point.place)}: at every other setting, the lower of utility and privacy is lower still."
        yield _meeting(found)
        yield from _learned(found, point)
        yield from _varying(found)
    if lacking:
        yield f"{lacking} of {len(found.points)} settings have no such figures; the table gives the reason for each."
    if found.privacy.name.partition(":")[0] == SUPPRESSED and not found.utility.decides:
        yield (
            "A share of suppressed cells protects nobody. What protects people is the policy: first choose the "
            "smallest k that you can justify, and only then balance."
        )


def _learned(found: Balance, point: Point) -> Iterator[str]:
    """What the learner adds to guessing."""
    utility = point.share(found.utility.name)
    if not found.utility.learned or point.baseline is None or utility is None:
        return
    guess = f"Always guessing the most frequent value of {found.target} is right for {percent(point.baseline)}"
    more = utility.mean - point.baseline
    original = "" if found.original is None else f"; on the original table the accuracy is {percent(found.original)}"
    if more < LITTLE:
        yield f"{guess} there, so the classifier learns next to nothing from this release{original}."
    else:
        yield f"{guess} there, so the classifier adds {100 * more:.0f} points{original}."


def _varying(found: Balance) -> Iterator[str]:
    if found.seeds < 2 or found.axis is None:
        return
    pair = found.best or found.leading[0]
    firsts = [each[0].at for each in pair.by_seed if each]
    name = found.axis.name
    if firsts:
        yield (
            f"The curves meet for {len(firsts)} of {found.seeds} seeds{_with(pair.beside)}, first between {name} = "
            f"{min(firsts):.3g} and {max(firsts):.3g}."
        )
    else:
        yield f"The curves meet for none of {found.seeds} seeds."


def _gap(pair: Pair) -> float:
    return abs(pair.closest.gap) if pair.closest is not None else float("inf")


def _with(beside: Place) -> str:
    return "".join(f" with {_named({name: value})}" for name, value in beside.items())


def _named(place: Place) -> str:
    numbers = [f"{name} = {value:.4g}" for name, value in place.items() if name != "algorithm"]
    named = " and ".join(numbers)
    algorithm = place.get("algorithm")
    return named if algorithm is None else f"{named} with {algorithm}".removeprefix(" with ")
