"""How much is tried: what fits into every day's run, or everything (`make test-long`)."""

from __future__ import annotations

import os

LONG = os.environ.get("SHOAL_LONG") == "1"


def count(daily: int, long: int) -> int:
    """How many cases of something are tried."""
    return long if LONG else daily
