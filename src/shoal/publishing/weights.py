"""Survey weights as they are published: one for all records of a class, so that they tell nobody apart.

Every published combination of quasi-identifiers keeps its weighted count, and so do all margins; what a record weighed
is not told.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.core.contracts.table import Sheet, SheetColumn
from shoal.core.dataset import Dataset
from shoal.core.formatting import counted
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats
from shoal.core.recoding import ClassWeights, Recoding
from shoal.core.release import Release
from shoal.core.schema import Schema
from shoal.errors import ParameterError, VerificationError
from shoal.parsing.labels import number
from shoal.publishing.decision import decided_groups

USAGE = "published weights are written means or scaled, with what they are rounded to: scaled:10"


def with_weights(data: Dataset, recoding: Recoding, wanted: str | None, seed: int) -> Recoding:
    """A recoding that also publishes the weights, as they are `wanted`: the `means` of the classes, or these `scaled`
    to add up to the weights of the whole table though records are left out; `:10` rounds to multiples of 10."""
    if wanted is None:
        return recoding
    how, colon, rounding = wanted.partition(":")
    base = number(rounding) if colon else 0.0
    if how not in ("means", "scaled") or not np.isfinite(base) or base < 0 or (colon and base == 0):
        raise ParameterError(USAGE)
    if data.schema.weight is None:
        raise ParameterError("there are no weights to publish; name their column with weight (--weight COLUMN)")
    if recoding.plan is None or recoding.form != "generalized":
        raise ParameterError("weights are published with generalized tables only; choose another algorithm")
    plan = recoding.plan
    # Classes that are published alike are one to whoever reads them.
    placement = plan.placement
    classes = decided_groups(data, plan, placement, int(placement.max(initial=-1)) + 1, seed)
    population = classes.population
    assert population is not None
    alone = int(np.sum(classes.headcounts == 1))
    if alone:
        raise ParameterError(
            f"{counted(alone, 'classes')} of the release {'has' if alone == 1 else 'have'} one person only, whose own "
            "weight would be published; ask for k-anonymity with k of at least 2, or leave the weights out"
        )
    means = population / np.maximum(classes.sizes, 1)
    if how == "scaled":
        whole = data.summary.population
        assert whole is not None and data.summary.weights is not None
        everybody = whole.sum() if data.summary.people is None else data.summary.weights.sum()
        means *= float(everybody) / max(float(means @ classes.sizes), 1e-300)
    if base:
        means = _rounded(means, classes.sizes, base)
    decided = np.where(placement >= 0, means[placement], 0.0)
    return replace(recoding, weights=ClassWeights(decided, how == "scaled", base))


def _rounded(means: Floats, sizes: Counts, base: float) -> Floats:
    """Multiples of the base just above or below each mean, so that the sum over all records changes little.

    Example:
        >>> _rounded(np.array([12.0, 17.0, 16.0]), np.array([2, 1, 3]), 10.0).tolist()
        [10.0, 20.0, 20.0]
    """
    rounded = np.maximum(np.floor(means / base), 1) * base
    order = np.argsort(rounded - means, kind="stable")
    steps = sizes[order] * base
    raised = np.cumsum(steps) - steps / 2 <= (means - rounded) @ sizes
    rounded[order[raised]] += base
    return np.asarray(rounded, np.float64)


def with_weight_column(sheets: tuple[Sheet, ...], schema: Schema, recoding: Recoding) -> tuple[Sheet, ...]:
    """The sheets with the weights in the main one, where the recoding publishes them."""
    if recoding.weights is None or schema.weight is None:
        return sheets
    first, *others = sheets
    shown = [*first.columns, SheetColumn(name=schema.weight, what="weight")]
    shown.sort(key=lambda column: schema.names.index(column.name))
    return (replace(first, columns=tuple(shown)), *others)


def check_weight_column(release: Release, recoding: Recoding) -> None:
    """Raises unless every published class has the one weight that was decided on."""
    name, plan = release.schema.weight, recoding.plan
    if recoding.weights is None or name is None or plan is None:
        return
    quasi = release.schema.quasi
    rows, people = release.published.group((*quasi, name), ()), release.view.people()
    shown = np.array([np.nan if label is None else number(label) for label in release.published.labels(name)])
    decided = np.full(len(people), np.nan)
    placement = release.view.placement(recoding)
    decided[placement[placement >= 0]] = recoding.weights.values[placement >= 0]
    agree = len(rows) == len(people) and np.array_equal(rows.keys[:-1], people.keys)
    if not agree or not np.allclose(shown[rows.keys[-1]], decided, rtol=1e-9, atol=0):
        raise VerificationError(f"column {name!r}: the published weights are not those that were decided on")
