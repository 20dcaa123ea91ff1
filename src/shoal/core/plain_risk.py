"""What the columns that are published as they are give away together, held against the risk that the policy accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shoal.core.formatting import counted, enumerated, percent, printable
from shoal.core.policy import Policy
from shoal.core.risk_line import LINE, is_above

NAMED = 3
"""Columns that a warning names."""


@dataclass(frozen=True, kw_only=True)
class PlainRisk:
    """How many of the `records`, or of the people where `unit` says so, the plain `columns` together single out; the
    policy accepts a share of them.

    Models promise nothing about these columns: whoever knows them of a person finds the record, whatever k is.

    Example:
        >>> risk = PlainRisk(columns=("zip", "income"), singled_out=980, records=1000, accepted=0.2)
        >>> risk.above, risk.condition
        (True, '2 columns published as they are single out 98 %')
    """

    columns: tuple[str, ...]
    singled_out: int
    records: int
    accepted: float
    unit: str = "records"

    @classmethod
    def of(cls, stated: Mapping[str, Any] | None, records: int, policy: Policy | None) -> PlainRisk | None:
        """What a manifest states of plain columns, held against a policy: 1/k, or one in eleven where it asks for no
        k; None where there are none."""
        if not stated or not stated["columns"]:
            return None
        least = 1 if policy is None else policy.least
        first = dict.fromkeys((*stated["almost_unique"], *stated["columns"]))  # those that tell most
        return cls(
            columns=tuple(first), singled_out=stated["singled_out"], records=stated.get("people", records),
            unit="people" if "people" in stated else "records", accepted=1 / least if least > 1 else LINE,
        )  # fmt: skip

    @property
    def share(self) -> float:
        return self.singled_out / max(self.records, 1)

    @property
    def above(self) -> bool:
        """Whether they single out more than the policy accepts."""
        return is_above(self.share, self.accepted)

    @property
    def condition(self) -> str:
        """What limits the promise, in a few words."""
        how = "as it is singles" if len(self.columns) == 1 else "as they are single"
        return f"{counted(len(self.columns), 'columns')} published {how} out {percent(self.share)}"

    @property
    def warning(self) -> str:
        """What to know before anything is handed over, and what to do; empty where the policy's risk is kept."""
        if not self.above:
            return ""
        one = len(self.columns) == 1
        named = [printable(name) for name in self.columns[:NAMED]]
        more = len(self.columns) - len(named)
        names = f"{', '.join(named)} and {more} more" if more else enumerated(named)
        it = "it" if one else "them"
        return (
            f"{names} {'is' if one else 'are'} published as {'it is' if one else 'they are'} and "
            f"{'singles' if one else 'together single'} out {percent(self.share)} of the {self.unit}: whoever knows "
            f"{it} finds the person, whatever the models promise. Make {it} "
            f"{'a quasi-identifier' if one else 'quasi-identifiers'}, drop {it}, or round {it} so that many people "
            "share a value."
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        shown = {**asdict(self), "columns": list(self.columns), "share": self.share, "above": self.above}
        return {**shown, "warning": self.warning} if self.above else shown
