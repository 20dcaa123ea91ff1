"""The job file and every other piece of configuration text: the only parser of it.

A job is everything that a run needs, in one TOML file: input, columns, policy, algorithm, output.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, ValidationError

from shoal import registry
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.attack import Attack
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.formatting import printable
from shoal.core.parameters import example, parameters
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.run import Run
from shoal.core.schema import Kind, Missing, Role
from shoal.core.validation import demand
from shoal.errors import InputError, MissingExtraError, ParameterError, ShoalError, alternatives, quoted
from shoal.parsing import dates, numbers
from shoal.storage.files import STANDARD, address, files_at

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset
    from shoal.diagnosis.detection import Detection
    from shoal.outcome import Outcome
    from shoal.publishing.signing import SigningKey
    from shoal.tradeoff.balance import Balance
    from shoal.utility.analyses import Analysis

Spec = tuple[str, dict[str, Any]]

DEFAULT_ALGORITHM = "auto"
"""What anonymizes where nobody names an algorithm."""
SUGGESTED_K = 5
"""Of a job that is suggested: who looks at it decides."""

ENDINGS = (".json", ".toml", ".csv")
"""Of the files in a folder with hierarchies; of several for one column the last one is taken."""


def parse_spec(text: str) -> Spec:
    """A plug-in's name and parameters from `name:key=value,key=value`; a list's entries are joined by `|`.

    Example:
        >>> parse_spec("t-closeness:t=0.2,distance=hierarchical")
        ('t-closeness', {'t': '0.2', 'distance': 'hierarchical'})
    """
    name, _, rest = text.partition(":")
    values: dict[str, Any] = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ParameterError(f"{name}: parameters are written key=value, separated by commas")
        values[key.strip()] = value.strip().split("|") if "|" in value else value.strip()
    return name.strip(), values


def plugin(family: str, spec: str | Mapping[str, Any] | object) -> Any:
    """A plug-in from its spelling, from a job file's table, or as it is."""
    if isinstance(spec, registry.CONTRACTS[family]):
        return spec
    if isinstance(spec, str):
        name, values = parse_spec(spec)
    elif isinstance(spec, Mapping):
        values = dict(spec)
        name = str(values.pop("name", ""))
    else:
        if isinstance(spec, type) and issubclass(spec, registry.CONTRACTS[family]):
            raise ParameterError(f"{spec.__name__} is a class; make an instance of it, as in {example(spec)}")
        raise ParameterError(f"{type(spec).__name__} is not one of the {family}; give one, or its name as text")
    found = registry.find(family, name)
    lists = {entry.name for entry in fields(found) if "tuple[" in str(entry.type)}
    values = {key: [value] if key in lists and isinstance(value, str) else value for key, value in values.items()}
    for entry in fields(found):
        if "Algorithm" in str(entry.type) and isinstance(values.get(entry.name), (str, Mapping)):
            values[entry.name] = _inner(values[entry.name])
    return registry.make(family, name, values)


def _inner(spec: str | Mapping[str, Any]) -> Algorithm:
    """The algorithm that another one is told to use; in text its parameters are separated by semicolons."""
    made: Algorithm = plugin("algorithms", spec.replace(";", ",") if isinstance(spec, str) else spec)
    return made


def spelled(chosen: object) -> dict[str, Any]:
    """A plug-in as a job file or a manifest holds it: its name and its parameters."""
    parameters = chosen.parameters()  # type: ignore[attr-defined]
    plain = {
        key: spelled(value) if isinstance(value, Algorithm) else _spelled_value(value)
        for key, value in parameters.items()
        if value is not None
    }
    return {"name": registry.name_of(chosen), **plain}


def _spelled_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_spelled_value(entry) for entry in value]
    return str(value) if isinstance(value, Path) else value


