"""The manifest of a release: what it states, and how it is read, with distrust: whoever held it may have changed it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from shoal import registry
from shoal.core.codebook import Spelling
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.form import Form
from shoal.core.contracts.table import Published
from shoal.core.hierarchy import Hierarchy
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.published_tables import Crowd
from shoal.core.schema import FILLED, Column, Kind, Notation, Role, Schema
from shoal.core.validation import demand
from shoal.errors import InputError, ParameterError, ShoalError, unknown_columns
from shoal.job import plugins
from shoal.job.columns import ColumnJob
from shoal.parsing.dates import checked as date_format
from shoal.publishing.writable_release import FORMAT, manifest_path, part_path
from shoal.storage.files import address, check_inside, check_whole

Count = Annotated[StrictInt, Field(ge=0)]
Share = Annotated[StrictFloat | StrictInt, Field(ge=0, le=1)]


class _StatedPart(BaseModel):
    """A part of a manifest; how it is checked is worked out when the first manifest is read."""

    model_config = ConfigDict(defer_build=True)


class _StatedColumn(_StatedPart):
    name: StrictStr
    role: Role
    kind: Kind
    spelling: Spelling | None = None
    format: StrictStr | None = None

    @model_validator(mode="after")
    def _reads_dates(self) -> _StatedColumn:
        if self.kind is Kind.DATE and self.format is not None:
            try:
                date_format(self.format)
            except ParameterError:
                raise ValueError("format is none of dates") from None
        return self


class _StatedTable(_StatedPart):
    part: Annotated[StrictStr, Field(pattern=r"^[a-z0-9-]{0,40}$")]
    rows: Count
    sha256: StrictStr


class _StatedPolicy(_StatedPart):
    models: list[dict[str, Any]]
    suppression: StrictFloat | StrictInt
    objective: dict[str, Any] | None = None


class _Sensitive(_StatedPart):
    leaves: list[Count]
    population: list[Count]
    levels: list[list[Count]]

    @model_validator(mode="after")
    def _is_a_tree(self) -> _Sensitive:
        size = len(self.population)
        if len(set(self.leaves)) < len(self.leaves) or any(leaf >= size for leaf in self.leaves):
            raise ValueError("its leaves do not fit its population")
        finer = np.arange(size)
        for level in self.levels:
            codes = np.array(level, dtype=np.int64)
            steps = np.diff(codes)
            # nodes are numbered along the leaves, and one that is left behind never parts again
            if len(codes) != size or codes[:1].sum() != 0 or not np.isin(steps, (0, 1)).all():
                raise ValueError("its levels are no tree")
            if bool((steps[np.diff(finer) == 0] != 0).any()):
                raise ValueError("its levels are no tree")
            finer = codes
        return self


class _StatedPeople(_StatedPart):
    column: StrictStr
    published: Count
    smallest_class: Count
    count: Count | None = None
    populations: dict[str, list[Count]] = {}


class _StatedWeights(_StatedPart):
    column: StrictStr
    scaled: StrictBool
    base: StrictFloat | StrictInt


class _Algorithm(_StatedPart):
    model_config = ConfigDict(extra="allow")

    name: StrictStr


def _claims(algorithm: _Algorithm) -> bool:
    """Whether what an algorithm makes satisfies a model; one that is not known here is no excuse for stating none."""
    method = method_of({"algorithm": algorithm.model_dump()})
    return method is None or method.claims


class _Attack(_StatedPart):
    name: StrictStr
    success: Share
    worst: Share
    above: Share
    threshold: Share
    knew: StrictStr


class _Unverified(_StatedPart):
    k: Count


class _Signature(_StatedPart):
    algorithm: Literal["Ed25519"]
    key: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]
    value: StrictStr


class _Manifest(_StatedPart):
    unverified: _Unverified | None = None
    form: StrictStr
    algorithm: _Algorithm
    tables: list[_StatedTable] = Field(min_length=1)
    records: Count
    published: Count
    policy: _StatedPolicy
    columns: list[_StatedColumn]
    sensitive: dict[str, _Sensitive]
    strict: StrictBool = False
    people: _StatedPeople | None = None
    weights: _StatedWeights | None = None
    counterfeits: Count = 0
    changed: list[StrictStr] = []
    hulls: dict[StrictStr, Literal["interval", "hierarchy"]] = {}
    ghosts: dict[StrictStr, list[StrictStr]] = {}
    signature: _Signature | None = None
    attacks: list[_Attack] = []

    @model_validator(mode="after")
    def _fits_together(self) -> _Manifest:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError("it names a column twice")
        parts = [table.part for table in self.tables]
        if parts[0] or len(set(parts)) < len(parts) or self.tables[0].rows != self.published:
            raise ValueError("its tables are not those of a release")
        if not self.policy.models and _claims(self.algorithm) and self.unverified is None:
            raise ValueError("it states no model, which only a perturbed release may do")
        if self.policy.models and self.unverified is not None:
            raise ValueError("it states models and that it was not verified")
        sensitive = {column.name for column in self.columns if column.role is Role.SENSITIVE}
        if set(self.sensitive) != (sensitive if self.policy.models else set()):
            raise ValueError("its sensitive attributes are not those of its columns")
        person = [column.name for column in self.columns if column.role is Role.ENTITY]
        if person != ([self.people.column] if self.people else []) and self.policy.models:
            raise ValueError("its person column is not that of its columns")
        counted = self.people.populations if self.people else {}
        sizes = {name: len(shape.population) for name, shape in self.sensitive.items()}
        if any(len(counts) != sizes.get(name) for name, counts in counted.items()):
            raise ValueError("its counts of people are not those of its sensitive attributes")
        totals = (self.records, self.published + self.counterfeits)
        if any(sum(shape.population) not in totals for shape in self.sensitive.values()):
            raise ValueError("its counts of sensitive values do not add up to its records")
        return self


def json_schema() -> dict[str, Any]:
    """The JSON schema of a manifest; how its parts fit together is checked besides."""
    return _Manifest.model_json_schema()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON none of whose names occurs twice: readers would differ in which of the two they believe."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def load(path: Path, elsewhere: Path | None = None) -> dict[str, Any]:
    """What the manifest beside a release, or `elsewhere`, says, when it is one and its parts fit together."""
    beside = elsewhere or manifest_path(path)
    check_inside(beside)
    check_whole(beside, path)
    try:
        stated = json.loads(beside.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError:
        where = "beside the release" if elsewhere is None else "there"
        raise InputError(f"{beside.name}: there is no manifest {where}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{beside.name}: this is not a manifest") from None
    if not isinstance(stated, dict) or "format" not in stated:
        raise InputError(f"{beside.name}: this is not a manifest of a Shoal release")
    if stated["format"] != FORMAT:
        raise InputError(f"{beside.name}: its format is not {FORMAT}; verify it with the version that wrote it")
    try:
        _Manifest.model_validate(stated)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        wrong = "is not known" if first["type"] == "extra_forbidden" else demand([first])
        colon = ":" if place and first["type"] == "value_error" else ""
        raise InputError(f"{beside.name}: this manifest is broken: {f'{place}{colon} {wrong}'.strip()}") from None
    if stated["form"] not in registry.names("forms"):
        raise InputError(f"{beside.name}: this manifest names a form of release that is not known here")
    return stated


def provenance(
    policy: Policy, method: Algorithm, form: Form, pseudonyms: Pseudonyms | None, schema: Schema
) -> dict[str, Any]:
    """How a release came to be, as its manifest states it; the seed stays with the holder."""
    from shoal.version import __version__

    return {
        "shoal": __version__,
        "form": registry.name_of(form),
        "policy": {
            "models": [plugins.spelled(model.concealed(schema)) for model in policy.models],
            "suppression": policy.suppression,
            "objective": None if policy.objective is None else plugins.spelled(policy.objective),
        },
        "algorithm": plugins.spelled(method),
        "identifiers": "dropped" if pseudonyms is None else "keyed" if pseudonyms.key is not None else "random",
    }


def columns_of(path: Path) -> dict[str, ColumnJob]:
    """The roles, kinds and formats of the columns, as the manifest of a release states them."""
    columns = {}
    for column in load(path)["columns"]:
        form, kind = column.get("format"), Kind(column["kind"])
        named = {} if form is None else {"date_format" if kind is Kind.DATE else "number_format": form}
        columns[column["name"]] = ColumnJob(role=Role(column["role"]), kind=kind, **named)
    return columns


def policy_of(stated: Mapping[str, Any]) -> Policy:
    """The policy that a manifest states."""
    policy = stated["policy"]
    objective = policy.get("objective")
    try:
        return Policy(
            models=tuple(plugins.plugin("models", model) for model in policy["models"]),
            suppression=policy["suppression"],
            objective=None if objective is None else plugins.plugin("metrics", objective),
        )
    except ParameterError as error:
        raise InputError(f"the manifest states a policy that is none: {error}") from None


def method_of(stated: Mapping[str, Any]) -> Algorithm | None:
    """The algorithm that a manifest states; None where it is not known here."""
    try:
        method: Algorithm = plugins.plugin("algorithms", stated["algorithm"])
    except ShoalError:
        return None
    return method


def parts(stated: Mapping[str, Any] | None, path: Path) -> dict[str, Path]:
    """Where each table of a release lies, which is in its folder; a file without a manifest is all there is."""
    named = [entry["part"] for entry in (stated or {"tables": [{"part": ""}]})["tables"]]
    places = {part: part_path(path, part) for part in named}
    if address(path) is None:
        check_inside(*(place.with_name(place.name.partition("::")[0]) for place in places.values()))
    return places


def spellings_of(stated: Mapping[str, Any]) -> dict[str, Spelling]:
    """How each column is published, as a manifest states it."""
    return {column["name"]: column["spelling"] for column in stated["columns"] if column.get("spelling")}


def notations_of(stated: Mapping[str, Any]) -> dict[str, Notation]:
    """How the values of quasi-identifiers and sensitive attributes are spelled, as a manifest states it."""
    return {
        column["name"]: Notation(Kind(column["kind"]), column.get("format"))
        for column in stated["columns"]
        if Role(column["role"]) in (Role.QUASI, Role.SENSITIVE)
    }


def schema_of(stated: Mapping[str, Any], tables: Mapping[str, Published]) -> tuple[Schema, dict[str, Any]]:
    """The schema as the manifest has it; trees of sensitive attributes with the labels that the release shows."""
    columns, populations = [], {}
    shown = {name: table for table in reversed(list(tables.values())) for name in table.names}
    for entry in stated["columns"]:
        name, role = entry["name"], Role(entry["role"])
        if role in (Role.IDENTIFIER, Role.DROP) or (role is Role.WEIGHT and name not in shown):
            continue
        if name not in shown and role not in FILLED:
            raise unknown_columns([name], shown)
        hierarchy = None
        if name in stated["sensitive"]:
            shape = stated["sensitive"][name]
            hierarchy = _tree(name, shape, shown[name].labels(name))
            populations[name] = np.array(shape["population"], dtype=np.int64)
        kind, form = Kind(entry["kind"]), entry.get("format")
        columns.append(Column(name=name, role=role, kind=kind, form=form, hierarchy=hierarchy))
    return Schema(tuple(columns), strict=stated.get("strict", False)), populations


def crowd_of(stated: Mapping[str, Any]) -> Crowd | None:
    """The people of the whole table, where a manifest states them."""
    people = stated.get("people") or {}
    if people.get("count") is None:
        return None
    counted = people.get("populations", {})
    return Crowd(people["count"], {name: np.array(counts, np.int64) for name, counts in counted.items()})


def _tree(name: str, shape: Mapping[str, Any], labels: Sequence[str | None]) -> Hierarchy:
    """The tree of a sensitive attribute; leaves that the release does not show have no name."""
    size = len(shape["population"])
    leaves: list[str | None] = [f"\0{leaf}" for leaf in range(size)]
    if len(labels) == len(shape["leaves"]):
        for leaf, label in zip(shape["leaves"], labels, strict=True):
            leaves[leaf] = label
    codes = np.array([list(range(size)), *shape["levels"], [0] * size], dtype=np.int32)
    nodes = tuple(
        np.array([f"\0{level}\0{node}" for node in range(int(row.max(initial=0)) + 1)], object)
        for level, row in enumerate(codes)
    )
    return Hierarchy(name, codes, (np.array(leaves, object), *nodes[1:]), missing=None in leaves)
