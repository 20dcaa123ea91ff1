"""What the experiments share that compare losses and times of algorithms."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import shoal
from shoal.core.hierarchy import Hierarchy
from shoal.core.loss import width

Measure = Callable[[shoal.Dataset, Any], float]
"""A loss that is no metric of Shoal's: of a release of a table."""


def compared(
    data: shoal.Dataset, algorithms: Mapping[str, str], models: Sequence[str], metrics: Sequence[str],
    more: Mapping[str, Measure] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What each algorithm loses under some models, and its seconds of the processor, by the name of the algorithm."""
    found = {}
    for name, algorithm in algorithms.items():
        began = time.process_time()
        release = shoal.anonymize(data, *models, algorithm=algorithm, seed=1)
        spent = time.process_time() - began
        scores = shoal.evaluate(data, release, *metrics)
        found[name] = {
            "seconds": spent,
            **{metric: scores[metric].value for metric in metrics},
            **{what: measure(data, release) for what, measure in (more or {}).items()},
        }
    return found


def own_gcp(data: shoal.Dataset, release: Any) -> float:
    """GCP by what the records of a class have, whatever is published of it: of a number its least and greatest value in
    the class, of a name its closest common ancestor. This is how the papers define it."""
    plan = release.recoding.plan
    tuples = np.repeat(np.arange(len(data.summary)), data.summary.sizes)
    owners = plan.owners if plan.by_record else plan.owners[tuples]
    total = 0.0
    for tree, keys in zip(data.hierarchies, data.summary.keys, strict=True):
        leaves = keys[tuples]
        low, high = np.full(plan.count, tree.size), np.full(plan.count, -1)
        np.minimum.at(low, owners, leaves)
        np.maximum.at(high, owners, leaves)
        if not tree.ordered:
            low, high = tree.widen(low.astype(np.int32), high.astype(np.int32))
        total += float(_penalties(tree, low, high, leaves)[owners].sum())
    return total / (len(owners) * len(data.hierarchies))


def clipped_gcp(data: shoal.Dataset, release: Any) -> float:
    """GCP by what is published, but the part of an interval that lies beyond the values of the table costs nothing."""
    cells, sizes = release.view.cells(), release.view.people().sizes
    total = 0.0
    for tree, keys, low, high in zip(data.hierarchies, data.summary.keys, cells.low, cells.high, strict=True):
        total += float((_penalties(tree, low, high, keys) * sizes).sum())
    return total / (int(sizes.sum()) * len(data.hierarchies))


def _penalties(tree: Hierarchy, low: Any, high: Any, leaves: Any) -> Any:
    """The normalized certainty penalty of ranges of leaves: of numbers, by the values at their ends, inside those that
    the table has."""
    if not tree.ordered or tree.values is None:
        return width(tree, low, high)
    least, greatest = tree.values[leaves.min()], tree.values[leaves.max()]
    ends = [np.clip(tree.values[side], least, greatest) for side in (low, high)]
    return (ends[1] - ends[0]) / (greatest - least)
