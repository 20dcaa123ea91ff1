"""Rows that stand group by group: those that meet a condition, and what the groups that they are in let expect."""

import numpy as np

from shoal.kernels.compilation import kernel


@kernel
def rows_between(rows, leaves, low, high):
    """Those of some rows, in their order, whose leaf lies between two."""
    kept, count = np.empty(len(rows) + 1, np.int32), 0
    for at in range(len(rows)):  # without a branch: which rows are kept is hard to foresee
        leaf = leaves[rows[at]]
        kept[count] = rows[at]
        count += (leaf >= low) & (leaf <= high)
    return kept[:count].copy()


@kernel
def histogram_of_groups(rows, groups, weights, sizes, starts, leaves, counts, values):
    """How many records have each of `values` leaves, of which each group has what is published of it, from its start to
    that of the next one, as far as its records are some rows; these stand group by group."""
    histogram = np.zeros(values)
    at = 0
    while at < len(rows):
        group, met = groups[rows[at]], 0.0
        while at < len(rows) and groups[rows[at]] == group:
            met += weights[rows[at]]
            at += 1
        if group < len(starts) - 1:
            share = met / max(sizes[group], 1.0)
            for place in range(starts[group], starts[group + 1]):
                histogram[leaves[place]] += counts[place] * share
    return histogram
