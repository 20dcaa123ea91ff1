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
def _added(position, level, top, lost, information, charges, score, domain):
    """What an attribute adds to the score at a level, when records with such values of the level `top` are left out."""
    totals, greatest, starts = charges
    spent = totals[position, level] + information
    if score.charge == 1:
        begin, costs = domain.leaf_starts[position], starts[position, level, top]
        for value in range(domain.widths[position, top]):
            if lost[begin + value]:
                spent += lost[begin + value] * (1.0 - greatest[costs + value])
    term = 0.0
    if score.spans[position] > 0:
        term = max(0.0, (spent - score.offsets[position]) / score.spans[position])
    return score.weights[position] * (np.log1p(term) if score.geometric else term)


@njit(cache=True, nogil=True)
def _with(sums, position, more, score):
    """The score when the parts add so much, and an attribute more than that."""
    value = 0.0
    for part in range(len(sums)):
        value += max(sums[part] + score.shares[part, position] * more, score.floors[part])
    return np.expm1(value) if score.geometric else value


@njit(cache=True, nogil=True)
def bound(low, high, lost, limit, charges, score, domain):
    """The least score of any node from `low` to `high` when in all of them records with such values of the levels of
    `high` are left out.

    A record that is left out costs one instead of its cell: it is not known which of the class's records that is, and
    the greatest cost of a cell that its value has at the low level is the least that this adds.

    Also the attribute in which the last step of the box costs most, and the bound of the part of the box in which
    that attribute is at its greatest level; -1 when the box is a single node. And of each attribute the greatest level
    that may be in a node of the box that scores less than `limit`. With `low` and `high` the same and nothing known of
    the parts the least score is the score itself.
    """
    terms = np.zeros(domain.widths.shape)
    sums = np.zeros(len(score.floors))
    chosen, widest = -1, -1.0
    for position in range(len(low)):
        first, top = low[position], high[position]
        information = 0.0
        if score.charge == 2:
            information = _bits(lost, domain.leaf_starts[position], domain.widths[position, top])
        for level in range(first, top + 1):
            terms[position, level] = _added(position, level, top, lost, information, charges, score, domain)
        for part in range(len(sums)):
            sums[part] += score.shares[part, position] * terms[position, first]
        if top > first and terms[position, top] - terms[position, top - 1] > widest:
            chosen, widest = position, terms[position, top] - terms[position, top - 1]
    least = _with(sums, 0, 0.0, score)
    upper = least
    if chosen >= 0:
        upper = _with(sums, chosen, terms[chosen, high[chosen]] - terms[chosen, low[chosen]], score)
    highest = high.copy()
    for position in range(len(low)):
        while highest[position] > low[position]:
            more = terms[position, highest[position]] - terms[position, low[position]]
            if _with(sums, position, more, score) < limit:
                break
            highest[position] -= 1
    return least, chosen, upper, highest
