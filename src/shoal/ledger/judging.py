"""Judging: whether a release and earlier ones together keep what each of them promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal import registry
from shoal.core.contracts import Attack, Attempt, Known
from shoal.core.run import Run
from shoal.core.seen import Seen
from shoal.core.words import percent
from shoal.errors import NotDefined

CERTAIN = 0.9
"""How certain nobody may become of a value by several releases where none of them promises anything about values."""


@dataclass(frozen=True, kw_only=True)
class Breach:
    """An attack that succeeds with several releases and with none of them alone: how many people are `exposed`, how
    much the worst risk is and what was promised (`bound`), and the earlier releases that it takes."""

    attack: str
    exposed: float
    worst: float
    bound: float
    earlier: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What is wrong, in words."""
        what = "what somebody has" if self.attack == "composition" else "whose a record is"
        others = " and ".join(self.earlier)
        return (
            f"{self.attack}: together with {others} it tells {what} with up to {percent(self.worst)}, where "
            f"{percent(self.bound)} is the limit; that exposes {percent(self.exposed)} of the people"
        )

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "earlier": list(self.earlier)}


def _attacks(releases: Sequence[Seen]) -> list[tuple[Attack, float]]:
    """The attacks that count, with what may not be exceeded: the weakest promise that is there."""
    k, l = min(each.promise.k for each in releases), min(each.promise.l for each in releases)  # noqa: E741
    found = []
    if k > 1:
        found = [(name, 1 / k) for name in ("complementary-release", "temporal-release")]
    found.append(("composition", 1 / l if l > 1 else CERTAIN))
    return [(registry.make("attacks", name, {"threshold": bound}), bound) for name, bound in found]


def breaches(earlier: Sequence[Seen], later: Seen, run: Run) -> tuple[tuple[Breach, ...], tuple[str, ...]]:
    """What breaks when a release comes after others, and why attacks could not be made."""
    if not earlier:
        return (), ()
    found, reasons = [], []
    for attack, bound in _attacks([*earlier, later]):
        try:
            attempt = _attempted(attack, earlier, later, run)
        except NotDefined as reason:
            reasons.append(f"{registry.name_of(attack)}: {reason}")
            continue
        if attempt.detail["gained"] > 0:
            alone = [each for each in earlier if len(earlier) > 1 and _breaks(attack, each, later, run)]
            found.append(
                Breach(
                    attack=attempt.name, exposed=attempt.detail["gained"], worst=attempt.worst, bound=bound,
                    earlier=tuple(each.name for each in alone or earlier),
                )
            )  # fmt: skip
    return tuple(found), tuple(reasons)


def _attempted(attack: Attack, earlier: Sequence[Seen], later: Seen, run: Run) -> Attempt:
    return attack.attempt(None, later.release, Known(earlier=tuple(earlier), later=later), run)  # type: ignore[arg-type]


def _breaks(attack: Attack, earlier: Seen, later: Seen, run: Run) -> bool:
    try:
        return bool(_attempted(attack, [earlier], later, run).detail["gained"] > 0)
    except NotDefined:
        return False
