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

ONE_BY_ONE, PAIR, SORTED = 1e4, 2.5e5, 150.0
"""What a look at a class takes, at a pair of sets of unknown columns, and at a class for each such set, where comparing
two classes takes 1: classes are compared one by one, or set by set, whichever takes less."""


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
    partial = np.flatnonzero(unknown.any(axis=0))
    patterns = group(list(unknown.astype(np.int32)), [2] * len(unknown), index=True)
    count, classes = patterns.keys.shape[1], keys.shape[1]
    if len(partial) * (ONE_BY_ONE + classes) < count * (PAIR * count + SORTED * classes):
        return _one_by_one(keys, unknown, partial, sums, alpha)
    rows = [np.flatnonzero(patterns.index == place) for place in range(count)]
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


def _one_by_one(
    keys: Codes, unknown: NDArray[np.bool_], partial: NDArray[np.int64], sums: list[Floats], alpha: float
) -> list[Floats]:
    """The sums by comparing each class with unknown values with all others: those that have a value, or do not tell it,
    are bits."""
    amounts = [total.copy() for total in sums]
    complete = ~unknown.any(axis=0)
    having: dict[tuple[int, int], NDArray[np.uint8]] = {}
    for place in partial.tolist():
        bits = np.packbits(np.ones(keys.shape[1], np.bool_))
        for column in np.flatnonzero(~unknown[:, place]).tolist():
            value = int(keys[column, place])
            if (column, value) not in having:
                having[column, value] = np.packbits((keys[column] == value) | unknown[column])
            bits &= having[column, value]
        matches = np.unpackbits(bits, count=keys.shape[1]).view(np.bool_)
        matches[place] = False
        for total, amount in zip(sums, amounts, strict=True):
            total[matches] += alpha * amount[place]
            total[place] += amount[matches & complete].sum()
    return sums
