"""Output of `shoal report`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from shoal.cli.schemas.entries import AttackEntry, ColumnEntry, Findings, PlainEntry, Printed, Share


class ReportAbout(TypedDict):
    """What only people know; empty where it was not stated."""

    recipient: str
    purpose: str
    author: str
    day: str


class ReportFile(TypedDict):
    """A file and the hash of its bytes."""

    name: str
    part: str
    rows: int
    sha256: str


class ReportPublished(TypedDict):
    """What was published; people where they are counted."""

    release: str
    form: str
    records: int
    published: int
    suppressed: int
    people: int | None
    identifiers: str
    files: list[ReportFile]
    columns: list[ColumnEntry]


class ReportPromise(TypedDict):
    """A model of the policy, and what it says of itself."""

    name: str
    claim: str
    parameters: dict[str, Any]
    meaning: str
    promises: str
    not_protected: str


class ReportPolicy(TypedDict):
    """What had to hold; `unverified` when it need not."""

    models: list[ReportPromise]
    suppression: Share
    algorithm: dict[str, Any]
    strict: bool
    unverified: bool


class ReportVerification(TypedDict):
    """What `shoal verify` says."""

    holds: bool
    summary: str
    findings: Findings


class ReportThreshold(TypedDict):
    """How many are above a risk."""

    risk: Share
    one_in: int
    above: int
    share: Share
    used_for: str
    chosen: bool


class ReportRisk(TypedDict):
    """The risk that is left, or the reason why there is no figure."""

    counted: NotRequired[Literal["people", "records"]]
    everybody: NotRequired[int]
    highest: NotRequired[Share]
    average: NotRequired[Share]
    thresholds: NotRequired[list[ReportThreshold]]
    holds: NotRequired[bool]
    reason: NotRequired[str]


class ReportAttacks(TypedDict):
    """Attacks, and why others were not made."""

    made: list[AttackEntry]
    not_made: dict[str, str]


class ReportLoss(TypedDict):
    """What `shoal evaluate` says; declared analyses by number."""

    findings: Findings
    analyses: Findings


class ReportLimit(TypedDict):
    """What is not protected, and by what."""

    of: str
    what: str


class ReportTrust(TypedDict):
    """The manifest and its signature."""

    manifest: ReportFile
    signature: dict[str, str]


class ReportRepeat(TypedDict):
    """The job without its secrets, and commands."""

    job: str
    commands: list[str]


class ReportHolder(TypedDict):
    """What only the holder may see."""

    table: dict[str, Any]
    exposure: Findings
    findings: Findings
    attacks: list[AttackEntry]


class Reported(Printed):
    """Everything about a release that a privacy officer signs. Figures that were measured against the original have
    three digits; `holder` is there only when it was asked for, and has them exactly."""

    holds: bool
    sentences: list[str]
    about: ReportAbout
    published: ReportPublished
    policy: ReportPolicy
    verification: ReportVerification
    plain: NotRequired[PlainEntry]
    risk: ReportRisk
    attacks: ReportAttacks
    loss: ReportLoss
    not_protected: list[ReportLimit]
    trust: ReportTrust
    repeat: ReportRepeat
    shoal: str
    holder: NotRequired[ReportHolder]


class CategoryEntry(TypedDict):
    """A published value, its label, and how many records have it."""

    value: str
    label: str
    count: int
    missing: bool


class VariableEntry(TypedDict):
    """A published column, and how it was treated."""

    name: str
    table: str
    label: str
    kind: Literal["numeric", "ranges", "categorical", "text"]
    role: str
    treatment: str
    valid: int
    missing: int
    distinct: int
    categories: list[CategoryEntry]
    statistics: dict[str, float] | None
    missing_codes: list[str]


class Described(Printed):
    """The codebook of a release."""

    title: str
    release: str
    records: int
    form: str
    method: str
    promises: list[str]
    tables: dict[str, int]
    variables: list[VariableEntry]
    left_out: dict[str, str]
    shoal: str
