"""A job: everything that a run needs, each option declared once.

The nouns say what there is; `file` reads and writes them as TOML, `spelling` as a command and as Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import ParameterError
from shoal.job.columns import READING, SINGLE, TABLE, ColumnJob, Roles, plain_role, role_of
from shoal.job.kinds import PluginsKind
from shoal.job.option import option, options

if TYPE_CHECKING:
    from shoal.core.contracts.algorithm import Algorithm
    from shoal.core.contracts.attack import Attack
    from shoal.core.contracts.engine import Engine
    from shoal.core.contracts.metric import Metric
    from shoal.core.contracts.model import Model
    from shoal.core.schema import Role
    from shoal.utility.analyses import Analysis

DEFAULT_ALGORITHM = "auto"
"""What anonymizes where nobody names an algorithm."""

ANONYMIZE = frozenset({"anonymize"})
BALANCE = frozenset({"balance"})
SWEEPS = ANONYMIZE | BALANCE
SEARCHES = SWEEPS | {"compare"}
"""Commands that have the same options: those that make releases."""
OPENING = "read apply detect dependencies open"
"""Python verbs that open a file."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that a run needs. Without a seed one is drawn; one that protects what is published is taken as it is
    only where the run is `repeatable`, as a saved one is. `file` is where the job was read from.

    With `attack`, the release is attacked before it is written, by the `attacks` or by every one that applies, and
    withheld when somebody's risk is above the `attack_threshold`.
    """

    file: Path | None = field(default=None, compare=False)
    input: Path | None = option(
        None, "input.path",
        "The table: CSV or JSON lines (also .gz, .zst), Parquet (also a folder), Arrow IPC, a spreadsheet, or a Stata, "
        "SPSS or SAS file; - reads standard input.",
        READING, flags="", public=True,
    )  # fmt: skip
    missing: tuple[str, ...] = option(
        (), "input.missing", "Cells that mean a missing value, such as NA, separated by commas.", READING,
        verbs=OPENING, logged=False,
    )  # fmt: skip
    delimiter: str | None = option(
        None, "input.delimiter", "Delimiter of the CSV file (default: detected).", READING, verbs=OPENING, public=True
    )
    encoding: str | None = option(
        None, "input.encoding", "Encoding of the CSV file (default: detected).", READING, verbs=OPENING, public=True
    )
    format: str | None = option(
        None, "input.format",
        "File format: csv|parquet|arrow|xlsx|jsonl|arff|dta|sav|sas7bdat|xpt (default: detected).",
        READING, verbs=OPENING, public=True,
    )  # fmt: skip
    sheet: str | None = option(
        None, "input.sheet", "Sheet to read from a workbook with several sheets.", READING, verbs=OPENING
    )
    rename_duplicates: bool = option(
        False, "input.rename_duplicates", "Number columns that have the same name: x, x.1, …", READING, verbs=OPENING,
        public=True,
    )  # fmt: skip
    neutralize_formulas: bool = option(
        False, "input.neutralize_formulas", "Put an apostrophe before texts that a spreadsheet would run as a formula.",
        READING, verbs="read apply", public=True,
    )  # fmt: skip
    engine: Engine | None = option(
        None, "input.engine", "Engine that processes the table, as NAME:key=value,… (default: this process).", READING,
        verbs="read apply detect dependencies", public=True,
    )  # fmt: skip
    hierarchies: Path | None = option(
        None, "input.hierarchies", "Folder with hierarchy files, one <column>.csv per column.", TABLE, verbs="read",
        public=True,
    )  # fmt: skip
    household_variables: tuple[str, ...] = option(
        (), "input.household_variables",
        "Columns that are the same for all members of a household, separated by commas (default: detected).", TABLE,
        verbs="read", public=True,
    )  # fmt: skip
    columns: Mapping[str, ColumnJob] = field(default_factory=dict)
    models: tuple[Model, ...] = option(
        (), "policy.models", "Privacy model, as NAME:key=value,… Repeatable.", SWEEPS | {"diagnose"}, flags="--model"
    )
    algorithm: Algorithm | None = option(
        None, "algorithm", "Algorithm to use, as NAME:key=value,… (default: auto, which tries several).", SWEEPS,
        verbs="anonymize balance",
    )  # fmt: skip
    suppression: float = option(
        0.0, "policy.suppression", "Largest share of the records that may be left out, such as 0.02 (default: 0).",
        SEARCHES, verbs="anonymize balance compare",
    )  # fmt: skip
    objective: Metric | None = option(
        None, "policy.objective", "Loss to minimize: the name of a metric.", SEARCHES,
        verbs="anonymize balance compare",
    )  # fmt: skip
    seed: int | None = option(
        None, "policy.seed", "The same seed gives the same result. Keep it secret (default: random).", SEARCHES,
        verbs="anonymize balance compare", logged=False,
    )  # fmt: skip
    repeatable: bool = option(
        False, "policy.repeatable",
        "Use --seed exactly as given, even where someone who guesses it could undo the release, such as added noise. "
        "Otherwise the seed is mixed with random bits from the operating system.",
        ANONYMIZE, verbs="anonymize",
    )  # fmt: skip
    protect_jointly: bool = option(
        False, "policy.protect_jointly", "Protect each sensitive column even against someone who knows the others.",
        SEARCHES, verbs="read", formerly="strict",
    )  # fmt: skip
    allow_unverified: bool = option(
        False, "policy.allow_unverified",
        "Allow a release that is not checked against the policy, such as kactus:recode=literal.",
        ANONYMIZE, verbs="anonymize",
    )  # fmt: skip
    rows_are_people: bool = option(
        False, "policy.rows_are_people", "Confirm that every row is a different person, even where an identifier "
        "repeats.", SWEEPS | {"diagnose"}, verbs="anonymize balance", public=True,
    )  # fmt: skip
    allow_plain: tuple[str, ...] = option(
        (), "policy.allow_plain",
        "Columns without a role to publish unchanged without a check, separated by commas.",
        SWEEPS, verbs="anonymize balance", public=True,
    )  # fmt: skip
    attack: bool = option(
        False, "attacks", "Attack the release before writing it, and state the results in the manifest.", ANONYMIZE
    )
    attacks: tuple[Attack, ...] = option((), "attacks.chosen", "Attacks to make (default: every one that applies).")
    attack_threshold: float | None = option(
        None, "attacks.threshold", "Attack the release, and write nothing if anybody's risk is above this.", ANONYMIZE
    )
    output: Path | None = option(
        None, "output.path",
        "Where to write the release: a file (.csv, .parquet, .arrow, .xlsx, .sav, .dta, .arff), a folder of Parquet "
        "files (a name without an extension), a database table, or - for CSV on standard output.",
        ANONYMIZE, flags="--output -o",
    )  # fmt: skip
    overwrite: bool = option(
        False, "output.overwrite", "Replace files that exist already (default: ask at a terminal, otherwise refuse).",
        READING - {"evaluate"},
    )  # fmt: skip
    manifest: Path | None = option(
        None, "output.manifest", "Where to write the manifest when the release goes to standard output or a database.",
        ANONYMIZE, verbs="write",
    )  # fmt: skip
    publish_weights: str | None = option(
        None, "output.publish_weights",
        "Publish survey weights as class means, or scaled to the table's total: means|scaled; :10 rounds to tens.",
        ANONYMIZE, verbs="anonymize", public=True,
    )  # fmt: skip
    pseudonyms: Literal["keyed", "random"] | None = option(
        None, "output.pseudonyms",
        "Replace identifiers instead of dropping them; the key comes from --key-file or SHOAL_KEY.",
        ANONYMIZE, public=True,
    )  # fmt: skip
    key_file: Path | None = option(None, "output.key_file", "File with the key for keyed pseudonyms.", ANONYMIZE)
    sign: Path | None = option(
        None, "output.sign",
        "Sign the manifest with this key, made by shoal keys new. Its passphrase is asked for unless SHOAL_PASSPHRASE "
        "is set.",
        ANONYMIZE | {"apply"}, verbs="write",
    )  # fmt: skip
    plot: Path | None = option(
        None, "output.plot", "Draw the lattice of a full-domain search, or else the group sizes: .svg, .png or .html.",
        ANONYMIZE,
    )  # fmt: skip
    recoding: Path | None = option(
        None, "output.recoding",
        "Save how values are recoded, for shoal apply. The file has raw values: do not share it.",
        ANONYMIZE, flags="--save-recoding",
    )  # fmt: skip
    ledger: Path | None = option(
        None, "output.ledger",
        "File that records the releases of this data set; one that breaks earlier promises is refused.",
        ANONYMIZE, verbs="anonymize",
    )  # fmt: skip
    allow_unjudged: tuple[str, ...] = option(
        (), "output.allow_unjudged",
        "What to publish although the ledger cannot judge it, separated by commas: sensitive columns, earlier releases "
        "as release:1, this one as release:this.",
        ANONYMIZE, verbs="anonymize",
    )  # fmt: skip
    rows_per_file: int | None = option(
        None, "output.rows_per_file", "Rows per file when the release is a folder (default: 10 million).", ANONYMIZE,
        verbs="write", least=1,
    )  # fmt: skip
    resume_dir: Path | None = option(
        None, "output.resume_dir",
        "Save progress in this folder until the run ends; after a stop, the same command continues from it. The folder "
        "holds values of the table.",
        ANONYMIZE, verbs="read", formerly="state",
    )  # fmt: skip
    target: str | None = option(
        None, "balance.target", "Column that a classifier should still be able to predict.", BALANCE, verbs="balance"
    )
    sweep: tuple[str, ...] = option(
        (), "balance.sweep",
        "What to vary: k=2..20, l=2..6, t=0.1..0.5..0.1, suppression=0,0.02,0.05 or algorithm=oka,mondrian. Give it "
        "once or twice.",
        BALANCE, repeated=True,
    )  # fmt: skip
    utility: tuple[str, ...] = option(
        (), "balance.utility",
        "How to measure utility, separated by commas, the main one first: decision-stump, c45, naive-bayes, a "
        "scikit-learn classifier such as sklearn.svm.SVC, analyses, or a metric such as gcp (default: the analyses, "
        "else decision-stump).",
        BALANCE, verbs="balance",
    )  # fmt: skip
    privacy: tuple[str, ...] = option(
        (), "balance.privacy",
        "How to measure privacy, separated by commas, the main one first: suppression-share, "
        "suppression-share:missing=suppressed, highest-risk, average-risk, privacy-loss (default: the first).",
        BALANCE, verbs="balance",
    )  # fmt: skip
    privacy_columns: tuple[str, ...] = option(
        (), "balance.privacy_columns",
        "Quasi-identifiers whose cells suppression-share counts, separated by commas (default: all of them).",
        BALANCE, verbs="balance",
    )  # fmt: skip
    seeds: int = option(1, "balance.seeds", "Number of seeds to try; the spread is shown.", BALANCE, verbs="balance")
    analyses: tuple[Analysis, ...] = option(
        (), "analyses",
        "A count, sum, mean or regression that must survive: 'mean(hours) where age >= 40', 'linear(hours ~ age + "
        "sex)'. Repeatable; those in the job file are added.",
        BALANCE | {"evaluate"}, flags="--analysis", verbs="balance", logged=False,
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.attacks or self.attack_threshold is not None:
            object.__setattr__(self, "attack", True)

    def named(self, role: Role) -> list[str]:
        """The columns that have a role."""
        return [name for name, column in self.columns.items() if column.role is role]

    @property
    def roles(self) -> Roles:
        """The columns that have each role; some only one can have."""
        names: dict[str, Any] = {option.name: tuple(self.named(role_of(option.name))) for option in options(Roles)}
        for name, purpose in SINGLE.items():
            columns = names[name]
            if len(columns) > 1:
                raise ParameterError(
                    f"{len(columns)} columns have the role {role_of(name)}; only one column can {purpose}"
                )
            names[name] = next(iter(columns), None)
        return Roles(**names)

    @property
    def person(self) -> str | None:
        """The column that says whose each record is."""
        return self.roles.person

    def with_roles(self, given: Mapping[Role, Any]) -> Job:
        """The job with exactly these columns in the roles that are given, whatever it says of them; a column cannot be
        named twice."""
        plain = plain_role()
        columns = {
            name: replace(column, role=plain) if column.role in given else column
            for name, column in self.columns.items()
        }
        roles: dict[str, Role] = {}
        for role, names in given.items():
            for name in names:
                if name in roles:
                    raise ParameterError(f"column {name!r} is listed twice: as {roles[name]} and as {role}; choose one")
                roles[name] = role
                columns[name] = replace(columns.get(name, ColumnJob()), role=role)
        return replace(self, columns=columns)

    def models_with(self, models: Sequence[Model]) -> tuple[Model, ...]:
        """The job's models, with these in the place of those of the same kind."""
        merged: tuple[Model, ...] = PluginsKind().merge(self.models, models)
        return merged

    def without(self, table: str) -> Job:
        """The job with nothing said in a table of the job file."""
        return replace(self, **{each.name: each.default for each in options(self) if each.place[0] == table})

    def with_columns(self, settings: Mapping[str, Mapping[str, Any]]) -> Job:
        """The job with settings of single columns, by setting and column, in the place of its own."""
        columns = dict(self.columns)
        for setting, values in settings.items():
            for name, value in values.items():
                columns[name] = replace(columns.get(name, ColumnJob()), **{setting: value})
        return replace(self, columns=columns)

    def reads(self) -> list[Path]:
        """Every file that a run reads."""
        from shoal.core.schema import Role
        from shoal.job.plugins import hierarchy_files
        from shoal.storage.files import files_at

        builders = [column.hierarchy for column in self.columns.values() if column.hierarchy is not None]
        paths = [path for made in builders for path in made.parameters().values() if isinstance(path, Path)]
        if self.hierarchies is not None:
            names = [*self.named(Role.QUASI), *self.named(Role.SENSITIVE)]
            paths += [path for name in names for path in hierarchy_files(self.hierarchies, name)]
        tables = [] if self.input is None else files_at(self.input)
        ledger = [] if self.ledger is None else [self.ledger, self.ledger.with_name(self.ledger.name + ".key")]
        return [*paths, *tables, *ledger, *(path for path in (self.file, self.key_file, self.sign) if path is not None)]
