"""A part of a screen that may not be ready yet: it shows how far the work is, or why it came to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shoal.core.release import Release
from shoal.errors import ShoalError
from shoal.web.session import NotReady

READY, REFUSED = "ready", "refused"
MOST_NAMED = 6
"""Columns that a sentence names."""


def panel(make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of a panel, with its state: `ready`, `refused` with the reason, or that of the task it waits for."""
    try:
        return {"state": READY, **make()}
    except NotReady as pending:
        return {"state": str(pending.task.state), "task": pending.task.as_dict()}
    except ShoalError as error:
        return {"state": REFUSED, "error": str(error)}


def plain_facts(release: Release) -> dict[str, Any] | None:
    """What the plain columns of a release give away, where that is more than its policy accepts."""
    risk = release.plain_risk
    if risk is None or not risk.above:
        return None
    more = ["…"] if len(risk.columns) > MOST_NAMED else []
    return {"count": len(risk.columns), "share": risk.share, "names": [*risk.columns[:MOST_NAMED], *more]}
