"""Shoal: privacy diagnosis and preservation in data publishing.

Verbs, nouns and the models that everybody uses are here; plug-ins are in `shoal.models`, `shoal.attacks`,
`shoal.algorithms` and so on. All of it is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from shoal.version import __version__

_FOUND_IN = {
    "api": (
        "anonymize", "apply", "ask", "attack", "balance", "columns", "compare", "dependencies", "detect", "diagnose",
        "evaluate", "query", "read", "run", "save_recoding", "sql", "suda", "verification_sql", "verify",
    ),
    "core.classes": ("Classes",),
    "core.dataset": ("Dataset",),
    "core.finding": ("Finding", "Findings"),
    "core.hierarchy": ("Hierarchy",),
    "core.intervals": ("intervals",),
    "core.policy": ("Policy",),
    "core.pseudonyms": ("Pseudonyms",),
    "core.release": ("Release",),
    "core.run": ("Run",),
    "core.schema": ("Schema",),
    "estimator": ("Anonymizer",),
    "ledger": ("Ledger",),
    "models": ("DistinctLDiversity", "EntropyLDiversity", "FrequencyLDiversity", "KAnonymity", "TCloseness"),
    "publishing.signing": ("PublicKey", "SigningKey"),
    "reports": ("Report", "codebook", "report"),
    "tradeoff.balance": ("Balance",),
    "utility.comparison": ("Comparison",),
}  # fmt: skip
_HOME = {name: module for module, names in _FOUND_IN.items() for name in names}
_MODULES = (
    "algorithms", "attacks", "distances", "errors", "forms", "hierarchies", "job", "learners", "metrics", "models",
    "perturbation", "samples",
)  # fmt: skip
"""What editors offer beside these names; every other module can be reached in the same way."""

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"shoal.{_HOME[name]}"), name)
    if name.startswith("_"):  # asked for by tools that look at every module, and meant by nobody
        raise AttributeError(f"shoal has no {name!r}")
    if find_spec(f"shoal.{name}") is not None:
        return import_module(f"shoal.{name}")
    from shoal.errors import alternatives

    raise AttributeError(f"shoal has no {name!r}; {alternatives(name, sorted(_HOME))}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
