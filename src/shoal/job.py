"""The job file and every other piece of configuration text: the only parser of it.

A job is everything that a run needs, in one TOML file: input, columns, policy, algorithm, output.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, ValidationError

from shoal import registry
from shoal.core.contracts import Algorithm, Builder, Engine, Metric, Model
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.run import Run
from shoal.core.schema import Kind, Missing, Role
from shoal.errors import InputError, ParameterError, quoted

if TYPE_CHECKING:
    from shoal.core.dataset import Dataset
    from shoal.outcome import Outcome

Spec = tuple[str, dict[str, Any]]

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
        raise ParameterError(f"{type(spec).__name__} is not one of the {family}")
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


def member(options: type[StrEnum], text: str, what: str) -> Any:
    """A member of an enumeration by its name."""
    try:
        return options(text)
    except ValueError:
        raise ParameterError(f"there is no such {what}; choose one of {', '.join(options)}") from None


def builder(spec: str | Path | Mapping[str, Any] | Builder) -> Builder:
    """A hierarchy builder from a file's path, a builder's spelling or a job file's table."""
    if isinstance(spec, Path) or (isinstance(spec, str) and parse_spec(spec)[0] not in registry.names("hierarchies")):
        path = Path(spec)
        spec = {"name": "tree" if path.suffix in (".toml", ".json") else "table", "path": path}
    made: Builder = plugin("hierarchies", spec)
    return made


def engine(spec: str | Mapping[str, Any] | Engine | None) -> Engine:
    """An engine from its spelling; the default one when none is named."""
    made: Engine = registry.engine() if spec is None else plugin("engines", spec)
    return made


def check_policy(policy: Policy, method: Algorithm) -> None:
    """Refuses a policy without a model, unless the method claims none."""
    if method.claims and not policy.models:
        raise ParameterError("a policy needs at least one privacy model, such as k-anonymity with k=5")
    if policy.models and not method.claims:
        raise ParameterError(
            f"{registry.name_of(method)} changes values and can promise no model; leave the models out"
        )


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Input(_Strict):
    path: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    missing: list[str] = []
    hierarchies: str | None = None
    neutralize_formulas: StrictBool = False
    engine: dict[str, Any] | str | None = None


class _Column(_Strict):
    role: Role = Role.PLAIN
    kind: Kind | None = None
    hierarchy: str | dict[str, Any] | None = None
    missing: Missing = Missing.VALUE


class _Policy(_Strict):
    models: list[dict[str, Any] | str] = []
    suppression: StrictFloat | StrictInt = 0.0
    objective: dict[str, Any] | str | None = None
    seed: StrictInt | None = None
    strict: StrictBool = False


class _Output(_Strict):
    path: str | None = None
    plot: str | None = None
    pseudonyms: Literal["keyed", "random"] | None = None
    key_file: str | None = None


class _File(_Strict):
    input: _Input = Field(default_factory=_Input)
    columns: dict[str, _Column] = {}
    policy: _Policy = Field(default_factory=_Policy)
    algorithm: dict[str, Any] | str = "mondrian"
    output: _Output = Field(default_factory=_Output)


