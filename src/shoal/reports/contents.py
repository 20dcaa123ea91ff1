"""Report: everything that was found about a release, in the order in which a regulator asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from shoal.core.contracts.attack import Attempt
from shoal.core.contracts.model import Model
from shoal.core.finding import Findings
from shoal.core.plain_risk import PlainRisk
from shoal.core.policy import Policy
from shoal.errors import OutputError, ParameterError
from shoal.publishing.columns import ReleasedColumn
from shoal.reports.risk import Risk

VERSION = 1
"""Of the JSON; the schema of `report` tells what is in it."""
PAGE, DATA = ".html", ".json"
DIGITS = 3
"""Of figures that were measured against the original, in what may be handed over: exact ones can be taken apart. Two
sums that differ by one withheld record tell that record."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What only people know: who gets the release, what for, who answers for it, and the day. All of it is optional."""

    recipient: str = ""
    purpose: str = ""
    author: str = ""
    day: str = ""

    def __post_init__(self) -> None:
        if self.day:
            try:
                date.fromisoformat(self.day)
            except ValueError:
                raise ParameterError("the date of a report is written as 2026-05-17") from None


@dataclass(frozen=True, kw_only=True)
class PublishedFile:
    """A published file; `part` is what it is in a release of several tables."""

    name: str
    part: str
    rows: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ModelPromise:
    """A model of the policy: its claim, its parameters, and what it says of itself."""

    name: str
    claim: str
    parameters: Mapping[str, Any]
    meaning: str
    promises: str
    not_protected: str


@dataclass(frozen=True, kw_only=True)
class Holder:
    """What only the holder may see: it has values, exact figures, and facts about the table."""

    table: Mapping[str, Any]
    exposure: Findings
    findings: Findings
    attempts: tuple[Attempt, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "table": dict(self.table),
            "exposure": self.exposure.as_dict(),
            "findings": self.findings.as_dict(),
            "attacks": [attempt.as_dict() for attempt in self.attempts],
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportContents:
    """What was published and for whom, under which policy, verified how, the risk that is left, attacks, what was lost,
    what is not protected, hashes and signature, and how to repeat it.

    It holds no value of a cell, neither of the table nor of the release, and no seed: it may be handed to whoever gets
    the release and to whoever only judges it. The `holder` part has more, and is there only when it was asked for.

    Equal inputs give equal bytes: no clock is asked.
    """

    about: About
    release: str
    form: str
    records: int
    published: int
    people: int | None
    identifiers: str
    files: tuple[PublishedFile, ...]
    columns: tuple[ReleasedColumn, ...]
    policy: Policy
    promises: tuple[ModelPromise, ...]
    algorithm: Mapping[str, Any]
    strict: bool
    unverified: bool
    verification: Findings
    verified: str
    plain: PlainRisk | None
    risk: Risk | str
    attempts: tuple[Attempt, ...]
    not_made: Mapping[str, str]
    findings: Findings
    analyses: Findings
    limits: tuple[tuple[str, str], ...]
    manifest: PublishedFile
    signature: Mapping[str, str]
    job: str
    commands: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    shoal: str
    pictures: Mapping[str, Any] = field(default_factory=dict)
    holder: Holder | None = None
    threshold_given: bool = False

    def __repr__(self) -> str:
        return f"Report({self.release!r}, {'holds' if self.holds else 'does not hold'})"

    @property
    def holds(self) -> bool:
        """Whether the release keeps what its manifest says, and nobody is above a threshold that was given."""
        above = self.threshold_given and not (isinstance(self.risk, Risk) and self.risk.holds)
        return self.verification.holds and not above

    @property
    def complete(self) -> bool:
        """Whether the risk that is left has a figure, and attacks were made."""
        return isinstance(self.risk, Risk) and bool(self.attempts)

    @property
    def summary(self) -> str:
        """The five sentences of the first page."""
        return " ".join(self.sentences)

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {
            "command": "report",
            "version": VERSION,
            "summary": self.summary,
            "holds": self.holds,
            "sentences": list(self.sentences),
            "about": vars(self.about),
            "published": {
                "release": self.release, "form": self.form, "records": self.records, "published": self.published,
                "suppressed": self.records - self.published, "people": self.people, "identifiers": self.identifiers,
                "files": [vars(file) for file in self.files],
                "columns": [_rounded(column.as_dict()) for column in self.columns],
            },
            "policy": {
                "models": [{**vars(each), "parameters": dict(each.parameters)} for each in self.promises],
                "suppression": self.policy.suppression,
                "algorithm": dict(self.algorithm),
                "strict": self.strict,
                "unverified": self.unverified,
            },
            "verification": {
                "holds": self.verification.holds, "summary": self.verified,
                "findings": self.verification.as_dict(),
            },
            **({} if self.plain is None else {"plain": _rounded(self.plain.as_dict())}),
            "risk": self.risk.as_dict() if isinstance(self.risk, Risk) else {"reason": self.risk},
            "attacks": {
                "made": [_rounded(attempt.as_dict()) for attempt in self.attempts],
                "not_made": dict(self.not_made),
            },
            "loss": {"findings": _all_rounded(self.findings), "analyses": _all_rounded(self.analyses)},
            "not_protected": [{"of": of, "what": what} for of, what in self.limits],
            "trust": {"manifest": vars(self.manifest), "signature": dict(self.signature)},
            "repeat": {"job": self.job, "commands": [command for command, _ in self.commands]},
            "shoal": self.shoal,
            **({} if self.holder is None else {"holder": self.holder.as_dict()}),
        }  # fmt: skip

    def json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"


def check_endings(paths: tuple[Path, ...]) -> None:
    """Refuses, before any work is done, a report that could not be written."""
    for path in paths:
        if path.suffix not in (PAGE, DATA):
            raise OutputError(f"{path.name}: a report ends in {PAGE} or {DATA}")


def promised(model: Model, parameters: Mapping[str, Any]) -> ModelPromise:
    """What a model says of itself."""
    from shoal.reports import docstrings

    return ModelPromise(
        name=str(parameters["name"]),
        claim=model.claim,
        parameters={key: value for key, value in parameters.items() if key not in ("name", "values", "leaves")},
        meaning=docstrings.meaning(model),
        promises=docstrings.promise(model),
        not_protected=docstrings.limit(model),
    )


def _all_rounded(findings: Findings) -> dict[str, Any]:
    return {name: _rounded(entry) for name, entry in findings.as_dict().items()}


def _rounded(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry with its figures to a few digits, and without details."""
    return {key: _short(value) for key, value in entry.items() if key != "detail"}


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, (list, tuple)):
        return [_short(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _short(each) for key, each in value.items()}
    return value
