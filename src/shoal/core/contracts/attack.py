"""What an attack must offer, and what it gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.core.contracts.model import SLACK
from shoal.core.dataset import Dataset
from shoal.core.formatting import in_html
from shoal.core.grouping import Counts
from shoal.core.parameters import Examples, Parametrized
from shoal.core.release import Release
from shoal.core.release_history import LocatedRelease
from shoal.core.risk_line import accepted
from shoal.core.run import Run
from shoal.errors import alternatives


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """How often an attack succeeds, how often the same guess does without the release, and the worst record.

    The `baseline` is the best guess without the release; `random` is that of somebody who guesses as often as a value
    occurs. `above` is the share of the people whose risk is above the `threshold`. `control` is the success of the
    same attack on people who were held out of the release. Attacks on classes are computed, not sampled, and have no
    `interval`; that of a sampled success is Wilson's. `knew` says what the attacker knew, `meaning` what the figures
    mean. Where it is a `lower_bound`, somebody with the same knowledge may do better in another way.
    """

    name: str
    success: float
    baseline: float
    worst: float
    above: float
    threshold: float
    knew: str
    meaning: str
    random: float | None = None
    control: float | None = None
    interval: tuple[float, float] | None = None
    lower_bound: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gains(self) -> bool:
        """Whether the release helps the attacker at all."""
        return self.success > self.baseline * (1 + SLACK)

    def as_dict(self) -> dict[str, Any]:
        """The attempt as JSON holds it."""
        optional = ("random", "control", "interval", "detail")
        entries = {name: value for name, value in vars(self).items() if name not in optional or value not in (None, {})}
        return {**entries, "gains": self.gains}


class Attempts(tuple[Attempt, ...]):
    """What some attacks gave, in order, also by name; printed as a table.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["sex", "race"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=50), algorithm="mondrian", seed=1)
        >>> found = shoal.attack(data, release, "prosecutor", "marketer")
        >>> round(found["prosecutor"].worst, 4)
        0.0115
        >>> found
        attack      success  without the release  most exposed
        prosecutor   0.03 %               0.00 %        1.15 %
        marketer     0.03 %               0.00 %        0.03 %
    """

    HEADINGS = ("attack", "success", "without the release", "most exposed")

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for attempt in self:
            if attempt.name == key:
                return attempt
        raise KeyError(f"no attack {key!r} was made; {alternatives(key, [attempt.name for attempt in self])}")

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (each.name, *(f"{100 * share:.2f} %" for share in (each.success, each.baseline, each.worst)))
            for each in self
        ]

    def __repr__(self) -> str:
        rows = [self.HEADINGS, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
        return "\n".join("  ".join(line) for line in lines)

    def _repr_html_(self) -> str:
        return in_html(self.HEADINGS, self._rows())


@dataclass(frozen=True, kw_only=True)
class Known:
    """What an attacker has beside the release: an `external` table about people, with the quasi-identifiers that it
    shares with the release; `earlier` releases about some of the same people, laid beside this one as `later`; and, to
    measure by, people who were `held_out` of the release. Where releases cannot be laid beside one another, there are
    none, and the `obstacle` says why."""

    external: Dataset | None = None
    earlier: tuple[LocatedRelease, ...] = ()
    later: LocatedRelease | None = None
    obstacle: str = ""
    held_out: Dataset | None = None
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What attacks have made of these tables, so that it is made once for all of them."""


class Attack(Parametrized, ABC):
    """An attack that a holder can run against a release before an adversary does. It names no person."""

    examples: ClassVar[Examples] = ({}, {"threshold": 0.05})
    threshold: float
    """The risk above which somebody counts as exposed; 0.09 means one in eleven."""

    @property
    def line(self) -> float:
        """The risk above which somebody counts as exposed, as the threshold means it."""
        return accepted(self.threshold)

    @abstractmethod
    def attempt(self, dataset: Dataset, release: Release, known: Known, run: Run) -> Attempt:
        """The figures of the attack; raises `NotDefined` where the form of the release does not allow it, or where it
        needs what is not known."""

    def attempt_over(
        self, risks: NDArray[np.float64], people: Counts | None = None, *, hits: float | None = None, **facts: Any
    ) -> Attempt:
        """The attempt, named by the file of the attack, whose risk is `risks[g]` for each of `people[g]` people, or for
        one where they are not counted: its success is the mean, or `hits` of all people where that is known without
        rounding. What rounding alone carries past the threshold is at it."""
        if people is None:
            people, hits = np.ones(len(risks), np.int64), float(risks.sum()) if hits is None else hits
        everybody = int(people.sum())
        line = self.line
        risks = np.where(np.abs(risks - line) <= SLACK, line, risks)
        worst = float(risks[people > 0].max(initial=0.0))
        expected = float(risks @ people) if hits is None else hits
        return Attempt(
            name=type(self).__module__.rpartition(".")[2].replace("_", "-"),
            success=min(expected / everybody, worst) if everybody else 0.0,
            worst=worst,
            above=int(people[risks > line].sum()) / everybody if everybody else 0.0,
            threshold=line,
            **facts,
        )
