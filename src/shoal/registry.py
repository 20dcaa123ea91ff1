"""Finds plug-ins: by file name in Shoal's own folders, and by entry point in other packages.

The plug-in of `models/k_anonymity.py` is called `k-anonymity`; a package adds one with an entry point of the
group `shoal.models` (or of any other family) whose name is the plug-in's. An engine is a folder of `engines/`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.attack import Attack
from shoal.core.contracts.builder import Builder
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.form import Form
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.parameters import build, parameters
from shoal.errors import ParameterError, PluginError, alternatives, quoted
from shoal.lazy import class_name, modules
from shoal.storage.files import names_table

CONTRACTS: dict[str, type] = {
    "models": Model,
    "metrics": Metric,
    "algorithms": Algorithm,
    "hierarchies": Builder,
    "forms": Form,
    "attacks": Attack,
    "engines": Engine,
}
SHARED = "common"
"""The folder of `engines/` that is no engine, but has what all of them need."""
FOLDERS = {"algorithms": ("algorithms", "perturbation")}
"""The folders of a family, where it has others than the one of its name."""


@cache
def _modules(family: str) -> dict[str, str]:
    """Module by plug-in name, for the folders of a family and the packages inside them."""
    if family == "engines":
        folders = (path.parent.name for path in Path(__file__).parent.glob("engines/*/__init__.py"))
        return {name: f"shoal.engines.{name}" for name in folders if name != SHARED}
    folders_of = FOLDERS.get(family, (family,))
    return {name: module for folder in folders_of for name, module in modules(f"shoal.{folder}").items()}


@cache
def _external(family: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"shoal.{family}")}


def names(family: str) -> tuple[str, ...]:
    """The names of the plug-ins of a family.

    Example:
        >>> "k-anonymity" in names("models")
        True
    """
    return tuple(sorted({*_modules(family), *_external(family)}))


@cache
def find(family: str, name: str) -> type[Any]:
    """The class of a plug-in; one that breaks its contract is named with the rule it breaks."""
    contract = CONTRACTS[family]
    if name in _modules(family):
        module = import_module(_modules(family)[name])
        own = [
            member
            for _, member in inspect.getmembers(module, inspect.isclass)
            if member.__module__ == module.__name__
            and issubclass(member, contract)
            and not member.__name__.startswith("_")
        ]
        if len(own) != 1:
            raise PluginError(f"{module.__name__} must define exactly one {contract.__name__}; it defines {len(own)}")
        return _checked(family, name, own[0])
    if name in _external(family):
        point = _external(family)[name]
        try:
            loaded = point.load()
        except Exception as error:  # whatever goes wrong in a package that is not ours
            raise PluginError(
                f"the plug-in {name!r} of {family} cannot be loaded from {point.value!r} ({type(error).__name__})"
            ) from error
        return _checked(family, name, loaded)
    raise ParameterError(f"there is no {quoted(name)} among the {family}; {alternatives(name, names(family))}")


def _checked(family: str, name: str, plugin: Any) -> type[Any]:
    """A plug-in's class, if it keeps the rules that every one keeps."""
    contract, own, wanted = CONTRACTS[family], getattr(plugin, "__name__", ""), class_name(family, name)
    rules = {
        f"it must be a subclass of {contract.__name__}": isinstance(plugin, type) and issubclass(plugin, contract),
        "it must be a frozen dataclass": getattr(getattr(plugin, "__dataclass_params__", None), "frozen", False),
        "its fields must be keyword-only": dataclasses.is_dataclass(plugin)
        and all(entry.kw_only for entry in dataclasses.fields(plugin)),
        "it must define every method of its contract": not getattr(plugin, "__abstractmethods__", None),
        **{f"it must set {fact}": hasattr(plugin, fact) for fact in _facts(contract)},
        f"its class must be named {wanted}": own.lower() == wanted.lower(),
    }
    broken = [rule for rule, holds in rules.items() if not holds]
    if broken:
        raise PluginError(f"the plug-in {name!r} of {family} breaks a rule: {broken[0]}")
    checked: type[Any] = plugin
    return checked


def _facts(contract: type) -> list[str]:
    """What a contract declares about every plug-in and leaves to each one to say."""
    declared = inspect.get_annotations(contract).items()
    return [name for name, kind in declared if "ClassVar" in str(kind) and not hasattr(contract, name)]


def make(family: str, name: str, values: dict[str, Any]) -> Any:
    """An instance of a plug-in."""
    return build(find(family, name), name, values)


def examples(family: str, name: str) -> tuple[Mapping[str, Any], ...]:
    """Parameters with which a plug-in can be tried."""
    parameter_sets: tuple[Mapping[str, Any], ...] = find(family, name).examples
    return parameter_sets


def complete(family: str, name: str) -> bool:
    """Whether a plug-in can be made without being told anything."""
    return not any(parameter.required for parameter in parameters(find(family, name)))


def name_of(plugin: object) -> str:
    """The name under which a plug-in is found; one of another package that breaks a rule is not looked at."""
    for family, contract in CONTRACTS.items():
        if isinstance(plugin, contract):
            for name, module in _modules(family).items():
                if module == type(plugin).__module__:
                    return name
            for name in _external(family):
                with contextlib.suppress(PluginError):
                    if find(family, name) is type(plugin):
                        return name
    raise ParameterError(f"{type(plugin).__name__} is not a registered plug-in")


def engine(name: str | None = None, values: dict[str, Any] | None = None) -> Engine:
    """An engine by its name; the default one unless another is named."""
    from shoal.engines import DEFAULT

    chosen: Engine = make("engines", name or DEFAULT, values or {})
    return chosen


def engine_for(*sources: Any) -> Engine:
    """The engine that takes one of the sources by itself, as that of a frame which lives there or of a table of a
    database; else the default one."""
    for source in sources:
        if source is None or (isinstance(source, (str, PathLike)) and not names_table(source)):
            continue
        for name in names("engines"):
            with contextlib.suppress(PluginError):  # one that breaks a rule is refused when somebody asks for it
                if find("engines", name).takes(source):
                    return engine(name)
    return engine()
