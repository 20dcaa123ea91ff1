"""Where the curves of utility and privacy meet, and where they come closest when they do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Spot = tuple[float, float, float] | None
"""A place on the swept axis with the utility and the privacy there; None where there is no release."""


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where both curves have one value: they cross there, touch, or are equal `until` another place."""

    at: float
    value: float
    kind: Literal["cross", "touch", "equal"] = "cross"
    until: float | None = None

    def as_dict(self, axis: str) -> dict[str, Any]:
        """As JSON holds it, the place under the name of the axis."""
        ends = {} if self.until is None else {"until": self.until}
        return {axis: self.at, "value": self.value, "kind": self.kind, **ends}


@dataclass(frozen=True, kw_only=True)
class Closest:
    """The swept place where the curves come closest; `gap` is utility less privacy."""

    at: float
    utility: float
    privacy: float

    @property
    def gap(self) -> float:
        return self.utility - self.privacy


def crossings(curve: Sequence[Spot]) -> tuple[Crossing, ...]:
    """Every place where the curves have one value, in ascending order; between two places both are straight lines.

    Where a place has no release the curves are broken: nothing is interpolated across it.

    Example:
        >>> crossings([(8, 0.62, 0.58), (9, 0.58, 0.62)])
        (Crossing(at=8.5, value=0.6, kind='cross', until=None),)
    """
    return tuple(each for piece in _pieces(curve) for each in _of_piece(piece))


def closest(curve: Sequence[Spot]) -> Closest | None:
    """The swept place where the curves come closest, the first of equals; None without any release.

    Example:
        >>> closest([(2, 0.9, 0.1), (3, 0.8, 0.3), None]).at
        3
    """
    known = [spot for spot in curve if spot is not None]
    if not known:
        return None
    at, utility, privacy = min(known, key=lambda spot: abs(spot[1] - spot[2]))
    return Closest(at=at, utility=utility, privacy=privacy)


def _pieces(curve: Sequence[Spot]) -> Iterator[list[tuple[float, float, float]]]:
    """The parts of a curve between the places that have no release."""
    piece: list[tuple[float, float, float]] = []
    for spot in (*curve, None):
        if spot is not None:
            piece.append(spot)
        elif piece:
            yield sorted(piece)
            piece = []


def _of_piece(piece: Sequence[tuple[float, float, float]]) -> Iterator[Crossing]:
    gaps = [utility - privacy for _, utility, privacy in piece]
    place = 0
    while place < len(piece):
        at, value, _ = piece[place]
        if gaps[place] == 0:
            last = place
            while last + 1 < len(piece) and gaps[last + 1] == 0:
                last += 1
            if last > place:
                yield Crossing(at=at, value=value, kind="equal", until=piece[last][0])
            else:
                sides = [*gaps[max(place - 1, 0) : place], *gaps[place + 1 : place + 2]]
                through = len(sides) == 2 and (sides[0] > 0) != (sides[1] > 0)
                yield Crossing(at=at, value=value, kind="cross" if through else "touch")
            place = last
        elif place + 1 < len(piece) and gaps[place + 1] != 0 and (gaps[place] > 0) != (gaps[place + 1] > 0):
            share = gaps[place] / (gaps[place] - gaps[place + 1])
            (start, low, _), (end, high, _) = piece[place], piece[place + 1]
            yield Crossing(at=start + share * (end - start), value=low + share * (high - low))
        place += 1


def front(scores: Sequence[tuple[float, float] | None]) -> tuple[int, ...]:
    """The Pareto front: the places of the pairs that no other one beats in one respect without losing in the other.
    Equal pairs are in it together.

    Example:
        >>> front([(0.9, 0.1), (0.5, 0.5), (0.4, 0.4), None, (0.9, 0.05)])
        (0, 1)
    """
    known = sorted(((pair, place) for place, pair in enumerate(scores) if pair is not None), reverse=True)
    places: list[int] = []
    best, at_best = float("-inf"), float("nan")
    for (first, second), place in known:
        if second > best or (second == best and first == at_best):
            places.append(place)
            best, at_best = second, first
    return tuple(sorted(places))
