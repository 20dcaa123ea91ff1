"""Plug-ins as people and files spell them: `name:key=value,…`, or a table with a `name`."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.engine import Engine
from shoal.core.parameters import example, parameters
from shoal.core.policy import Policy
from shoal.errors import MissingExtraError, ParameterError, alternatives

Spec = tuple[str, dict[str, Any]]

ENDINGS = (".json", ".toml", ".csv")
"""Of the files in a folder with hierarchies; of several for one column the last one is taken."""


def parse_spec(text: str) -> Spec:
    """A plug-in's name and parameters from `name:key=value,key=value`; a list's entries are joined by `|`, and a pair
    that holds a comma is quoted.

    Example:
        >>> parse_spec("t-closeness:t=0.2,distance=hierarchical")
        ('t-closeness', {'t': '0.2', 'distance': 'hierarchical'})
    """
    name, _, rest = text.partition(":")
    values: dict[str, Any] = {}
    for pair in filter(None, next(csv.reader([rest], skipinitialspace=True), [])):
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
        if not name:
            raise ParameterError(f"an entry of the {family} lacks its name; write name = and one of them")
    else:
        if isinstance(spec, type) and issubclass(spec, registry.CONTRACTS[family]):
            raise ParameterError(f"{spec.__name__} is a class; make an instance of it, as in {example(spec)}")
        raise ParameterError(f"{type(spec).__name__} is not one of the {family}; give one, or its name as text")
    chosen = registry.find(family, name)
    lists = {entry.name for entry in parameters(chosen) if "tuple[" in entry.kind}
    values = {key: [value] if key in lists and isinstance(value, str) else value for key, value in values.items()}
    for entry in fields(chosen):
        if "Algorithm" in str(entry.type) and isinstance(values.get(entry.name), (str, Mapping)):
            values[entry.name] = _inner(values[entry.name])
    return registry.make(family, name, values)


def _inner(spec: str | Mapping[str, Any]) -> Algorithm:
    """The algorithm that another one is told to use; in text its parameters are separated by semicolons."""
    algorithm: Algorithm = plugin("algorithms", spec.replace(";", ",") if isinstance(spec, str) else spec)
    return algorithm


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
    pairs = io.StringIO()
    csv.writer(pairs, lineterminator="").writerow(
        f"{key}={_text(value)}" for key, value in given if value != usual[key]
    )
    return ":".join(filter(None, (registry.name_of(chosen), pairs.getvalue())))


def _text(value: Any) -> str:
    if isinstance(value, Algorithm):
        return written(value).replace(",", ";")
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
    chosen: Builder = plugin("hierarchies", spec)
    return chosen


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


def engine(spec: str | Mapping[str, Any] | Engine | None, *sources: Any) -> Engine:
    """An engine from its spelling; when none is named, the one that takes a source by itself, or the default."""
    chosen: Engine = registry.engine_for(*sources) if spec is None else plugin("engines", spec)
    return chosen


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
