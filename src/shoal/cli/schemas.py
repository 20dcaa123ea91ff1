"""What commands print with `--json`, as types: a schema is made of each.

Keys may be added at any time; what stands here stays as it is until the version changes.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from shoal.cli.output import VERSION

Share = float
Number = int | float | str | None
"""Numbers that JSON lacks (infinity) are written as text."""


class FindingEntry(TypedDict):
    """One measured fact; without a value, the reason."""

    value: Number
    bound: Number
    holds: bool | None
    unit: NotRequired[str]
    reason: NotRequired[str]
    detail: NotRequired[dict[str, Any]]
    baselines: NotRequired[dict[str, Number]]


class ColumnEntry(TypedDict):
    """What is published of a column; shares are of its cells."""

    name: str
    role: str
    shape: Literal["raw", "levels", "intervals", "means", "changed", "grouped", "pseudonyms", "dropped", "unknown"]
    words: str
    lost: NotRequired[Share]
    exact: NotRequired[Share]
    hidden: NotRequired[Share]
    lowest: NotRequired[int]
    highest: NotRequired[int]
    height: NotRequired[int]


class AttackEntry(TypedDict):
    """How often an attack succeeds, and for the most exposed person."""

    name: str
    success: Share
    baseline: Share
    worst: Share
    above: Share
    threshold: Share
    knew: str
    meaning: str
    lower_bound: bool
    gains: bool
    random: NotRequired[Share]
    control: NotRequired[Share]
    interval: NotRequired[list[Share]]
    detail: NotRequired[dict[str, Any]]


class Printed(TypedDict):
    """What every command prints."""

    command: str
    version: Literal[1]
    summary: str


Findings = dict[str, FindingEntry]
Sets = list[list[str]]


class Anonymized(Printed):
    """A release; whatever else the algorithm tells about its search stands beside."""

    findings: Findings
    columns: list[ColumnEntry]
    records: int
    classes: NotRequired[int]
    suppressed: int
    seed: int
    notes: list[str]
    manifest: NotRequired[str]
    attacks: NotRequired[list[AttackEntry]]
    seconds: float


class Applied(Printed):
    """New records, recoded as those of a release were."""

    findings: Findings
    records: int
    suppressed: int
    manifest: str


class Evaluated(Printed):
    """What a release lost."""

    findings: Findings
    columns: list[ColumnEntry]
    records: int


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
    risk: ReportRisk
    attacks: ReportAttacks
    loss: ReportLoss
    not_protected: list[ReportLimit]
    trust: ReportTrust
    repeat: ReportRepeat
    shoal: str
    holder: NotRequired[ReportHolder]


class QueryEntry(TypedDict):
    """The query of a model, or why there is none."""

    model: str
    column: str | None
    sql: NotRequired[str]
    reason: NotRequired[str]


class VerifyingQueries(Printed):
    """Queries that verify a release without Shoal (`shoal verify --sql`)."""

    queries: list[QueryEntry]


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


class Hierarchical(Printed):
    """A hierarchy's height and how many values it has at each level."""

    findings: Findings


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


class Comparing(Printed):
    """Algorithms, models and k beside one another: one entry a combination, with its figures or the reason."""

    records: int
    rows: list[dict[str, Any]]
    seed: int


class SpreadEntry(TypedDict):
    """A share over the seeds."""

    mean: Share
    least: Share
    greatest: Share


class PointEntry(TypedDict):
    """A setting of a sweep; what was swept (k, l, t, suppression, algorithm) stands beside. `reason` says why there is
    no release, or no figure."""

    k: NotRequired[int]
    l: NotRequired[int | float]  # noqa: E741
    t: NotRequired[float]
    suppression: NotRequired[Share]
    algorithm: NotRequired[str]
    utility: Share | None
    privacy: Share | None
    measures: dict[str, SpreadEntry | None]
    baseline: Share | None
    classes: list[int | None]
    suppressed: list[int | None]
    seconds: float
    reason: str | None