def written(chosen: object) -> str:
    """A plug-in as the command line takes it, without the parameters that are as they always are.

    Example:
        >>> written(plugin("algorithms", "k-member:refine=true,publish=age=mean|size=interval"))
        'k-member:publish=age=mean|size=interval,refine=true'
    """
    usual = {entry.name: entry.default for entry in parameters(type(chosen))}
    given = chosen.parameters().items()  # type: ignore[attr-defined]
    pairs = [f"{key}={_text(value)}" for key, value in given if value != usual[key]]
    return ":".join(filter(None, (registry.name_of(chosen), ",".join(pairs))))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = tuple(f"{key}:{entry}" for key, entry in value.items())
    if isinstance(value, tuple):
        return "|".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def member(options: type[StrEnum], text: str, what: str) -> Any:
    """A member of an enumeration by its name."""
    try:
        return options(text)
    except ValueError:
        there = alternatives(str(text), [option.value for option in options])
        raise ParameterError(f"unknown {what}; {there}") from None


def builder(spec: str | Path | Mapping[str, Any] | Builder) -> Builder:
    """A hierarchy builder from a file's path, a builder's spelling or a job file's table."""
    if isinstance(spec, Path) or (isinstance(spec, str) and parse_spec(spec)[0] not in registry.names("hierarchies")):
        path = Path(spec)
        spec = {"name": "tree" if path.suffix in (".toml", ".json") else "table", "path": path}
    made: Builder = plugin("hierarchies", spec)
    return made


def hierarchy_files(folder: Path, column: str) -> list[Path]:
    """Where the hierarchy of a column may lie in a folder with hierarchies. A column whose name would lead out of the
    folder has none there: a table, or a manifest, may call its columns whatever it likes.

    Example:
        >>> [path.name for path in hierarchy_files(Path("hierarchies"), "age")]
        ['age.json', 'age.toml', 'age.csv']
        >>> hierarchy_files(Path("hierarchies"), "../age")
        []
    """
    return [folder / f"{column}{ending}" for ending in ENDINGS if Path(f"{column}{ending}").name == f"{column}{ending}"]


def engine(spec: str | Mapping[str, Any] | Engine | None, source: Any = None) -> Engine:
    """An engine from its spelling; when none is named, the one that takes the source by itself, or the default."""
    made: Engine = registry.engine_for(source) if spec is None else plugin("engines", spec)
    return made


def check_policy(policy: Policy, method: Algorithm, *, allow_unverified: bool = False) -> None:
    """Refuses a policy without a model, unless the method claims none, a method that need not keep it, and one whose
    packages are lacking."""
    if method.unverified and not allow_unverified:
        raise ParameterError(
            f"with these parameters, {registry.name_of(method)} makes a release that is not checked against the "
            "policy; allow it with allow_unverified (--allow-unverified), and the manifest will claim no model"
        )
    for package, extra in method.extras.items():
        if find_spec(package) is None:
            raise MissingExtraError(registry.name_of(method), extra)
    if method.claims and not policy.models:
        raise ParameterError("a policy needs at least one privacy model, such as k-anonymity with k=5")
    if policy.models and not method.claims:
        raise ParameterError(
            f"{registry.name_of(method)} cannot promise a model with these parameters; leave the models out"
        )


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class _Input(_Strict):
    path: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    format: str | None = None
    sheet: str | None = None
    rename_duplicates: StrictBool = False
    missing: list[str] = []
    hierarchies: str | None = None
    neutralize_formulas: StrictBool = False
    engine: dict[str, Any] | str | None = None


class _Column(_Strict):
    role: Role = Role.PLAIN
    kind: Kind | None = None
    date_format: str | None = None
    number_format: str | None = None
    hierarchy: str | dict[str, Any] | None = None
    missing: Missing = Missing.VALUE


class _Policy(_Strict):
    models: list[dict[str, Any] | str] = []
    suppression: StrictFloat | StrictInt = 0.0
    objective: dict[str, Any] | str | None = None
    seed: StrictInt | None = None
    repeatable: StrictBool = False
    allow_unverified: StrictBool = False
    protect_jointly: StrictBool = False
    rows_are_people: StrictBool = False
    allow_plain: list[str] = []


