"""The verbs: read, detect, diagnose, ask, anonymize, compare, evaluate, attack, query, balance, verify, run.

Each is imported when it is first used, so that a run waits only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.api.anonymizing import anonymize, apply, publish, save_recoding
    from shoal.api.asking import ask, dependencies, detect, diagnose, suda
    from shoal.api.attacking import (
        attack,
        attempts,
        attempts_above,
        every_attack,
        knowledge_of,
        public_figures,
        read_beside,
    )
    from shoal.api.balancing import balance, balance_job
    from shoal.api.comparing import compare
    from shoal.api.evaluating import columns, evaluate, every_plugin, policy_and_risk, quick_metrics
    from shoal.api.opening import open_release
    from shoal.api.querying import query
    from shoal.api.reading import HierarchySpec, read, read_job
    from shoal.api.running import Outcome, run
    from shoal.api.scanning import scan
    from shoal.api.verifying import verification_sql, verify
    from shoal.diagnosis.sql import sql

__all__ = [
    "HierarchySpec", "Outcome", "anonymize", "apply", "ask", "attack", "attempts", "attempts_above", "balance",
    "balance_job", "columns", "compare", "dependencies", "detect", "diagnose", "evaluate", "every_attack",
    "every_plugin", "knowledge_of", "open_release", "policy_and_risk", "public_figures", "publish", "query",
    "quick_metrics", "read", "read_beside", "read_job", "run", "save_recoding", "scan", "sql", "suda",
    "verification_sql", "verify",
]  # fmt: skip

_FOUND_IN = {
    "api.anonymizing": ("anonymize", "apply", "publish", "save_recoding"),
    "api.asking": ("ask", "dependencies", "detect", "diagnose", "suda"),
    "api.attacking": (
        "attack", "attempts", "attempts_above", "every_attack", "knowledge_of", "public_figures", "read_beside",
    ),
    "api.balancing": ("balance", "balance_job"),
    "api.comparing": ("compare",),
    "api.evaluating": ("columns", "evaluate", "every_plugin", "policy_and_risk", "quick_metrics"),
    "api.opening": ("open_release",),
    "api.querying": ("query",),
    "api.reading": ("HierarchySpec", "read", "read_job"),
    "api.running": ("Outcome", "run"),
    "api.scanning": ("scan",),
    "api.verifying": ("verification_sql", "verify"),
    "diagnosis.sql": ("sql",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for module, names in _FOUND_IN.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"shoal.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