class FrontEntry(TypedDict):
    """The settings that no other one beats in utility without losing privacy, or the other way round."""

    utility: str
    privacy: str
    points: list[dict[str, Any]]


class Balanced(Printed):
    """Where privacy and utility balance (`shoal balance`): `balance` has the swept parameter and the `value` of both,
    and is null where the curves do not meet; `closest` then says where they come closest."""

    points: list[PointEntry]
    balance: dict[str, Any] | None
    crossings: list[dict[str, Any]]
    closest: list[dict[str, Any]]
    fronts: list[FrontEntry]
    recommended: dict[str, Any] | None
    advice: list[str]
    records: int
    target: str | None
    seeds: int
    seed: int
    definitions: dict[str, str]
    original: Share | None
    figures: NotRequired[str]
    plot: NotRequired[str]
    plane: NotRequired[str]


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


class Overlapping(Printed):
    """What a step of `shoal overlap` told; sizes of lists, and at the end of the overlap. A blurred size is off by more
    than `margin` in 1 of 20 sessions."""

    own: NotRequired[int]
    other: NotRequired[int]
    size: NotRequired[int | None]
    margin: NotRequired[int]
    fewer_than: NotRequired[int | None]


class Keyed(Printed):
    """A public key (`shoal keys`); of a new pair also its files."""

    fingerprint: str
    public: str
    files: NotRequired[list[str]]


class LedgerRelease(TypedDict):
    """One release of a ledger."""

    number: int
    made: str
    name: str
    form: str
    models: list[str]
    records: int
    published: int


class Listed(Printed):
    """The releases of a ledger, and its sessions of `shoal overlap`."""

    releases: list[LedgerRelease]
    sessions: list[dict[str, Any]]


class BreachEntry(TypedDict):
    """An attack that succeeds with several releases: how many people are exposed, among how many, the share of them,
    the worst risk, what was promised, the earlier releases that it takes, and, where it is about values, the sensitive
    attribute and the fewest values that somebody has left."""

    attack: str
    attribute: str
    people: int
    among: int
    left: int | None
    exposed: Share
    worst: Share
    bound: Share
    earlier: list[str]


class JudgedRelease(TypedDict):
    """What a release breaks together with those before it, and what could not be judged."""

    number: int
    name: str
    holds: bool
    breaches: list[BreachEntry]
    not_judged: list[str]


class Judged(Printed):
    """Whether a ledger is whole, and its releases keep together what they promise."""

    holds: bool
    whole: bool
    releases: list[JudgedRelease]


class Exported(Printed):
    """A ledger as a JSON file: how many releases it has, and where it was written."""

    releases: int
    file: str


class Failed(TypedDict):
    """Whatever a command prints when it fails; where no release satisfies a policy, the closest attempt."""

    error: str
    command: str
    version: Literal[1]
    attempt: NotRequired[dict[str, Any]]


OUTPUTS: dict[str, Any] = {
    "anonymize": Anonymized, "apply": Applied, "attack": Attacked, "balance": Balanced, "compare": Comparing,
    "demo": Demonstrated, "dependencies": Dependent, "detect": Detected, "diagnose": Diagnosed, "error": Failed,
    "evaluate": Evaluated, "hierarchy": Hierarchical, "keys": Keyed, "ledger-check": Judged,
    "ledger-export": Exported, "ledger-list": Listed, "overlap": Overlapping, "query": Queried, "recover": Recovered,
    "report": Reported, "sample": Sampled, "verify": Verified, "verify-sql": VerifyingQueries,
}  # fmt: skip
"""By the `command` that the output names."""


def schema(command: str) -> dict[str, Any]:
    """The JSON schema of what a command prints."""
    made = TypeAdapter(OUTPUTS[command]).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"shoal/{command}/{VERSION}",
        "title": f"shoal {command}",
        **{key: value for key, value in made.items() if key != "title"},
    }