class _Output(_Strict):
    path: str | None = None
    manifest: str | None = None
    recoding: str | None = None
    ledger: str | None = None
    allow_unjudged: list[str] = []
    plot: str | None = None
    pseudonyms: Literal["keyed", "random"] | None = None
    key_file: str | None = None
    sign: str | None = None
    rows_per_file: Annotated[StrictInt, Field(ge=1)] | None = None
    resume_dir: str | None = None


class _Analysis(_Strict):
    analysis: str
    name: str | None = None
    error: StrictFloat | StrictInt | None = None
    overlap: StrictFloat | StrictInt | None = None


class _Balance(_Strict):
    target: str | None = None
    sweep: list[str] = []
    utility: list[str] = []
    privacy: list[str] = []
    seeds: StrictInt = 1


class _Attacks(_Strict):
    chosen: list[dict[str, Any] | str] = []
    threshold: StrictFloat | StrictInt | None = None


class _File(_Strict):
    input: _Input = Field(default_factory=_Input)
    columns: dict[str, _Column] = {}
    policy: _Policy = Field(default_factory=_Policy)
    algorithm: dict[str, Any] | str = DEFAULT_ALGORITHM
    output: _Output = Field(default_factory=_Output)
    analyses: list[_Analysis] = []
    balance: _Balance = Field(default_factory=_Balance)
    attacks: _Attacks | None = None


SECTIONS: Mapping[str, type[BaseModel]] = {
    "input": _Input, "columns": _Column, "policy": _Policy, "output": _Output, "analyses": _Analysis,
    "balance": _Balance, "attacks": _Attacks,
}  # fmt: skip
RENAMED = {("policy", "strict"): "protect_jointly", ("output", "state"): "resume_dir"}
"""What keys were called before, and are called now."""


@dataclass(frozen=True, kw_only=True)
class ColumnJob:
    """What a job says of one column."""

    role: Role = Role.PLAIN
    kind: Kind | None = None
    date_format: str | None = None
    number_format: str | None = None
    hierarchy: Builder | None = None
    missing: Missing = Missing.VALUE


