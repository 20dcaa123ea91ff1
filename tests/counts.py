"""How much is tried: what fits into every day's run, or everything (`make test-long`)."""

from __future__ import annotations

import os

import pytest

LONG = os.environ.get("SHOAL_LONG") == "1"


def count(daily: int, long: int) -> int:
    """How many cases of something are tried."""
    return long if LONG else daily


def long_on_spark(engine: str) -> None:
    """Leaves a case to the long suite where it asks nothing of Spark that others do not."""
    if engine == "spark" and not LONG:
        pytest.skip("on Spark they belong to the long suite: make test-long")
