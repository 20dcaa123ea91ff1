"""Shoal: privacy diagnosis and preservation in data publishing."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_VERBS = (
    "read", "diagnose", "ask", "sql", "detect", "dependencies", "anonymize", "compare", "save_recoding", "apply",
    "evaluate", "columns", "attack", "query", "balance", "verify", "verification_sql",
)  # fmt: skip
_OTHERS = {
    "intervals": "core.intervals", "Anonymizer": "estimator", "C45": "learners.c45", "Ledger": "ledger",
    "DecisionStump": "learners.decision_stump", "NaiveBayes": "learners.naive_bayes", "report": "reports",
    "Report": "reports",
}  # fmt: skip
_MODULES = {"samples": "samples", "errors": "errors", "distances": "distances", "noise": "core.noise"}
_NOUNS = {
    "Hierarchy": "hierarchy", "Dataset": "dataset", "Classes": "classes", "Policy": "policy", "Release": "release",
    "Comparison": "comparison", "Balance": "balance",
    "Finding": "finding", "Findings": "finding", "Schema": "schema", "Pseudonyms": "pseudonyms", "Run": "run",
    "SigningKey": "signing", "PublicKey": "signing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Verbs, nouns and plug-ins, imported when they are first used."""
    from importlib import import_module

    if name in _VERBS:
        return getattr(import_module("shoal.api"), name)
    if name in _MODULES:
        return import_module(f"shoal.{_MODULES[name]}")
    if name in _OTHERS:
        return getattr(import_module(f"shoal.{_OTHERS[name]}"), name)
    if name in _NOUNS:
        return getattr(import_module(f"shoal.core.{_NOUNS[name]}"), name)
    if name[:1].isupper():
        from shoal import registry

        found = registry.by_class_name(name)
        if found is not None:
            return found
        from shoal.errors import alternatives

        raise AttributeError(f"shoal has no {name!r}; {alternatives(name, registry.class_names())}")
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    from shoal import registry

    return sorted([*_VERBS, *_MODULES, *_OTHERS, *_NOUNS, *registry.class_names(), "__version__"])
