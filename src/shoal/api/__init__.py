"""The verbs: read, detect, diagnose, ask, anonymize, compare, evaluate, attack, query, balance, verify."""

from __future__ import annotations

from shoal.api.anonymizing import anonymize, apply, publish, save_recoding
from shoal.api.asking import ask, dependencies, detect, diagnose
from shoal.api.attacking import above, attack, attempts, beside, every_attack, knowing, public_figures
from shoal.api.balancing import balance
from shoal.api.comparing import compare
from shoal.api.evaluating import columns, evaluate, every, quick_metrics
from shoal.api.opening import open_release
from shoal.api.querying import query
from shoal.api.reading import HierarchySpec, read
from shoal.api.verifying import verification_sql, verify
from shoal.diagnosis.sql import sql

__all__ = [
    "HierarchySpec",
    "",
    "above",
    "anonymize",
    "apply",
    "ask",
    "attack",
    "attempts",
    "balance",
    "beside",
    "columns",
    "compare",
    "dependencies",
    "detect",
    "diagnose",
    "evaluate",
    "every",
    "every_attack",
    "knowing",
    "open_release",
    "public_figures",
    "publish",
    "query",
    "quick_metrics",
    "read",
    "save_recoding",
    "sql",
    "verification_sql",
    "verify",
]  # fmt: skip