@dataclass(frozen=True, kw_only=True)
class BalanceJob:
    """What a job says of the balance of privacy and utility; what it leaves out is as `shoal.balance` has it."""

    target: str | None = None
    sweep: tuple[str, ...] = ()
    utility: tuple[str, ...] = ()
    privacy: tuple[str, ...] = ()
    seeds: int = 1


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that a run needs. Without a seed one is drawn; one that protects what is published is taken as it is
    only where the run is `repeatable`, as a saved one is. `file` is where the job was read from.

    With `attack`, the release is attacked before it is written, by the `attacks` or by every one that applies, and
    withheld when somebody's risk is above the `attack_threshold`.
    """

    file: Path | None = field(default=None, compare=False)
    input: Path | None = None
    delimiter: str | None = None
    encoding: str | None = None
    format: str | None = None
    sheet: str | None = None
    rename_duplicates: bool = False
    missing: tuple[str, ...] = ()
    hierarchies: Path | None = None
    neutralize_formulas: bool = False
    engine: Engine | None = None
    columns: Mapping[str, ColumnJob] = field(default_factory=dict)
    models: tuple[Model, ...] = ()
    suppression: float = 0.0
    objective: Metric | None = None
    seed: int | None = None
    repeatable: bool = False
    allow_unverified: bool = False
    protect_jointly: bool = False
    rows_are_people: bool = False
    allow_plain: tuple[str, ...] = ()
    algorithm: Algorithm | None = None
    output: Path | None = None
    manifest: Path | None = None
    recoding: Path | None = None
    ledger: Path | None = None
    allow_unjudged: tuple[str, ...] = ()
    plot: Path | None = None
    pseudonyms: Literal["keyed", "random"] | None = None
    key_file: Path | None = None
    analyses: tuple[Analysis, ...] = ()
    sign: Path | None = None
    rows_per_file: int | None = None
    resume_dir: Path | None = None
    balance: BalanceJob = field(default_factory=BalanceJob)
    attack: bool = False
    attacks: tuple[Attack, ...] = ()
    attack_threshold: float | None = None

    def named(self, role: Role) -> list[str]:
        """The columns that have a role."""
        return [name for name, column in self.columns.items() if column.role is role]

    @property
    def person(self) -> str | None:
        """The column that says whose each record is."""
        named = self.named(Role.ENTITY)
        if len(named) > 1:
            raise ParameterError(
                f"{len(named)} columns have the role entity; only one column can identify the person of a record"
            )
        return next(iter(named), None)

    def models_with(self, models: list[Model]) -> tuple[Model, ...]:
        """The job's models, with these in the place of those of the same kind."""
        given = {type(model) for model in models}
        return (*(model for model in self.models if type(model) not in given), *models)

    def with_roles(self, given: Mapping[Role, Sequence[str]]) -> Job:
        """The job with exactly these columns in the roles that are given, whatever it says of them; a column cannot be
        named twice."""
        columns = {
            name: replace(column, role=Role.PLAIN) if column.role in given else column
            for name, column in self.columns.items()
        }
        chosen: dict[str, Role] = {}
        for role, names in given.items():
            for name in names:
                if name in chosen:
                    raise ParameterError(
                        f"column {name!r} is listed twice: as {chosen[name]} and as {role}; choose one"
                    )
                chosen[name] = role
                columns[name] = replace(columns.get(name, ColumnJob()), role=role)
        return replace(self, columns=columns)

    def suggested(self, found: Detection, file: Path) -> Job:
        """The job with the roles that a detection suggests and k-anonymity, to be saved as a file and looked at; the
        release goes beside that file unless the job says where. An identifier that repeats says whose each record is.
        """
        columns = dict(self.columns)
        for name, role in found.job_roles().items():
            columns[name] = replace(columns.get(name, ColumnJob()), role=role)
        models = self.models or (plugin("models", {"name": "k-anonymity", "k": SUGGESTED_K}),)
        return replace(self, columns=columns, models=models, output=self.output or self._release_beside(file))

    def _release_beside(self, file: Path) -> Path:
        source = self.input or file
        place = file.with_name(f"{source.name.split('.')[0]}-release{''.join(source.suffixes) or '.csv'}")
        try:
            (self.engine or registry.engine()).check_format(place)
        except ShoalError:  # it can be read and not be written
            return place.with_name(f"{source.name.split('.')[0]}-release.csv")
        return place

    def reads(self) -> list[Path]:
        """Every file that a run reads."""
        builders = [column.hierarchy for column in self.columns.values() if column.hierarchy is not None]
        paths = [path for made in builders for path in made.parameters().values() if isinstance(path, Path)]
        if self.hierarchies is not None:
            names = [*self.named(Role.QUASI), *self.named(Role.SENSITIVE)]
            paths += [path for name in names for path in hierarchy_files(self.hierarchies, name)]
        tables = [] if self.input is None else files_at(self.input)
        ledger = [] if self.ledger is None else [self.ledger, self.ledger.with_name(self.ledger.name + ".key")]
        return [*paths, *tables, *ledger, *(path for path in (self.file, self.key_file, self.sign) if path is not None)]

    def reading(self) -> dict[str, Any]:
        """How the file of the table is read."""
        return {
            "delimiter": self.delimiter, "encoding": self.encoding, "missing": self.missing, "format": self.format,
            "sheet": self.sheet, "rename_duplicates": self.rename_duplicates,
        }  # fmt: skip

    def read(self, run: Run | None = None, *, resume_dir: Path | None = None) -> Dataset:
        """The table of the job; what reading it found is kept in `resume_dir`, where one is given."""
        from shoal import api

        if self.input is None:
            raise InputError("name the table to read, or give a job file that names it")
        return api.read(
            self.input,
            quasi=self.named(Role.QUASI),
            sensitive=self.named(Role.SENSITIVE),
            identifiers=self.named(Role.IDENTIFIER),
            person=self.person,
            hierarchies=self.hierarchies,
            column_hierarchies={name: column.hierarchy for name, column in self.columns.items() if column.hierarchy},
            kinds={name: column.kind for name, column in self.columns.items() if column.kind},
            date_formats={name: column.date_format for name, column in self.columns.items() if column.date_format},
            number_formats={name: each.number_format for name, each in self.columns.items() if each.number_format},
            missing_rules={name: column.missing for name, column in self.columns.items()},
            protect_jointly=self.protect_jointly,
            **self.reading(),
            neutralize_formulas=self.neutralize_formulas,
            engine=self.engine,
            resume_dir=resume_dir,
            run=run,
        )

    def replacement(self) -> Pseudonyms | None:
        """What identifiers are replaced by; a key comes from a file or the environment, never from the job itself."""
        if self.pseudonyms is None:
            return None
        if self.pseudonyms == "random":
            return Pseudonyms()
        if self.key_file is not None:
            try:
                return Pseudonyms(key=self.key_file.read_bytes().strip())
            except OSError:
                raise InputError("the file with the pseudonym key cannot be read") from None
        if "SHOAL_KEY" in os.environ:
            return Pseudonyms(key=os.environb[b"SHOAL_KEY"].strip())
        raise ParameterError("keyed pseudonyms need a key: give --key-file, or set SHOAL_KEY in the environment")

    def run(self, run: Run | None = None, *, save: Path | None = None, signer: SigningKey | None = None) -> Outcome:
        """Reads the table, anonymizes and measures it, and writes every file of the job together at the very end.

        `save` is where the job itself is written, with the seed that was drawn or mixed. The `signer` is the key in
        the file that the job says to `sign` with, where somebody unlocked it already. Whatever goes wrong, also a
        cancelled run, changes no file but those in the job's `resume_dir`, from which the same job goes on.

        Example:
            >>> import shoal, tempfile
            >>> folder = Path(tempfile.mkdtemp())
            >>> shoal.samples.adult().write_csv(folder / "adult.csv")
            >>> job = parse(
            ...     {
            ...         "input": {"path": "adult.csv"},
            ...         "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
            ...         "policy": {"models": ["k-anonymity:k=5"]},
            ...         "output": {"path": "release.csv"},
            ...     },
            ...     folder,
            ... )
            >>> outcome = job.run()
            >>> outcome.findings["k"].holds, [path.name for path in outcome.files]
            (True, ['release.csv', 'release.csv.manifest.json'])
        """
        from shoal.outcome import carry_out

        return carry_out(self, run or Run(), save, signer)

    def balanced(
        self, run: Run | None = None, *, resume_file: Path | None = None, workers: int | None = None
    ) -> Balance:
        """Reads the table and finds where its privacy and utility balance, along the job's sweep."""
        from shoal import api
        from shoal.tradeoff.sweep import parsed

        asked, swept = self.balance, dict[str, list[Any]]()
        for text in asked.sweep:
            name, values = parsed(text)
            swept.setdefault(name, []).extend(values)
        if not swept and not self.analyses:
            raise ParameterError("name what to vary, as in --sweep k=2..20, or as sweep in [balance] of the job file")
        definitions = {"utility": asked.utility, "privacy": asked.privacy}
        given: dict[str, Any] = {
            "suppression": self.suppression, "algorithm": self.algorithm or DEFAULT_ALGORITHM, **swept,
            **{name: chosen for name, chosen in definitions.items() if chosen},
        }  # fmt: skip
        return api.balance(
            self.read(), *self.models, target=asked.target, analyses=self.analyses, seeds=asked.seeds, seed=self.seed,
            objective=self.objective, rows_are_people=self.rows_are_people, allow_plain=self.allow_plain,
            workers=workers, resume_file=resume_file, run=run, **given,
        )  # fmt: skip

    def toml(self, folder: Path | None = None, remarks: Iterable[str] = ()) -> str:
        """The job as a file that lies in a folder; reading it there gives the same job.

        Paths are written relative to the folder, so that job and data can move together; without one, as they are.
        Remarks stand above it, a line each.
        """
        import tomli_w

        lines = [f"# {printable(remark)}".rstrip() + "\n" for remark in remarks]
        return "".join(lines) + tomli_w.dumps(_without_nothing(self._tables(folder)))

    def _tables(self, folder: Path | None) -> dict[str, Any]:
        def _text(path: Path | None) -> str | None:
            if path is None or folder is None or str(path) == STANDARD:
                return None if path is None else str(path)
            if address(path) is not None:
                return address(path)
            return os.path.relpath(path, folder)

        def _hierarchy(made: Builder) -> dict[str, Any]:
            table = spelled(made)
            return {**table, "path": _text(Path(table["path"]))} if "path" in table else table

        columns = {
            name: {
                "role": str(column.role),
                "kind": str(column.kind) if column.kind else None,
                "date_format": column.date_format,
                "number_format": column.number_format,
                "hierarchy": _hierarchy(column.hierarchy) if column.hierarchy else None,
                "missing": str(column.missing) if column.missing is not Missing.VALUE else None,
            }
            for name, column in self.columns.items()
        }
        return {
            "input": {
                "path": _text(self.input), "delimiter": self.delimiter, "encoding": self.encoding,
                "format": self.format, "sheet": self.sheet, "rename_duplicates": self.rename_duplicates or None,
                "missing": list(self.missing) or None, "hierarchies": _text(self.hierarchies),
                "neutralize_formulas": self.neutralize_formulas or None,
                "engine": spelled(self.engine) if self.engine else None,
            },
            "columns": columns,
            "policy": {
                "suppression": self.suppression, "seed": self.seed, "repeatable": self.repeatable or None,
                "protect_jointly": self.protect_jointly or None,
                "allow_unverified": self.allow_unverified or None,
                "rows_are_people": self.rows_are_people or None,
                "objective": spelled(self.objective) if self.objective else None,
                "allow_plain": list(self.allow_plain) or None,
                "models": [spelled(model) for model in self.models],
            },
            "algorithm": spelled(self.algorithm) if self.algorithm else None,
            "output": {
                "path": _text(self.output), "manifest": _text(self.manifest), "plot": _text(self.plot),
                "recoding": _text(self.recoding), "ledger": _text(self.ledger),
                "allow_unjudged": list(self.allow_unjudged) or None,
                "pseudonyms": self.pseudonyms, "key_file": _text(self.key_file), "sign": _text(self.sign),
                "rows_per_file": self.rows_per_file, "resume_dir": _text(self.resume_dir),
            },
            "analyses": [analysis.spelled() for analysis in self.analyses] or None,
            "balance": None if self.balance == BalanceJob() else {
                "target": self.balance.target, "sweep": list(self.balance.sweep),
                "utility": list(self.balance.utility), "privacy": list(self.balance.privacy),
                "seeds": self.balance.seeds,
            },
            "attacks": {
                "chosen": [spelled(attack) for attack in self.attacks] or None, "threshold": self.attack_threshold,
            } if self.attack else None,
        }  # fmt: skip


