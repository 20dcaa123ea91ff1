"""Output of commands that make, measure and check a release."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from shoal.cli.schemas.entries import AttackEntry, ColumnEntry, Findings, PlainEntry, Printed, Share


class Anonymized(Printed):
    """A release; whatever else the algorithm tells about its search stands beside."""

    findings: Findings
    columns: list[ColumnEntry]
    records: int
    classes: NotRequired[int]
    suppressed: int
    seed: int
    notes: list[str]
    plain: NotRequired[PlainEntry]
    manifest: NotRequired[str]
    attacks: NotRequired[list[AttackEntry]]
    seconds: float


class Applied(Printed):
    """New records, recoded as those of a release were."""

    findings: Findings
    records: int
    suppressed: int
    plain: NotRequired[PlainEntry]
    manifest: str


class Evaluated(Printed):
    """What a release lost."""

    findings: Findings
    columns: list[ColumnEntry]
    records: int
    plain: NotRequired[PlainEntry]


class Attacked(Printed):
    """What attacks on a release gain, and why others were not made; `holds` with a threshold."""

    attacks: list[AttackEntry]
    not_made: NotRequired[dict[str, str]]
    plot: NotRequired[str]
    threshold: NotRequired[Share]
    holds: NotRequired[bool]


class Verified(Printed):
    """Whether a release keeps what its manifest says: all of it, and each finding."""

    holds: bool
    findings: Findings


class QueryEntry(TypedDict):
    """The query of a model, or why there is none."""

    model: str
    column: str | None
    sql: NotRequired[str]
    reason: NotRequired[str]


class VerifyingQueries(Printed):
    """Queries that verify a release without Shoal (`shoal verify --sql`)."""

    queries: list[QueryEntry]


class VerifyingPage(Printed):
    """The page that checks a release in a browser (`shoal verify --page`)."""

    page: str
    sha256: str


class Queried(Printed):
    """An estimate from a release (`shoal query`); what the form does not allow is null."""

    measure: Literal["count", "sum", "mean"]
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    records: int
    left_out: int
    how: str
    weighted: float | None


class Demonstrated(Printed):
    """The whole job on the sample."""

    holds: bool
    columns: list[ColumnEntry]
    diagnosis: Findings
    verification: Findings
    evaluation: Findings
    release: str
    manifest: str
    picture: NotRequired[str]
    report: NotRequired[str]


class Recovered(Printed):
    """Files that are again as they were before a run that was stopped."""

    files: list[str]


class Sampled(Printed):
    """The sample table as a file (`shoal demo --write-sample`)."""

    sample: str
    records: int


class Keyed(Printed):
    """A public key (`shoal keys`); of a new pair also its files."""

    fingerprint: str
    public: str
    files: NotRequired[list[str]]
