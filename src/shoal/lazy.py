"""Names that are imported when they are first used, so that a run waits only for what it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import alternatives


def plugins(package: str, folder: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a folder of plug-ins: the class of `k_anonymity.py` is `KAnonymity`, whatever its
    capital letters."""

    @cache
    def modules() -> dict[str, str]:
        root = Path(folder).parent
        files = (path for path in sorted(root.rglob("*.py")) if not path.name.startswith("_"))
        return {path.stem.replace("_", ""): ".".join(path.relative_to(root).with_suffix("").parts) for path in files}

    def names() -> list[str]:
        found = ((key, import_module(f"{package}.{module}")) for key, module in modules().items())
        return sorted(next(name for name in vars(module) if name.lower() == key) for key, module in found)

    def attribute(name: str) -> Any:
        module = modules().get(name.lower())
        if not name.startswith("_") and module is not None:
            found = getattr(import_module(f"{package}.{module}"), name, None)
            if found is not None:
                return found
        if name[:1].isupper():
            raise AttributeError(f"{package} has no {name!r}; {alternatives(name, names())}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute, names
