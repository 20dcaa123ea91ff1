"""Output of commands that try several settings."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from shoal.cli.schemas.entries import Printed, Share


class Comparing(Printed):
    """Algorithms, models and k beside one another: one entry a combination, with its figures or the reason."""

    records: int
    rows: list[dict[str, Any]]
    seed: int


class SpreadEntry(TypedDict):
    """A share over the seeds."""

    mean: Share
    least: Share
    greatest: Share


class PointEntry(TypedDict):
    """A setting of a sweep; what was swept (k, l, t, suppression, algorithm) stands beside. `reason` says why there is
    no release, or no figure."""

    k: NotRequired[int]
    l: NotRequired[int | float]  # noqa: E741
    t: NotRequired[float]
    suppression: NotRequired[Share]
    algorithm: NotRequired[str]
    utility: Share | None
    privacy: Share | None
    measures: dict[str, SpreadEntry | None]
    baseline: Share | None
    classes: list[int | None]
    suppressed: list[int | None]
    seconds: float
    reason: str | None


class FrontEntry(TypedDict):
    """The settings that no other one beats in utility without losing privacy, or the other way round."""

    utility: str
    privacy: str
    points: list[dict[str, Any]]


class Balanced(Printed):
    """Where privacy and utility balance (`shoal balance`): `balance` has the swept parameter and the `value` of both,
    and is null where the curves do not meet; `closest` then says where they come closest."""

    points: list[PointEntry]
    balance: dict[str, Any] | None
    crossings: list[dict[str, Any]]
    closest: list[dict[str, Any]]
    fronts: list[FrontEntry]
    recommended: dict[str, Any] | None
    asked_k: int
    advice: list[str]
    records: int
    target: str | None
    seeds: int
    seed: int
    definitions: dict[str, str]
    original: Share | None
    figures: NotRequired[str]
    plot: NotRequired[str]
    plane: NotRequired[str]
