"""Eligibility: whether a table can be cut into classes of l different sensitive values, and what has to go if not."""

from __future__ import annotations

import numpy as np

from shoal.core.classes import Histogram
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.grouping import Counts
from shoal.core.policy import Policy
from shoal.core.schema import Kind
from shoal.core.sensitive import SensitiveModel
from shoal.errors import InfeasibleError, ParameterError, SchemaError


def check_one_sensitive(dataset: Dataset, who: str) -> None:
    """Raises unless the schema names one sensitive attribute."""
    if len(dataset.schema.sensitive) != 1:
        raise SchemaError(f"{who} takes one sensitive attribute; the schema names {len(dataset.schema.sensitive)}")


def check_no_identity(policy: Policy, who: str) -> None:
    """Raises where a model is about finding people, which publishing quasi-identifiers as they are cannot keep."""
    identity = [type(model).__name__ for model in policy.models if model.identity]
    if identity:
        raise ParameterError(
            f"{who} publishes quasi-identifiers as they are, so {identity[0]} cannot hold; ask for a model of "
            "sensitive values, such as frequency-l-diversity"
        )


def as_categories(dataset: Dataset) -> dict[str, str]:
    """A fact to tell where the sensitive attribute is numeric: close numbers count as different."""
    (name,) = dataset.schema.sensitive
    numeric = dataset.schema[name].kind == Kind.NUMERIC
    return {"sensitive-numbers": "taken as categories, each a value of its own"} if numeric else {}


def wanted_variety(policy: Policy, histogram: Histogram | None = None) -> int:
    """How many different sensitive values every class has that satisfies the policy; more is known of that where a
    histogram of the table says how frequent they are."""
    return max((_variety(model, histogram) for model in policy.models), default=1)


def _variety(model: Model, histogram: Histogram | None) -> int:
    if histogram is None or not isinstance(model, SensitiveModel):
        return model.variety
    return model.variety_among(histogram)


def kept_counts(counts: Counts, l: int) -> Counts:  # noqa: E741
    """How many records of each value can stay so that none is more frequent than 1/l: the most that can, in all.

    Every value is cut to a cap t with t·l ≤ Σ min(count, t). A larger cap keeps more, so the largest one is taken.

    Example:
        >>> kept_counts(np.array([7, 2, 1]), 2).tolist(), kept_counts(np.array([7, 2, 1]), 4).tolist()
        ([3, 2, 1], [0, 0, 0])
    """
    best = np.zeros_like(counts)
    low, high = 1, int(counts.max(initial=0))
    while low <= high:
        cap = (low + high) // 2
        cut = np.minimum(counts, cap)
        if cap * l <= int(cut.sum()):
            best, low = cut, cap + 1
        else:
            high = cap - 1
    return best


def eligible_counts(counts: Counts, l: int, budget: int) -> Counts:  # noqa: E741
    """What `kept_counts` keeps; raises at once when more would have to go than the budget allows.

    Only values that are too frequent lose records, so how many of each go tells which these are: callers publish the
    total alone.
    """
    eligible, records = kept_counts(counts, l), int(counts.sum())
    lacking, values = records - int(eligible.sum()), int(np.count_nonzero(counts))
    attempt = {"least": l, "lacking": lacking}
    if not eligible.any():
        raise InfeasibleError(f"{l} different sensitive values are wanted together and the table has {values}", attempt)
    if lacking > budget:
        raise InfeasibleError(
            f"a sensitive value makes up more than 1/{l} of the {records:,} records; leaving out {lacking:,} of them "
            f"would mend that, and {budget:,} may be; allow more suppression or ask for less",
            attempt,
        )
    return eligible
