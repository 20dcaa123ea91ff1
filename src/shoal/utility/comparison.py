"""Comparison: what several algorithms make of one table, policy by policy."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ALGORITHMS = ("auto", "mondrian")
METRICS = ("lm", "gcp")
"""What is compared, and by what, where nobody says."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One combination: what its release lost, or the `reason` why there is none.

    `models` are those beside the k-anonymity of `k`. `losses` has a value for each metric, None where the release does
    not tell. `chosen` is what an algorithm that tries others took.
    """

    algorithm: str
    models: str
    k: int | None
    losses: Mapping[str, float | int | None]
    classes: int | None = None
    suppressed: int | None = None
    seconds: float
    chosen: str | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row of a table: a column for each metric."""
        return {
            "algorithm": self.algorithm, "models": self.models, "k": self.k, **self.losses, "classes": self.classes,
            "suppressed": self.suppressed, "seconds": self.seconds, "chosen": self.chosen, "reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True)
class Comparison(Sequence[Compared]):
    """Combinations in the order in which they were asked for.

    Example:
        >>> row = Compared(algorithm="mondrian", models="", k=2, losses={"gcp": 0.25}, seconds=0.1)
        >>> Comparison((row,), 10, 1).csv().splitlines()
        ['algorithm,models,k,gcp,classes,suppressed,seconds,chosen,reason', 'mondrian,,2,0.25,,,0.1,,']
    """

    rows: tuple[Compared, ...]
    records: int
    seed: int
    """The holder's secret, with which every row can be made again; it is in no file."""

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    @property
    def summary(self) -> str:
        """Which algorithm loses least, in most of the combinations that have a release.

        Example:
            >>> rows = [Compared(algorithm=name, models="", k=2, losses={"lm": loss}, seconds=0.1)
            ...         for name, loss in (("auto", 0.2), ("mondrian", 0.3))]
            >>> Comparison(tuple(rows), 10, 1).summary
            'auto loses least by lm, in 1 of 1 settings.'
        """
        wins: Counter[str] = Counter()
        metric = next(iter(self.rows[0].losses)) if self.rows else ""
        settings = list(dict.fromkeys((row.models, row.k) for row in self.rows))
        for setting in settings:
            losses = {row.algorithm: row.losses.get(metric) for row in self.rows if (row.models, row.k) == setting}
            known = {name: loss for name, loss in losses.items() if isinstance(loss, (int, float))}
            if known:
                wins[min(known, key=known.__getitem__)] += 1
        if not wins:
            return "No combination has a release."
        (best, count), *_ = wins.most_common()
        return f"{best} loses least by {metric}, in {count} of {len(settings)} settings."

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON holds it, without the seed."""
        return {"records": self.records, "rows": [row.as_dict() for row in self.rows]}

    def json(self) -> str:
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2) + "\n"

    def csv(self) -> str:
        """The rows as a CSV file; what there is not is an empty cell."""
        text, rows = io.StringIO(), [row.as_dict() for row in self.rows]
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()
