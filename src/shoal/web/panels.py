"""A part of a screen that may not be ready yet: it shows how far the work is, or why it came to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shoal.errors import ShoalError
from shoal.web.session import NotReady

READY, REFUSED = "ready", "refused"


def panel(make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of a panel, with its state: `ready`, `refused` with the reason, or that of the task it waits for."""
    try:
        return {"state": READY, **make()}
    except NotReady as pending:
        return {"state": str(pending.task.state), "task": pending.task.as_dict()}
    except ShoalError as error:
        return {"state": REFUSED, "error": str(error)}
