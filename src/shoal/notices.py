"""Notices: what a person should know and no result tells, said once, on stderr unless a program handles it."""

from __future__ import annotations

import logging
from functools import cache

LOGGER = logging.getLogger("shoal")


@cache
def tell(text: str) -> None:
    """Says something, the first time only. Like an error it names columns and counts, never a cell's value."""
    LOGGER.warning("note: %s", text)
