"""What a generalized value costs: the one notion of loss that metrics and searches share."""

from __future__ import annotations

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.release import Release


def penalty(
    hierarchy: Hierarchy, low: Codes, high: Codes, least: int, greatest: int, lengths: Floats | None = None
) -> Floats:
    """The normalized certainty penalty (NCP) of ranges of leaves.

    Numeric: the length of the published interval over the length of the table's range, where `least` and
    `greatest` are the table's extreme leaves and `lengths` those of the published intervals, where they are known.
    Otherwise the share of leaves that the range covers. A single leaf costs nothing; a range that hides whether the
    value is missing costs everything.
    """
    if hierarchy.ordered:
        first = max(least, int(hierarchy.missing))
        assert hierarchy.values is not None
        whole = float(hierarchy.values[greatest] - hierarchy.values[min(first, greatest)])
        lengths = hierarchy.extent(low, high) if lengths is None else lengths
        costs = np.clip(lengths / whole, 0.0, 1.0) if whole > 0 else np.zeros(len(low))
        costs[hierarchy.spans_missing(low, high)] = 1.0
    else:
        costs = (high - low + 1) / hierarchy.size
    return np.where(low == high, 0.0, costs)


def covered(dataset: Dataset, release: Release) -> Floats:
    """For each quasi-identifier, the share of its domain's leaves that its cells cover, summed; left out counts 1."""
    cells = release.view.cells()
    sizes = np.array([hierarchy.size for hierarchy in dataset.hierarchies], dtype=np.float64)
    covering = (cells.high - cells.low + 1) / sizes[:, None]
    totals: Floats = covering @ release.view.people().sizes + float(release.suppressed)
    return totals


def penalties(dataset: Dataset, release: Release) -> Floats:
    """The summed penalty of each quasi-identifier of a release, left-out records included."""
    cells, sizes = release.view.cells(), release.view.people().sizes
    totals = np.empty(len(dataset.hierarchies))
    for at, (hierarchy, keys) in enumerate(zip(dataset.hierarchies, dataset.summary.keys, strict=True)):
        low, high, lengths = cells.low[at], cells.high[at], cells.lengths[at]
        costs = penalty(hierarchy, low, high, int(keys.min()), int(keys.max()), lengths)
        totals[at] = float((costs * sizes).sum()) + release.suppressed
    return totals
