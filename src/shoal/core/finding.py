"""Finding: one measured fact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from shoal.core.formatting import amount, in_html
from shoal.errors import alternatives

IN_RECORDS = " (counted in records, not people)"
"""How a claim ends that counts records because it is not known whose they are."""


def claimed(claims: Iterable[str]) -> list[str]:
    """Claims without repetition; that several count records is said once, after the last of them.

    Example:
        >>> claimed([f"5-anonymous{IN_RECORDS}", f"distinct 3-diverse{IN_RECORDS}", "signed"])
        ['5-anonymous', 'distinct 3-diverse (counted in records, not people)', 'signed']
    """
    distinct = list(dict.fromkeys(filter(None, claims)))
    return [
        claim.removesuffix(IN_RECORDS) if after.endswith(IN_RECORDS) else claim
        for claim, after in zip_longest(distinct, distinct[1:], fillvalue="")
    ]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A name, a value, the bound it was held against, and how it was computed.

    `unit` says what the value counts: `records`, `classes`, `values`, `levels`, `bits`, or `share`, of which 1 is all;
    without one it is a bare number. `label` is what people are shown where the name alone would mislead, and `claim`
    says in a few words what it means that the bound is kept. `baselines` has what the same measure is elsewhere: of the
    `original` table, and of one with everything `hidden`.

    Example:
        >>> Finding(name="k", value=3, bound=5, holds=False, unit="records").as_dict()
        {'value': 3, 'bound': 5, 'holds': False, 'unit': 'records'}
    """

    name: str
    value: float | int | str | None
    bound: float | int | None = None
    holds: bool | None = None
    how: str = ""
    unit: str = ""
    label: str = ""
    claim: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    baselines: Mapping[str, float | int | str | None] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What people are shown as its name."""
        return self.label or self.name

    @property
    def words(self) -> str:
        """The value with its unit, as people read it."""
        return amount(self.value, self.unit)

    def bare(self, value: Any) -> str:
        """A value of it, or its bound, where the unit was said; a share is still in percent."""
        return amount(value, "share" if self.unit == "share" else "")

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON holds it; a number that JSON lacks (infinity) is written as text, and one that there is
        not has its reason."""
        entry: dict[str, Any] = {"value": _plain(self.value), "bound": _plain(self.bound), "holds": self.holds}
        if self.unit:
            entry["unit"] = self.unit
        if self.value is None and self.how:
            entry["reason"] = self.how
        if self.detail:
            entry["detail"] = {name: _plain(value) for name, value in self.detail.items()}
        if self.baselines:
            entry["baselines"] = {name: _plain(value) for name, value in self.baselines.items()}
        return entry


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """Findings in order, also by name.

    Example:
        >>> found = Findings((Finding(name="k", value=3, bound=2, holds=True),))
        >>> found["k"].value, found.holds
        (3, True)
    """

    entries: tuple[Finding, ...]

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.entries[key]
        for finding in self.entries:
            if finding.name == key:
                return finding
        raise KeyError(f"no finding {key!r}; {alternatives(key, [finding.name for finding in self.entries])}")

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.entries)

    @property
    def holds(self) -> bool:
        """Whether every finding that was held against a bound keeps it."""
        return all(finding.holds is not False for finding in self.entries)

    def get(self, name: str) -> Finding | None:
        """The finding of that name; None when there is none."""
        return next((finding for finding in self.entries if finding.name == name), None)

    def _repr_html_(self) -> str:
        verdicts = {True: "yes", False: "no", None: ""}
        rows = [(each.title, each.words, each.bare(each.bound), verdicts[each.holds], each.how) for each in self]
        return in_html(("finding", "value", "bound", "holds", "how"), rows)

    def as_dict(self) -> dict[str, Any]:
        """The findings as JSON holds them. Two of one name, as with several sensitive attributes, are numbered."""
        named: dict[str, Any] = {}
        for finding in self.entries:
            name, number = finding.name, 2
            while name in named:
                name, number = f"{finding.name}-{number}", number + 1
            named[name] = finding.as_dict()
        return named
