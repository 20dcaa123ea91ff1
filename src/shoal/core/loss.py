"""What a generalized value costs: the notions of loss that metrics and searches share, each defined once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy

HUGE = 2.0**900
"""Numbers above it are scaled down before they are added or subtracted, which changes no share of a range."""


def quantities(hierarchy: Hierarchy) -> Floats:
    """The values of the leaves on a scale on which sums and differences of them are finite; 0 where there are none."""
    if hierarchy.values is None:
        return np.zeros(hierarchy.size)
    values = np.asarray(hierarchy.values, dtype=np.float64)
    return values / HUGE if np.nanmax(np.abs(values), initial=0.0) > HUGE else values


def coverage(hierarchy: Hierarchy, low: Codes, high: Codes) -> Floats:
    """The share of the domain's leaves that ranges cover."""
    shares: Floats = (high - low + 1) / hierarchy.size
    return shares


def width(hierarchy: Hierarchy, low: Codes, high: Codes) -> Floats:
    """The share of the domain's leaves that ranges cover; a single leaf costs nothing."""
    return np.where(low == high, 0.0, coverage(hierarchy, low, high))


def penalty(
    hierarchy: Hierarchy, low: Codes, high: Codes, least: int, greatest: int, lengths: Floats | None = None
) -> Floats:
    """The normalized certainty penalty (NCP) of ranges of leaves.

    Numeric: the length of the published interval over the length of the table's range, where `least` and
    `greatest` are the table's extreme leaves and `lengths` those of the published intervals, where they are known.
    Otherwise the share of leaves that the range covers. A single leaf costs nothing; a range that hides whether the
    value is missing costs everything.
    """
    if not hierarchy.ordered:
        return width(hierarchy, low, high)
    values = quantities(hierarchy)
    whole = float(values[greatest] - values[min(max(least, int(hierarchy.missing)), greatest)])
    if values is not hierarchy.values:
        # Lengths of intervals between such numbers may be infinite.
        lengths = values[high] - values[low]
    elif lengths is None:
        lengths = hierarchy.extent(low, high)
    costs = np.clip(lengths / whole, 0.0, 1.0) if whole > 0 else np.zeros(len(low))
    costs[hierarchy.spans_missing(low, high)] = 1.0
    return np.where(low == high, 0.0, costs)


def misclassification(
    hierarchy: Hierarchy, low: Codes, high: Codes, least: int, greatest: int, lengths: Floats | None = None
) -> Floats:
    """What the loss metric LM charges for ranges of leaves: numbers as NCP does, others the share of the other leaves
    that the range covers."""
    if hierarchy.ordered:
        return penalty(hierarchy, low, high, least, greatest, lengths)
    shares: Floats = (high - low) / max(hierarchy.size - 1, 1)
    return shares


def by_level(hierarchy: Hierarchy, measure: Callable[[Hierarchy, Codes, Codes], Floats]) -> Floats:
    """What each leaf costs when it is published at each level: one row a level."""
    nodes = zip(hierarchy.starts, hierarchy.stops, hierarchy.codes, strict=True)
    return np.stack([measure(hierarchy, starts, stops)[codes] for starts, stops, codes in nodes])


def climb(hierarchy: Hierarchy, beta: float) -> Floats:
    """What the weighted hierarchical distance charges for each level: the step from level i of H to the next one weighs
    1/(H - i)^beta, and a level costs the weights of the steps up to it over those of all."""
    weights = 1.0 / np.arange(hierarchy.height, 0, -1) ** beta
    climbed: Floats = np.append(0.0, np.cumsum(weights)) / weights.sum()
    return climbed
