"""What came of a sweep: its points, where the curves of utility and privacy meet, and which points are worth it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from shoal.tradeoff.crossings import Closest, Crossing, Spot, closest, crossings, front

Place = Mapping[str, Any]
"""The swept parameters by name, as they are printed."""


@dataclass(frozen=True)
class SweptAxis:
    """A parameter and the values that it takes, as they are printed."""

    name: str
    values: tuple[Any, ...]

    @property
    def numeric(self) -> bool:
        """Whether there is something between two of its values."""
        return not any(isinstance(value, str) for value in self.values)


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What is called utility or privacy: a name, what its share is the share of, in words and in a few letters, and
    whether a learner tells it. One that `decides` is what everything else is given up for, under the policy."""

    name: str
    words: str
    heading: str
    learned: bool = False
    decides: bool = False


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one release of a sweep came to, or the `reason` why there is none. It holds counts and shares alone."""

    shares: Mapping[str, float | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    baseline: float | None = None
    classes: int | None = None
    suppressed: int | None = None
    seconds: float = 0.0
    reason: str | None = None


@dataclass(frozen=True)
class SeedRange:
    """A share over several seeds: its mean, the least and the greatest."""

    mean: float
    least: float
    greatest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> SeedRange | None:
        return cls(sum(values) / len(values), min(values), max(values)) if values else None


@dataclass(frozen=True, kw_only=True)
class Point:
    """A setting of the sweep: what its releases came to, one for each seed, or the `reason` why there is none."""

    place: Place
    runs: tuple[Measured, ...]

    @property
    def reason(self) -> str | None:
        """Why there is no release, or why some seeds have none."""
        return next((run.reason for run in self.runs if run.reason is not None), None)

    def share(self, measure: str) -> SeedRange | None:
        """A measure over the seeds that have it."""
        return SeedRange.of([share for run in self.runs if (share := run.shares.get(measure)) is not None])

    def why_not(self, measure: str) -> str | None:
        """Why a release does not have a measure."""
        return next((run.reasons[measure] for run in self.runs if measure in run.reasons), self.reason)

    @property
    def baseline(self) -> float | None:
        """How often whoever always names the most frequent published value of the target is right."""
        shares = SeedRange.of([run.baseline for run in self.runs if run.baseline is not None])
        return None if shares is None else shares.mean


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A definition of utility and one of privacy along one curve; `beside` has the other parameter, if there is one."""

    utility: str
    privacy: str
    beside: Place
    crossings: tuple[Crossing, ...]
    closest: Closest | None
    by_seed: tuple[tuple[Crossing, ...], ...]

    def named(self) -> dict[str, Any]:
        return {"utility": self.utility, "privacy": self.privacy, **self.beside}


@dataclass(frozen=True, kw_only=True)
class SweepResult:
    """The points of a sweep and the curves through them. The first utility and the first privacy lead; all the others
    stand beside. Figures are means over the seeds.
    """

    axes: tuple[SweptAxis, ...]
    points: tuple[Point, ...]
    utilities: tuple[Definition, ...]
    privacies: tuple[Definition, ...]
    records: int
    seeds: int
    seed: int
    target: str | None
    original: float | None = None
    """The accuracy of the first learner on the table as it is."""
    asked_k: int = 1
    """The k of the policy that the sweep varies: nothing below it is recommended."""

    @cached_property
    def axis(self) -> SweptAxis | None:
        """The parameter along which the curves run: the first that has something between two of its values."""
        return next((axis for axis in self.axes if axis.numeric), None)

    @property
    def utility(self) -> Definition:
        return self.utilities[0]

    @property
    def privacy(self) -> Definition:
        return self.privacies[0]

    def curve(self, beside: Place) -> list[Point]:
        """The points along the axis, the other parameter held fast."""
        return [point for point in self.points if beside.items() <= point.place.items()]

    @cached_property
    def curves(self) -> tuple[Place, ...]:
        """The values of the other parameter, a curve each; a single empty one where only one is swept."""
        others = [axis for axis in self.axes if axis is not (self.axis or self.axes[0])]
        names = [axis.name for axis in others]
        return tuple(dict(zip(names, values, strict=True)) for values in product(*(axis.values for axis in others)))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Where the curves of every utility and every privacy meet; the leading pair first. Without an axis: none."""
        if self.axis is None:
            return ()
        return tuple(
            self._pair(utility.name, privacy.name, beside)
            for utility, privacy, beside in product(self.utilities, self.privacies, self.curves)
        )

    def _pair(self, utility: str, privacy: str, beside: Place) -> Pair:
        curve = self.curve(beside)
        means = [self._spot(point, utility, privacy) for point in curve]
        single = [[self._spot(point, utility, privacy, seed) for point in curve] for seed in range(self.seeds)]
        return Pair(
            utility=utility,
            privacy=privacy,
            beside=beside,
            crossings=crossings(means),
            closest=closest(means),
            by_seed=tuple(crossings(spots) for spots in single),
        )

    def _spot(self, point: Point, utility: str, privacy: str, seed: int | None = None) -> Spot:
        assert self.axis is not None
        names = (utility, privacy)
        if seed is None:
            both = [shares.mean for name in names if (shares := point.share(name)) is not None]
        else:
            both = [share for name in names if (share := point.runs[seed].shares.get(name)) is not None]
        return (point.place[self.axis.name], both[0], both[1]) if len(both) == 2 else None

    @property
    def leading(self) -> tuple[Pair, ...]:
        """The curves of the leading definitions."""
        return tuple(
            pair for pair in self.pairs if (pair.utility, pair.privacy) == (self.utility.name, self.privacy.name)
        )

    @cached_property
    def best(self) -> Pair | None:
        """The curve of the leading pair whose first crossing is highest; None where no two curves meet."""
        meeting = [pair for pair in self.leading if pair.crossings]
        return max(meeting, key=lambda pair: pair.crossings[0].value, default=None)

    def scores(self, utility: str, privacy: str) -> list[tuple[float, float] | None]:
        """Utility and privacy of each point, where it has both."""
        pairs = [(point.share(utility), point.share(privacy)) for point in self.points]
        return [None if one is None or other is None else (one.mean, other.mean) for one, other in pairs]

    def front(self, utility: str | None = None, privacy: str | None = None) -> tuple[Point, ...]:
        """The points that no other one beats in utility without losing privacy, or the other way round."""
        scores = self.scores(utility or self.utility.name, privacy or self.privacy.name)
        return tuple(self.points[place] for place in front(scores))

    @cached_property
    def recommended(self) -> Point | None:
        """The point at which the lesser of the leading utility and privacy is greatest; of equals the one with more
        of the other. None where no point has both. Where the utility decides, the point that has most of it. A k below
        the one that the policy asks for is never recommended."""
        return self._best_of([point for point in self.points if point.place.get("k", self.asked_k) >= self.asked_k])

    @property
    def refused(self) -> Point | None:
        """The point that would be recommended if the policy did not ask for a larger k."""
        point = self._best_of(self.points)
        return None if point is self.recommended else point

    def _best_of(self, points: Sequence[Point]) -> Point | None:
        names = [self.utility.name] if self.utility.decides else [self.utility.name, self.privacy.name]
        scores = [([share.mean for name in names if (share := point.share(name))], point) for point in points]
        known = [(score, point) for score, point in scores if len(score) == len(names)]
        return max(known, key=lambda each: (min(each[0]), sum(each[0])), default=(None, None))[1]
