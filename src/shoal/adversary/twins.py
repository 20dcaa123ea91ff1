"""Twins: sensitive values that occur equally often in every class of a release."""

from __future__ import annotations

import numpy as np

from shoal.core.grouping import Codes, Counts


def twins(classes: Codes, values: Codes, counts: Counts, size: int) -> Counts:
    """For each of so many values, how many values occur exactly as often in each class, itself included; 0 for one that
    does not occur. Entry `i` says that `values[i]` occurs `counts[i]` times in `classes[i]`; no pair has two entries.

    Example:
        >>> classes, values = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
        >>> twins(classes, values, np.array([1, 1, 1, 2, 2]), 4).tolist()
        [2, 2, 1, 0]
    """
    order = np.lexsort([classes, values])
    entries = np.stack([classes[order], counts[order]], axis=1).astype(np.int64)
    starts = np.searchsorted(values[order], np.arange(size + 1))
    blocks: dict[bytes, list[int]] = {}
    for value in np.flatnonzero(np.diff(starts)).tolist():
        blocks.setdefault(entries[starts[value] : starts[value + 1]].tobytes(), []).append(value)
    sizes = np.zeros(size, np.int64)
    for block in blocks.values():
        sizes[block] = len(block)
    return sizes
