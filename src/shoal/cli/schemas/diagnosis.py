"""Output of `shoal diagnose` and `shoal hierarchy`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from shoal.cli.schemas.entries import Findings, Number, Printed, Sets, Share


class Diagnosed(Printed):
    """How exposed people are, and the answer to a question, where one was answered."""

    findings: Findings
    records: int
    question: NotRequired[int]
    words: NotRequired[str]
    notion: NotRequired[str]
    attributes: NotRequired[list[str]]
    bound: NotRequired[Number]
    delta: NotRequired[Number]
    answer: NotRequired[Any]
    calls: NotRequired[int]
    scans: NotRequired[int]
    calls_levelwise: NotRequired[int | None]
    calls_brute: NotRequired[int]
    proven: NotRequired[bool]
    monotone: NotRequired[bool]
    positive_border: NotRequired[Sets]
    negative_border: NotRequired[Sets]
    known_bad: NotRequired[Sets]
    undecided: NotRequired[Sets]
    sensitive: NotRequired[str]
    plot: NotRequired[str]
    sql: NotRequired[str]


class SuggestionEntry(TypedDict):
    """A role for a column, and why."""

    column: str
    role: str
    reasons: list[str]
    kind: str | None
    distinct: int
    contribution: Share | None


class Detected(Printed):
    """Suggested roles (`shoal diagnose --detect`)."""

    records: int
    columns: list[SuggestionEntry]
    share: Share
    singling_out: Sets
    unique_share: Share
    proven: bool
    person: str | None
    people: int | None
    household: str | None


class DependencyEntry(TypedDict):
    """Columns that determine another one."""

    determinant: list[str]
    dependent: str
    violations: int
    g3: Share
    key: bool
    label: Literal["safe", "unsafe"] | None


class ConditionalEntry(TypedDict):
    """A dependency that holds for single values of a column."""

    condition: str
    determinant: list[str]
    dependent: str
    values: int
    support: int
    label: Literal["safe", "unsafe"] | None


class Dependent(Printed):
    """Functional dependencies (`shoal diagnose --dependencies`)."""

    records: int
    columns: list[str]
    tolerance: Share
    found: list[DependencyEntry]
    conditional: list[ConditionalEntry]
    complete: int
    proven: bool
    skipped: dict[str, str]
    hint: str


class SpecialUniques(Printed):
    """Minimal sample uniques and their scores (`shoal diagnose --suda`)."""

    records: int
    columns: list[str]
    largest: int
    convention: Literal["original", "ihsn"]
    fraction: Share
    exposed: int
    uniques: dict[str, int]
    highest_score: float
    highest_risk: Share
    contributions: dict[str, Share]
    bands: dict[str, int]
    plot: NotRequired[str]


class Hierarchical(Printed):
    """A hierarchy's height and how many values it has at each level."""

    findings: Findings


class ScanEntry(TypedDict):
    """What a file would give away: its columns that name people, those that outsiders may know, and how many of the
    people share these with fewer than k - 1 others."""

    file: str
    verdict: Literal["exposed", "safe", "release", "not people"]
    k: int
    people: int
    below: int
    identifiers: list[str]
    quasi: list[str]


class Scanned(Printed):
    """Files that were looked through (`shoal scan`)."""

    holds: bool
    files: list[ScanEntry]
