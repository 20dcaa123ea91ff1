"""Fitting: who can be in which published class, by the ranges of leaves that it shows."""

from __future__ import annotations

from collections.abc import Iterator

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
    counts, boxes = np.zeros(count, np.int64), np.empty(2 * BLOCK, np.int64)
    first = done = used = total = 0  # People handed over and looked at; pairs that wait, and pairs in all.
    while done < count:
        begin, last = done, min(done + PORTION, count)
        done, used = kernel.holding_boxes(tree, people, begin, last, counts, boxes, used, run.flag)
        run.check()
        totals = total + np.cumsum(np.concatenate([[0], counts[begin:done]]))
        total = int(totals[-1])
        # A block ends before the person with whom there are as many pairs as fill another one.
        edges = (begin + np.flatnonzero(np.diff(totals // BLOCK))).tolist()
        if done < last and not edges:
            boxes = np.concatenate([boxes, np.empty_like(boxes)])
        for edge in [*edges, count] if done == count else edges:
            here = counts[first:edge]
            taken = int(here.sum())
            if taken:
                persons = np.repeat(np.arange(first, edge), here)
                yield persons, boxes[:taken][np.lexsort((boxes[:taken], persons))]
                boxes[: used - taken] = boxes[taken:used].copy()
            first, used = edge, used - taken
