"""Names that are imported when they are first used, so that a run waits only for what it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.errors import alternatives

SUFFIXES = {"forms": "Form"}
"""What the names of the classes of a folder end in, where that tells them from others."""


@cache
def modules(package: str) -> dict[str, str]:
    """The modules of a folder of plug-ins, and of the packages inside it, by the names of the plug-ins: that of
    `k_anonymity.py` is `k-anonymity`."""
    spec = find_spec(package)
    roots = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    files = [(path, root) for root in roots for path in sorted(root.rglob("*.py")) if not path.name.startswith("_")]
    return {
        path.stem.replace("_", "-"): ".".join((package, *path.relative_to(root).with_suffix("").parts))
        for path, root in files
    }


def class_name(folder: str, name: str) -> str:
    """What the class of a plug-in is called: `k-anonymity` is `KAnonymity`, in any case of the letters."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("-")) + SUFFIXES.get(folder, "")


def plugins(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a folder of plug-ins, whose names are those of the classes."""

    @cache
    def homes() -> dict[str, str]:
        folder = package.rpartition(".")[2]
        return {class_name(folder, name).lower(): module for name, module in modules(package).items()}

    def names() -> list[str]:
        members = ((key, vars(import_module(module))) for key, module in homes().items())
        return sorted(next(name for name in there if name.lower() == key) for key, there in members)

    def attribute(name: str) -> Any:
        module = homes().get(name.lower())
        plugin = None if module is None or name.startswith("_") else getattr(import_module(module), name, None)
        if plugin is not None:
            return plugin
        if name[:1].isupper():
            raise AttributeError(f"{package} has no {name!r}; {alternatives(name, names())}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute, names
