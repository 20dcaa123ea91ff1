"""Counting with wildcards: a missing or hidden value may stand for any value, so that its record fits several classes.

The strict count takes such a value for one of its own, which is what models promise about; the two are never mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Floats


def wildcard_sums(
    keys: Codes, unknown: NDArray[np.bool_], amounts: Sequence[NDArray[Any]], alpha: float = 1.0
) -> list[Floats]:
    """For each class, the sums of `amounts` over all classes that can be the same.

    Class `c` has the codes `keys[:, c]`, of which some are `unknown`. Two classes can be the same when they agree
    wherever both are known. What rests on an unknown value of the other class counts `alpha`; a class counts itself in
    full.

    Example:
        >>> keys, unknown = np.array([[1, 1, 2], [1, 0, 1]]), np.array([[False] * 3, [False, True, False]])
        >>> wildcard_sums(keys, unknown, [np.array([3, 1, 2])], 0.5)[0].tolist()
        [3.5, 4.0, 2.0]
    """
    sums = [np.array(amount, np.float64) for amount in amounts]
    patterns = group(list(unknown.astype(np.int32)), [2] * len(unknown), index=True)
    rows = [np.flatnonzero(patterns.index == place) for place in range(patterns.keys.shape[1])]
    for place, here in enumerate(rows):
        for other, there in enumerate(rows):
            if place == other:  # with the same columns unknown, classes that agree are one
                continue
            share = alpha if patterns.keys[:, other].any() else 1.0
            common = np.flatnonzero(~patterns.keys[:, [place, other]].any(axis=1))
            for total, amount in zip(sums, amounts, strict=True):
                total[here] += share * _matching(keys[common], here, there, np.asarray(amount, np.float64))
    return sums


def _matching(keys: Codes, here: NDArray[np.int64], there: NDArray[np.int64], amount: Floats) -> Floats | float:
    """For each of some classes, the sum over those of the others that have the same keys."""
    if not len(keys):
        return float(amount[there].sum())
    both = np.concatenate([here, there])
    tuples = group([column[both] for column in keys], index=True)
    totals = np.bincount(tuples.index[len(here) :], amount[there], minlength=len(tuples.counts))
    return np.asarray(totals[tuples.index[: len(here)]], np.float64)
