"""Numbers by column, as parameters of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def by_column(given: Any) -> Any:
    """A mapping as it is; on the command line `age:2`, several joined by `|`."""
    if isinstance(given, Mapping):
        return given
    pairs = [given] if isinstance(given, str) else list(given)
    return dict(pair.rsplit(":", 1) if ":" in pair else (pair, "") for pair in pairs)