def _refusal(errors: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with a job file: the key, and what it may have meant or must be."""
    path = _key(errors[0]["loc"])
    place = quoted(".".join(map(str, path)))[1:-1]
    if errors[0]["type"] != "extra_forbidden":
        alike = [each for each in errors if _key(each["loc"]) == path]
        entry = "an entry of " if isinstance(next(iter(alike[0]["loc"][len(path) :]), None), int) else ""
        return f"{entry}{place} {demand(alike)}"
    *section, key = path
    if path in RENAMED:
        return f"{place} is called {'.'.join([*section, RENAMED[path]])} now"
    known = (SECTIONS[section[0]] if section else _File).model_fields
    return f"unknown key {place}; {alternatives(key, known, 'the keys are')}"


def _key(place: Sequence[str | int]) -> tuple[str, ...]:
    """The names of tables and the key where validation failed, without the kinds of a key that may have several."""
    depth = {"algorithm": 1, "columns": 3, "analyses": 3}.get(str(place[0]), 2)
    return tuple(str(part + 1) if isinstance(part, int) else part for part in place[:depth])


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nothing(entry) for key, entry in value.items() if entry is not None}
    return value


def load(path: Path) -> Job:
    """A job from its file; paths in it are relative to the file.

    Another file that is taken for a job may hold values of a table: of one that is no job nothing is shown.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{path.name}: the job file cannot be read") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: this is not a TOML file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        raise InputError(
            f"{path.name}: this is not a TOML file: there is an error at {place[1] if place else 'some line'}"
        ) from None
    except RecursionError:
        raise InputError(f"{path.name}: this is not a job file: it is nested too deeply") from None
    return replace(parse(raw, path.parent, path.name), file=path)


