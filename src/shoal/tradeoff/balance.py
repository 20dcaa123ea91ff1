"""Balance: what came of a sweep, in words and as JSON holds it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from shoal.tradeoff.advice import advice, summary
from shoal.tradeoff.sweep_result import Point, SweepResult


@dataclass(frozen=True, kw_only=True)
class Balance(SweepResult):
    """What came of a sweep: its points, where privacy and utility balance, and a recommendation.

    The first utility and the first privacy lead; all the others stand beside. Figures are means over the seeds. The
    `seed` is the holder's secret: with it every release can be made again.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.haberman(), quasi=["age", "operation-year"])
        >>> balance = shoal.balance(data, target="class", k=[2, 20, 40], algorithm="oka", seed=1, workers=1)
        >>> [point.place["k"] for point in balance.points]
        [2, 20, 40]
    """

    @property
    def summary(self) -> str:
        """The sentence that leads: where the curves meet, or where they come closest."""
        return summary(self)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to take, why, and what to mind, a sentence each."""
        return tuple(advice(self))

    def as_dict(self) -> dict[str, Any]:
        """The balance as JSON holds it, without the seed."""
        axis = self.axis.name if self.axis is not None else ""
        meeting = None
        if self.best is not None:
            crossing = self.best.crossings[0]
            meeting = {axis: crossing.at, "value": crossing.value, **self.best.beside}
        return {
            "points": [self._point(point) for point in self.points],
            "balance": meeting,
            "crossings": [{**pair.named(), **each.as_dict(axis)} for pair in self.pairs for each in pair.crossings],
            "closest": [
                {**pair.named(), axis: pair.closest.at, "gap": pair.closest.gap}
                for pair in self.pairs
                if pair.closest is not None and not pair.crossings
            ],
            "fronts": [
                {
                    "utility": utility.name,
                    "privacy": privacy.name,
                    "points": [dict(point.place) for point in self.front(utility.name, privacy.name)],
                }
                for utility, privacy in product(self.utilities, self.privacies)
            ],
            "recommended": None if self.recommended is None else dict(self.recommended.place),
            "asked_k": self.asked_k,
            "advice": list(self.advice),
            "records": self.records,
            "target": self.target,
            "seeds": self.seeds,
            "definitions": {each.name: each.words for each in (*self.utilities, *self.privacies)},
            "original": self.original,
        }

    def _point(self, point: Point) -> dict[str, Any]:
        utility, privacy = point.share(self.utility.name), point.share(self.privacy.name)
        shares = {each.name: point.share(each.name) for each in (*self.utilities, *self.privacies)}
        return {
            **point.place,
            "utility": None if utility is None else utility.mean,
            "privacy": None if privacy is None else privacy.mean,
            "measures": {name: None if share is None else asdict(share) for name, share in shares.items()},
            "baseline": point.baseline,
            "classes": [run.classes for run in point.runs],
            "suppressed": [run.suppressed for run in point.runs],
            "seconds": round(sum(run.seconds for run in point.runs), 3),
            "reason": point.reason or next((why for name in shares if (why := point.why_not(name))), None),
        }

    def json(self) -> str:
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2) + "\n"
