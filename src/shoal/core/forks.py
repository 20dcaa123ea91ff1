"""Forked processes: a child of `fork` has none of its parent's threads.

A library whose threads the parent had started waits for them in the child, forever. Before such a library is called,
the child limits it to one thread where that can be done, and says what to do where it cannot.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.errors import ForkError, MissingExtraError

INSTEAD = (
    'start it by "spawn" or "forkserver" (multiprocessing.get_context("spawn")), or fork before the parent uses Shoal'
)

_running: frozenset[str] = frozenset()
_lost: frozenset[str] = frozenset()
_forked = False


def _before() -> None:
    global _running
    _running = _named_threads()


def _after() -> None:
    global _lost, _forked
    _lost, _forked = _lost | _running, True


def _named_threads() -> frozenset[str]:
    """What the threads of this process are called; where nobody can tell, those of polars count once it is imported."""
    try:
        return frozenset(task.read_text(errors="replace") for task in Path("/proc/self/task").glob("*/comm"))
    except OSError:
        return frozenset({"polars"} if "polars" in sys.modules else ())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_after)


def import_polars(feature: str) -> Any:
    """polars, for a feature that needs it. Raises where it is not installed, and before it would wait for threads that
    this process lacks.

    Those that compute have numbers, `polars-0`; another one, which removes files, is there as soon as it is imported.
    """
    if any(re.fullmatch(r"polars(-\d+)?", name.strip()) for name in _lost):
        raise ForkError(f"this process was forked from one in which polars had started its threads; {INSTEAD}")
    try:
        import polars
    except ImportError:
        raise MissingExtraError(feature, "polars") from None
    return polars


def check_same(process: int, what: str) -> None:
    """Raises where what belongs to another process is used after a fork."""
    if os.getpid() != process:
        raise ForkError(f"this process was forked, and {what} belongs to its parent; {INSTEAD}")


@contextmanager
def few_threads() -> Iterator[None]:
    """Meanwhile, a process that was forked does what OpenMP would share out, as scikit-learn does, in one thread."""
    if not _forked:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="openmp"):
        yield
