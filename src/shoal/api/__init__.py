"""The verbs: read, detect, diagnose, ask, anonymize, compare, evaluate, attack, query, balance, verify, run.

Each is imported when it is first used, so that a run waits only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.api.anonymizing import anonymize, apply, publish, save_recoding
    from shoal.api.asking import ask, dependencies, detect, diagnose
    from shoal.api.attacking import above, attack, attempts, beside, every_attack, knowing, public_figures
    from shoal.api.balancing import balance, balance_job
    from shoal.api.comparing import compare
    from shoal.api.evaluating import columns, evaluate, every, quick_metrics, standing
    from shoal.api.opening import open_release
    from shoal.api.querying import query
    from shoal.api.reading import HierarchySpec, read, read_job
    from shoal.api.running import Outcome, run
    from shoal.api.verifying import verification_sql, verify
    from shoal.diagnosis.sql import sql

__all__ = [
    "HierarchySpec", "Outcome", "above", "anonymize", "apply", "ask", "attack", "attempts", "balance", "balance_job",
    "beside", "columns", "compare", "dependencies", "detect", "diagnose", "evaluate", "every", "every_attack",
    "knowing", "open_release", "public_figures", "publish", "query", "quick_metrics", "read", "read_job", "run",
    "save_recoding", "sql", "standing", "verification_sql", "verify",
]  # fmt: skip

_FOUND_IN = {
    "api.anonymizing": ("anonymize", "apply", "publish", "save_recoding"),
    "api.asking": ("ask", "dependencies", "detect", "diagnose"),
    "api.attacking": ("above", "attack", "attempts", "beside", "every_attack", "knowing", "public_figures"),
    "api.balancing": ("balance", "balance_job"),
    "api.comparing": ("compare",),
    "api.evaluating": ("columns", "evaluate", "every", "quick_metrics", "standing"),
    "api.opening": ("open_release",),
    "api.querying": ("query",),
    "api.reading": ("HierarchySpec", "read", "read_job"),
    "api.running": ("Outcome", "run"),
    "api.verifying": ("verification_sql", "verify"),
    "diagnosis.sql": ("sql",),
}


def __getattr__(name: str) -> Any:
    for module, names in _FOUND_IN.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"shoal.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
