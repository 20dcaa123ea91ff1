"""What a generalized value costs: the one notion of loss that metrics and searches share."""

from __future__ import annotations

import numpy as np

from shoal.core.dataset import Dataset
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.recoding import ByLevel
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
    low, high = release.ranges
    sizes = np.array([hierarchy.size for hierarchy in dataset.hierarchies], dtype=np.float64)
    totals: Floats = ((high - low + 1) / sizes[:, None]) @ release.classes.sizes + float(release.suppressed)
    return totals


def published_levels(release: Release) -> Floats:
    """For each quasi-identifier and class, the level at which it is published.

    In a full-domain release that is the level chosen; else the lowest one at which the published range is one value.
    """
    if isinstance(release.recoding, ByLevel):
        levels = np.array(release.recoding.levels, dtype=np.float64)
        return np.repeat(levels[:, None], len(release.classes), axis=1)
    found = []
    for name, low, high in zip(release.schema.quasi, *release.ranges, strict=True):
        hierarchy = release.schema[name].hierarchy
        assert hierarchy is not None
        found.append(hierarchy.ancestor_levels(low, high).astype(np.float64))
    return np.stack(found)


def penalties(dataset: Dataset, release: Release) -> Floats:
    """The summed penalty of each quasi-identifier of a release, left-out records included."""
    low, high = release.ranges
    sizes = release.classes.sizes
    totals = np.empty(len(dataset.hierarchies))
    for position, (hierarchy, keys) in enumerate(zip(dataset.hierarchies, dataset.summary.keys, strict=True)):
        lengths = release.lengths(hierarchy.column) if hierarchy.ordered else None
        costs = penalty(hierarchy, low[position], high[position], int(keys.min()), int(keys.max()), lengths)
        totals[position] = float((costs * sizes).sum()) + release.suppressed
    return totals
