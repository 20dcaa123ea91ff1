"""What the command does without, so that it starts at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib.machinery import ModuleSpec
from typing import Any


def with_fast_start(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with pandas imported only if it needs pandas."""

    @wraps(command)
    def started(**arguments: Any) -> None:
        without_pandas()
        command(**arguments)

    return started


def without_pandas() -> None:
    """Lets Arrow not look for pandas, which it imports with the first array it makes, to recognize its series.

    A command makes none. This is for the command's own process: in a user's, pandas may come later, and Arrow would not
    know its missing values. Whoever imports pandas here still gets it, and Arrow's conversions to and from it work.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        with suppress(ImportError):  # should Arrow ever insist
            pyarrow.array([])  # Arrow looks once
    finally:
        sys.meta_path.remove(finder)


class _NoPandas:
    """Finds no pandas."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("not needed here", name=name)
        return None
