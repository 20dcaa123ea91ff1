"""Learners by name: Shoal's own by their files, and scikit-learn's classifiers by their paths."""

from __future__ import annotations

import inspect
from ast import literal_eval
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from shoal.errors import MissingExtraError, ParameterError, alternatives
from shoal.job.plugins import parse_spec
from shoal.lazy import modules
from shoal.utility.learning import Estimated, Learner

DEFAULT = "decision-stump"


def learner_names() -> list[str]:
    """The learners that Shoal brings.

    Example:
        >>> learner_names()
        ['c45', 'decision-stump', 'naive-bayes']
    """
    return sorted(modules("shoal.learners"))


def learner(spec: Any) -> tuple[str, Learner]:
    """A learner with its name: from Shoal's (`c45`, `naive-bayes:…`), a classifier of scikit-learn by its path
    (`sklearn.linear_model.LogisticRegression:C=0.1`), or an object that is one or the other.

    Example:
        >>> learner("c45:smallest=5")[1].smallest
        5
    """
    if isinstance(spec, Learner):
        return type(spec).__name__, spec
    if not isinstance(spec, str):
        if not (hasattr(spec, "fit") and hasattr(spec, "predict") and hasattr(spec, "get_params")):
            raise ParameterError(
                f"{type(spec).__name__} is not a learner; give a classifier such as those of scikit-learn"
            )
        return type(spec).__name__, Estimated(spec)
    name, values = parse_spec(spec)
    settings = {key: _value(value) for key, value in values.items()}
    if name in learner_names():
        module = import_module(modules("shoal.learners")[name])
        own = [each for _, each in inspect.getmembers(module, inspect.isclass) if each.__module__ == module.__name__]
        return name, _build(next(each for each in own if issubclass(each, Learner)), name, settings)
    if not name.startswith("sklearn."):
        there = alternatives(name, learner_names(), "Shoal has")
        raise ParameterError(
            f"there is no such learner; {there}, or give a path such as sklearn.tree.DecisionTreeClassifier"
        )
    if find_spec("sklearn") is None:
        raise MissingExtraError("a learner of scikit-learn", "learn")
    path, _, class_name = name.rpartition(".")
    try:
        kind = getattr(import_module(path), class_name)
    except (ImportError, AttributeError):
        raise ParameterError("scikit-learn has no such classifier; give its path, such as sklearn.svm.SVC") from None
    from sklearn.base import is_classifier

    estimator = _build(kind, class_name, settings)
    if not is_classifier(estimator):
        raise ParameterError(f"{class_name} is not a classifier")
    return class_name, Estimated(estimator)


def _build(kind: Any, name: str, settings: dict[str, Any]) -> Any:
    try:
        return kind(**settings)
    except TypeError:
        raise ParameterError(f"{name} has no such parameters") from None


def _value(text: Any) -> Any:
    """A number, yes or no as what it is, else text."""
    try:
        return literal_eval({"true": "True", "false": "False", "none": "None"}.get(text, text))
    except (ValueError, SyntaxError):
        return text