def parse(raw: Mapping[str, Any], folder: Path, where: str = "the job") -> Job:
    """A job from the tables of a job file."""
    from shoal.utility.analyses import Analysis

    if raw and not any(key in _File.model_fields for key in raw):  # the names in another file are nobody's business
        raise InputError(f"{where}: this is not a job file; a job file has {', '.join(_File.model_fields)}")
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{where}: {_refusal(error.errors())}") from None

    def resolved(text: str | None) -> Path | None:
        if text is None:
            return None
        return Path(text) if text == STANDARD or address(text) is not None else folder / text

    columns = {}
    for name, column in file.columns.items():
        spec: Any = column.hierarchy
        if isinstance(spec, dict) and isinstance(spec.get("path"), str):
            spec = {**spec, "path": folder / spec["path"]}
        elif isinstance(spec, str) and parse_spec(spec)[0] not in registry.names("hierarchies"):
            spec = folder / spec
        columns[name] = ColumnJob(
            role=column.role,
            kind=column.kind,
            date_format=None if column.date_format is None else dates.checked(column.date_format),
            number_format=None if column.number_format is None else numbers.checked(column.number_format),
            hierarchy=None if spec is None else builder(spec),
            missing=column.missing,
        )
    return Job(
        input=resolved(file.input.path), delimiter=file.input.delimiter, encoding=file.input.encoding,
        missing=tuple(file.input.missing), hierarchies=resolved(file.input.hierarchies), columns=columns,
        format=file.input.format, sheet=file.input.sheet, rename_duplicates=file.input.rename_duplicates,
        neutralize_formulas=file.input.neutralize_formulas,
        engine=None if file.input.engine is None else engine(file.input.engine),
        models=tuple(plugin("models", model) for model in file.policy.models),
        suppression=file.policy.suppression, seed=file.policy.seed, protect_jointly=file.policy.protect_jointly,
        repeatable=file.policy.repeatable,
        allow_unverified=file.policy.allow_unverified,
        rows_are_people=file.policy.rows_are_people,
        allow_plain=tuple(file.policy.allow_plain),
        objective=None if file.policy.objective is None else plugin("metrics", file.policy.objective),
        algorithm=plugin("algorithms", file.algorithm), output=resolved(file.output.path),
        manifest=resolved(file.output.manifest), plot=resolved(file.output.plot),
        recoding=resolved(file.output.recoding), ledger=resolved(file.output.ledger),
        allow_unjudged=tuple(file.output.allow_unjudged),
        pseudonyms=file.output.pseudonyms, key_file=resolved(file.output.key_file), sign=resolved(file.output.sign),
        rows_per_file=file.output.rows_per_file, resume_dir=resolved(file.output.resume_dir),
        analyses=tuple(Analysis.parsed(each.model_dump()) for each in file.analyses),
        balance=BalanceJob(
            target=file.balance.target, sweep=tuple(file.balance.sweep), utility=tuple(file.balance.utility),
            privacy=tuple(file.balance.privacy), seeds=file.balance.seeds,
        ),
        attack=file.attacks is not None,
        attacks=tuple(plugin("attacks", attack) for attack in (file.attacks.chosen if file.attacks else ())),
        attack_threshold=None if file.attacks is None else file.attacks.threshold,
    )  # fmt: skip
