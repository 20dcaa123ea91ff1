"""Scoring nodes of the lattice by the cells' costs, and bounding what the nodes between two others can score."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Charges(NamedTuple):
    """What cells cost: by attribute and level their sum over the table, and, from `starts[a, j, i]` on, the greatest
    one at level `j` among the leaves of each value of level `i`."""

    totals: Any
    greatest: Any
    starts: Any


class Score(NamedTuple):
    """How sums of costs become a score; `charge` says what a record that is left out costs in each attribute: 0
    nothing, 1 one instead of its cell's cost, 2 the information that left-out values had.

    `shares[p, a]` of what attribute `a` adds counts in part `p`; the shares of an attribute sum to one. No release adds
    less in part `p` than `floors[p]`.
    """

    offsets: Any
    spans: Any
    weights: Any
    geometric: bool
    charge: int
    shares: Any
    floors: Any


@njit(cache=True, nogil=True)
def counted(levels, table, firsts, counts, rest, domain):
    """How often each value of a node's levels occurs when so many records of each class are counted, or all the others
    when `rest`; one attribute after another, each with room for its leaves. `firsts` has a distinct tuple of each
    class."""
    _, _, _, leaf_counts, leaf_starts, codes, code_starts, widths = domain
    found = np.zeros(leaf_counts.sum(), np.int64)
    rows = np.empty(len(levels), np.int64)
    for position in range(len(levels)):
        rows[position] = code_starts[position] + levels[position] * leaf_counts[position]
    for owner in range(len(counts)):
        if counts[owner]:
            first = firsts[owner]
            for position in range(len(levels)):
                found[leaf_starts[position] + codes[rows[position] + table.leaves[first, position]]] += counts[owner]
    if rest:
        for position in range(len(levels)):
            for value in range(widths[position, levels[position]]):
                at = leaf_starts[position] + value
                found[at] = table.whole[rows[position] + value] - found[at]
    return found


@njit(cache=True, nogil=True)
def greatest_costs(costs, heights, domain):
    """The greatest of the `costs`, which stand like the codes of a domain, at each level among the leaves of each value
    of each level from there up; where those of each pair of levels begin; and whether leaves with one value at a level
    always cost the same there."""
    _, _, _, leaf_counts, _, codes, code_starts, widths = domain
    starts = np.zeros((len(heights), widths.shape[1], widths.shape[1]), np.int64)
    room = 0
    for position in range(len(heights)):
        for level in range(heights[position] + 1):
            for above in range(level, heights[position] + 1):
                starts[position, level, above] = room
                room += widths[position, above]
    greatest = np.full(room, -np.inf)
    alike = True
    for position in range(len(heights)):
        leaves = leaf_counts[position]
        for level in range(heights[position] + 1):
            row = code_starts[position] + level * leaves
            for above in range(level, heights[position] + 1):
                values = code_starts[position] + above * leaves
                for leaf in range(leaves):
                    place = starts[position, level, above] + codes[values + leaf]
                    if above == level and greatest[place] > -np.inf and greatest[place] != costs[row + leaf]:
                        alike = False
                    greatest[place] = max(greatest[place], costs[row + leaf])
    return greatest, starts, alike


@njit(cache=True, nogil=True)
def _bits(counts, begin, width):
    """The information in bits, times their number, of values: Σ c·log2(s/c)."""
    whole = np.int64(0)
    for value in range(width):
        whole += counts[begin + value]
    total = 0.0
    for value in range(width):
        count = counts[begin + value]
        if count:
            total += count * np.log2(whole / count)
    return total


@njit(cache=True, nogil=True)
def bound(low, high, lost, charges, score, domain):
    """The least score of any node from `low` to `high` when in all of them records with such values of the levels of
    `high` are left out.

    A record that is left out costs one instead of its cell: it is not known which of the class's records that is, and
    the greatest cost of a cell that its value has at the low level is the least that this adds.

    Also the attribute in which the last step of the box costs most, and the bound of the part of the box in which
    that attribute is at its greatest level; -1 when the box is a single node. With `low` and `high` the same and
    nothing known of the parts this is the score itself.
    """
    totals, greatest, starts = charges
    offsets, spans, weights, geometric, charge, shares, floors = score
    leaf_starts, widths = domain.leaf_starts, domain.widths
    chosen, widest, step_up = -1, -1.0, 0.0
    sums = np.zeros(len(floors))
    for position in range(len(low)):
        begin, top = leaf_starts[position], high[position]
        width = widths[position, top]
        term_low, term_below, term_high = 0.0, 0.0, 0.0
        information = _bits(lost, begin, width) if charge == 2 else 0.0
        for which in range(3):
            level = low[position] if which == 0 else top - 2 + which
            if level < low[position]:
                continue
            if which == 2 and level == low[position]:
                term_high = term_low
                continue
            spent = totals[position, level] + information
            if charge == 1:
                costs = starts[position, level, top]
                for value in range(width):
                    if lost[begin + value]:
                        spent += lost[begin + value] * (1.0 - greatest[costs + value])
            term = 0.0
            if spans[position] > 0:
                term = max(0.0, (spent - offsets[position]) / spans[position])
            term = weights[position] * (np.log1p(term) if geometric else term)
            if which == 0:
                term_low = term
            elif which == 1:
                term_below = term
            else:
                term_high = term
        for part in range(len(floors)):
            sums[part] += shares[part, position] * term_low
        if top > low[position] and term_high - term_below > widest:
            chosen, widest, step_up = position, term_high - term_below, term_high - term_low
    least, upper = 0.0, 0.0
    for part in range(len(floors)):
        least += max(sums[part], floors[part])
        upper += max(sums[part] + (shares[part, chosen] * step_up if chosen >= 0 else 0.0), floors[part])
    if geometric:
        least, upper = np.expm1(least), np.expm1(upper)
    return least, chosen, upper
