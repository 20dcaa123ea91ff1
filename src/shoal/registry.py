"""Finds plug-ins: by file name in Shoal's own folders, and by entry point in other packages.

The plug-in of `models/k_anonymity.py` is called `k-anonymity`; a package adds one with an entry point of the
group `shoal.models` (or `shoal.metrics`, `shoal.algorithms`, `shoal.hierarchies`) whose name is the plug-in's.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from shoal.core import contracts
from shoal.core.parameters import build
from shoal.errors import ParameterError

CONTRACTS: dict[str, type] = {
    "models": contracts.Model,
    "metrics": contracts.Metric,
    "algorithms": contracts.Algorithm,
    "hierarchies": contracts.Builder,
}


@cache
def _modules(family: str) -> dict[str, str]:
    """Module by plug-in name, for a folder and the packages inside it."""
    root = Path(__file__).parent
    found = {}
    for path in sorted((root / family).rglob("*.py")):
        module = ".".join(("shoal", *path.relative_to(root).with_suffix("").parts))
        if not path.name.startswith("_"):
            found[path.stem.replace("_", "-")] = module
    return found


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
    """The class of a plug-in."""
    if name in _modules(family):
        module = import_module(_modules(family)[name])
        own = [
            member
            for _, member in inspect.getmembers(module, inspect.isclass)
            if member.__module__ == module.__name__
            and issubclass(member, CONTRACTS[family])
            and not member.__name__.startswith("_")
        ]
        if len(own) != 1:
            raise TypeError(f"{module.__name__} must define exactly one {CONTRACTS[family].__name__}")
        return own[0]
    if name in _external(family):
        plugin: type[Any] = _external(family)[name].load()
        return plugin
    raise ParameterError(f"there is no {name!r} among the {family}; there are {', '.join(names(family))}")


def make(family: str, name: str, values: dict[str, Any]) -> Any:
    """An instance of a plug-in."""
    return build(find(family, name), name, values)


def name_of(plugin: object) -> str:
    """The name under which a plug-in is found."""
    for family, contract in CONTRACTS.items():
        if isinstance(plugin, contract):
            for name, module in _modules(family).items():
                if module == type(plugin).__module__:
                    return name
            for name in _external(family):
                if find(family, name) is type(plugin):
                    return name
    raise ParameterError(f"{type(plugin).__name__} is not a registered plug-in")


def by_class_name(name: str) -> type[Any] | None:
    """The plug-in class of that name (`KAnonymity`), whichever family it belongs to."""
    for family in CONTRACTS:
        for plugin in names(family):
            if plugin.replace("-", "") == name.lower() and find(family, plugin).__name__ == name:
                return find(family, plugin)
    return None
