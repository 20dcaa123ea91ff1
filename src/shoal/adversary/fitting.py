"""Fitting: who can be in which published class, by the ranges of leaves that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.core.run import Run

BLOCK = 1 << 22
"""Pairs of people and classes that are handed over together."""
PORTION = 1 << 14
"""People after whom a run is asked whether it was stopped."""

Places = NDArray[np.int64]


def pairs(low: Codes, high: Codes, people: Codes, run: Run | None = None) -> Iterator[tuple[Places, Places]]:
    """Every pair of a person and a class whose ranges hold the person, person by person and classes in their order.

    `low` and `high` have the ranges of a class in each attribute, `people` the leaf of a person there; a negative one
    is not known, and every range holds it.

    Example:
        >>> low, high = np.array([[0, 2]], np.int32), np.array([[2, 3]], np.int32)
        >>> [(who.tolist(), where.tolist()) for who, where in pairs(low, high, np.array([[1, 2, 9]], np.int32))]
        [([0, 1, 1], [0, 0, 1])]
    """
    from shoal.kernels import fitting as kernel

    run = run or Run()
    tree = kernel.tree_of(np.ascontiguousarray(low, np.int32), np.ascontiguousarray(high, np.int32))
    people = np.ascontiguousarray(people, np.int32)
    count = people.shape[1]
    counts, nothing = np.zeros(count, np.int64), np.zeros(0, np.int64)
    for begin in range(0, count, PORTION):
        kernel.holding_boxes(tree, people, begin, min(begin + PORTION, count), counts, nothing, run.flag)
        run.check()
    totals = np.cumsum(counts)
    edges = [0, *(np.flatnonzero(np.diff(totals // BLOCK)) + 1).tolist(), count]
    for begin, end in pairwise(edges):
        here = counts[begin:end]
        starts = np.zeros(count, np.int64)
        starts[begin:end] = np.cumsum(here) - here
        boxes = np.empty(int(here.sum()), np.int64)
        if not len(boxes):
            continue
        kernel.holding_boxes(tree, people, begin, end, starts, boxes, run.flag)
        run.check()
        persons = np.repeat(np.arange(begin, end), here)
        order = np.lexsort((boxes, persons))
        yield persons, boxes[order]
