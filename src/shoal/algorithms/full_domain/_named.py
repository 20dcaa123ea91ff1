"""Numbers by column, as parameters of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def by_column(given: Any) -> Any:
    """A mapping as it is; on the command line `age:2`, several joined by `|`."""
    if isinstance(given, Mapping):
        return given
    pairs = [given] if isinstance(given, str) else list(given)
    return {column: number for column, _, number in (_parted(pair) for pair in pairs)}


def _parted(pair: str) -> tuple[str, str, str]:
    return pair.rpartition(":") if ":" in pair else (pair, "", "")
