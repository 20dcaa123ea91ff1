"""The least cost of hiding cells, by integer programming."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.suppression._patterns import Assigned, Patterns
from shoal.core.run import Run
from shoal.errors import MissingExtraError, ParameterError

MOST_CHOICES = 20_000
"""Tuples times patterns that help them, up to which the least cost is found."""


def optimal(patterns: Patterns, hidden: Sequence[NDArray[np.bool_]], least: int, run: Run) -> Assigned:
    """The groups of all records, in the order of their tuples, that cost least when each has so many records.

    Whole numbers say how many records of a tuple are hidden by a pattern, and a switch whether the group of those that
    read alike is there; if it is, it has enough records.
    """
    if not hidden[-1][np.isfinite(patterns.weights)].all():
        raise ParameterError(
            "exact: there are too many quasi-identifiers to look at every set of them; leave exact out"
        )
    tuples, groups, masks = _choices(patterns, hidden, least)
    if len(tuples) > MOST_CHOICES:
        raise ParameterError(
            f"exact: there are {len(tuples):,} choices, and the least cost is found up to {MOST_CHOICES:,}; leave "
            "exact out, or take fewer records or quasi-identifiers"
        )
    run.report(0.1, "solving an integer program")
    counts = _solution(patterns, tuples, groups, masks, least)
    order = np.lexsort((groups, tuples))
    owners = np.repeat(groups[order], counts[order]).astype(np.int32)
    return Assigned(owners, masks)


def _choices(
    patterns: Patterns, hidden: Sequence[NDArray[np.bool_]], least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Which tuple can be in which group, and the columns that each group hides."""
    everybody = np.arange(len(patterns.sizes))
    tuples, groups, masks, count = [], [], [], 0
    for mask in hidden:
        alike = patterns.alike(mask, everybody)
        enough = alike.counts >= least
        here = np.flatnonzero(enough[alike.index])
        tuples.append(here)
        groups.append((np.cumsum(enough) - 1)[alike.index[here]] + count)
        masks.append(np.repeat(mask[:, None], int(enough.sum()), axis=1))
        count += int(enough.sum())
    return np.concatenate(tuples), np.concatenate(groups), np.concatenate(masks, axis=1)


def _solution(
    patterns: Patterns,
    tuples: NDArray[np.int64],
    groups: NDArray[np.int64],
    masks: NDArray[np.bool_],
    least: int,
) -> NDArray[np.int64]:
    """How many records of each choice's tuple are in its group."""
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array, hstack
    except ImportError:
        raise MissingExtraError("exact cell suppression", "exact") from None
    choices, count, sizes = len(tuples), masks.shape[1], patterns.sizes
    places = np.arange(choices)
    of_tuple = coo_array((np.ones(choices), (tuples, places)), shape=(len(sizes), choices))
    of_group = coo_array((np.ones(choices), (groups, places)), shape=(count, choices))
    switch = coo_array((-sizes[tuples].astype(np.float64), (places, groups)), shape=(choices, count))
    enough = coo_array((np.full(count, -float(least)), (np.arange(count), np.arange(count))), shape=(count, count))
    nothing = coo_array((len(sizes), count))
    each = coo_array((np.ones(choices), (places, places)), shape=(choices, choices))
    solution = milp(
        np.append(patterns.cost(masks)[groups], np.zeros(count)),
        constraints=[
            LinearConstraint(hstack([of_tuple, nothing]).tocsr(), sizes, sizes),
            LinearConstraint(hstack([of_group, enough]).tocsr(), 0, np.inf),
            LinearConstraint(hstack([each, switch]).tocsr(), -np.inf, 0),
        ],
        integrality=np.ones(choices + count),
        bounds=Bounds(0, np.append(sizes[tuples], np.ones(count))),
        options={"mip_rel_gap": 0.0},
    )
    if solution.x is None:
        raise ParameterError("exact: the integer program was not solved; leave exact out")
    counts: NDArray[np.int64] = np.rint(solution.x[:choices]).astype(np.int64)
    return counts
