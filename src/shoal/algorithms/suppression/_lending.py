"""Lending: records of groups that have more than they need let others open a group that hides less."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.suppression._patterns import Assigned, Patterns
from shoal.core.grouping import Codes, Counts, group
from shoal.core.hierarchy import Floats
from shoal.core.run import Run

MOST_LOOKS = 1 << 24
"""Records times patterns that are tried, the cheapest patterns first."""

GAIN = 1e-9
"""What a group has to save to be opened; less is rounding."""


def lent(
    patterns: Patterns, hidden: Sequence[NDArray[np.bool_]], tuples: Codes, assigned: Assigned, least: int, run: Run
) -> Assigned:
    """The groups of records when every group that saves something was opened: its records pay less than before, or were
    to spare where they were and pay for one column more at most.

    `tuples` has the tuple of each record. Groups need nothing but a size.
    """
    owners, masks = assigned.owners.copy(), [assigned.hidden]
    hidden = hidden[: MOST_LOOKS // max(len(owners), 1)]
    dearest = float(patterns.weights[np.isfinite(patterns.weights)].max(initial=0.0))
    paid = patterns.cost(assigned.hidden)[owners]
    sizes = np.bincount(owners, minlength=assigned.hidden.shape[1])
    for place, mask in enumerate(hidden[1:]):
        run.report(place / len(hidden), "lending records")
        price = float(patterns.cost(mask[:, None])[0])
        surplus = np.where(sizes < least, sizes, sizes - least)  # who has too few records may lose them all
        free = np.flatnonzero((surplus[owners] > 0) & (paid >= price - dearest))
        gains = paid[free] - price
        if not np.any(gains > 0):
            continue
        movers, numbers = _opened(patterns.keys[~mask][:, tuples[free]], gains, owners[free], surplus, least)
        if not len(movers):
            continue
        movers, opened = free[movers], int(numbers.max()) + 1
        sizes = np.append(sizes - np.bincount(owners[movers], minlength=len(sizes)), np.bincount(numbers))
        owners[movers] = numbers + len(sizes) - opened
        paid[movers] = price
        masks.append(np.repeat(mask[:, None], opened, axis=1))
    return Assigned(owners, np.concatenate(masks, axis=1))


def _opened(shown: Codes, gains: Floats, owners: Codes, surplus: Counts, least: int) -> tuple[NDArray[np.int64], Codes]:
    """Which records form new groups of those that read alike, and the number of each one's group; no group loses more
    records than it has to spare."""
    index = group(list(shown), index=True).index if len(shown) else np.zeros(len(gains), np.int32)
    sums = np.bincount(index, weights=np.maximum(gains, 0))
    rows = np.flatnonzero((sums > 0)[index] & (np.bincount(index) >= least)[index])
    # The groups that save most choose first; in each, whoever gains most, until there are enough.
    rows = rows[np.lexsort((-gains[rows], index[rows], -sums[index[rows]]))]
    rows = rows[(gains[rows] > 0) | (_ranks(index[rows]) < least)]
    chosen = rows[np.argsort(owners[rows], kind="stable")]
    chosen = chosen[_ranks(owners[chosen]) < surplus[owners[chosen]]]
    totals = np.bincount(index[chosen], weights=gains[chosen], minlength=len(sums))
    opens = (totals > GAIN) & (np.bincount(index[chosen], minlength=len(sums)) >= least)
    chosen = chosen[opens[index[chosen]]]
    return chosen, (np.cumsum(opens) - 1).astype(np.int32)[index[chosen]]


def _ranks(numbers: Codes) -> Counts:
    """The place of each entry among the equal ones, which stand together."""
    firsts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))[: len(numbers)]
    return np.arange(len(numbers)) - np.repeat(firsts, np.diff(np.append(firsts, len(numbers))))