@dataclass(frozen=True, kw_only=True)
class ColumnJob:
    """What a job says of one column."""

    role: Role = Role.PLAIN
    kind: Kind | None = None
    hierarchy: Builder | None = None
    missing: Missing = Missing.VALUE


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that a run needs. Without a seed one is drawn; `file` is where the job was read from."""

    file: Path | None = field(default=None, compare=False)
    input: Path | None = None
    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    hierarchies: Path | None = None
    neutralize_formulas: bool = False
    engine: Engine | None = None
    columns: Mapping[str, ColumnJob] = field(default_factory=dict)
    models: tuple[Model, ...] = ()
    suppression: float = 0.0
    objective: Metric | None = None
    seed: int | None = None
    strict: bool = False
    algorithm: Algorithm | None = None
    output: Path | None = None
    plot: Path | None = None
    pseudonyms: Literal["keyed", "random"] | None = None
    key_file: Path | None = None

    def named(self, role: Role) -> list[str]:
        """The columns that have a role."""
        return [name for name, column in self.columns.items() if column.role is role]

    def models_with(self, models: list[Model]) -> tuple[Model, ...]:
        """The job's models, with these in the place of those of the same kind."""
        given = {type(model) for model in models}
        return (*(model for model in self.models if type(model) not in given), *models)

    def with_role(self, role: Role, names: list[str]) -> Job:
        """The job with exactly these columns in a role; a column cannot be named twice."""
        columns = {
            name: replace(column, role=Role.PLAIN) if column.role is role else column
            for name, column in self.columns.items()
        }
        for name in names:
            before = columns.get(name, ColumnJob())
            if before.role is not Role.PLAIN:
                raise ParameterError(f"column {name!r} was given twice: as {before.role} and as {role}; choose one")
            columns[name] = replace(before, role=role)
        return replace(self, columns=columns)

    def reads(self) -> list[Path]:
        """Every file that a run reads."""
        builders = [column.hierarchy for column in self.columns.values() if column.hierarchy is not None]
        paths = [path for made in builders for path in made.parameters().values() if isinstance(path, Path)]
        if self.hierarchies is not None:
            names = [*self.named(Role.QUASI), *self.named(Role.SENSITIVE)]
            paths += [self.hierarchies / f"{name}{ending}" for name in names for ending in ENDINGS]
        return [*paths, *(path for path in (self.file, self.input, self.key_file) if path is not None)]

    def read(self) -> Dataset:
        """The table of the job."""
        from shoal import api

        if self.input is None:
            raise InputError("name the table to read, or a job file that does")
        return api.read(
            self.input,
            quasi=self.named(Role.QUASI),
            sensitive=self.named(Role.SENSITIVE),
            identifiers=self.named(Role.IDENTIFIER),
            hierarchies=self.hierarchies,
            column_hierarchies={name: column.hierarchy for name, column in self.columns.items() if column.hierarchy},
            kinds={name: column.kind for name, column in self.columns.items() if column.kind},
            missing=self.missing,
            missing_rules={name: column.missing for name, column in self.columns.items()},
            strict=self.strict,
            delimiter=self.delimiter,
            encoding=self.encoding,
            neutralize_formulas=self.neutralize_formulas,
            engine=self.engine,
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

    def run(self, run: Run | None = None, *, save: Path | None = None) -> Outcome:
        """Reads the table, anonymizes and measures it, and writes every file of the job together at the very end.

        `save` is where the job itself is written, with the seed that was drawn. Whatever goes wrong, also a cancelled
        run, changes no file.

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

        return carry_out(self, run or Run(), save)

    def toml(self, folder: Path | None = None) -> str:
        """The job as a file that lies in a folder; reading it there gives the same job.

        Paths are written relative to the folder, so that job and data can move together; without one, as they are.
        """
        import tomli_w

        return tomli_w.dumps(_without_nothing(self._tables(folder)))

    def _tables(self, folder: Path | None) -> dict[str, Any]:
        def _text(path: Path | None) -> str | None:
            if path is None or folder is None:
                return None if path is None else str(path)
            return os.path.relpath(path, folder)

        def _hierarchy(made: Builder) -> dict[str, Any]:
            table = spelled(made)
            return {**table, "path": _text(Path(table["path"]))} if "path" in table else table

        columns = {
            name: {
                "role": str(column.role),
                "kind": str(column.kind) if column.kind else None,
                "hierarchy": _hierarchy(column.hierarchy) if column.hierarchy else None,
                "missing": str(column.missing) if column.missing is not Missing.VALUE else None,
            }
            for name, column in self.columns.items()
        }
        return {
            "input": {
                "path": _text(self.input), "delimiter": self.delimiter, "encoding": self.encoding,
                "missing": list(self.missing) or None, "hierarchies": _text(self.hierarchies),
                "neutralize_formulas": self.neutralize_formulas or None,
                "engine": spelled(self.engine) if self.engine else None,
            },
            "columns": columns,
            "policy": {
                "suppression": self.suppression, "seed": self.seed, "strict": self.strict or None,
                "objective": spelled(self.objective) if self.objective else None,
                "models": [spelled(model) for model in self.models],
            },
            "algorithm": spelled(self.algorithm) if self.algorithm else None,
            "output": {
                "path": _text(self.output), "plot": _text(self.plot), "pseudonyms": self.pseudonyms,
                "key_file": _text(self.key_file),
            },
        }  # fmt: skip


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
        raise InputError(f"{path.name}: this is not TOML: it is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        raise InputError(f"{path.name}: this is not TOML: it breaks at {place[1] if place else 'some line'}") from None
    except RecursionError:
        raise InputError(f"{path.name}: this is nested too deeply to be a job") from None
    return replace(parse(raw, path.parent, path.name), file=path)


def parse(raw: Mapping[str, Any], folder: Path, where: str = "the job") -> Job:
    """A job from the tables of a job file."""
    if raw and not any(key in _File.model_fields for key in raw):  # the names in another file are nobody's business
        raise InputError(f"{where}: this is not a job file; one has {', '.join(_File.model_fields)}")
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = quoted(".".join(str(part) for part in first["loc"]))[1:-1]
        raise InputError(f"{where}: {place}: {first['msg']}") from None

    def resolved(text: str | None) -> Path | None:
        return None if text is None else folder / text

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
            hierarchy=None if spec is None else builder(spec),
            missing=column.missing,
        )
    return Job(
        input=resolved(file.input.path), delimiter=file.input.delimiter, encoding=file.input.encoding,
        missing=tuple(file.input.missing), hierarchies=resolved(file.input.hierarchies), columns=columns,
        neutralize_formulas=file.input.neutralize_formulas,
        engine=None if file.input.engine is None else engine(file.input.engine),
        models=tuple(plugin("models", model) for model in file.policy.models),
        suppression=file.policy.suppression, seed=file.policy.seed, strict=file.policy.strict,
        objective=None if file.policy.objective is None else plugin("metrics", file.policy.objective),
        algorithm=plugin("algorithms", file.algorithm), output=resolved(file.output.path),
        plot=resolved(file.output.plot), pseudonyms=file.output.pseudonyms, key_file=resolved(file.output.key_file),
    )  # fmt: skip
