"""Scoring nodes of the lattice by the cells' costs, and bounding what the nodes between two others can score."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel
from shoal.kernels.prefetching import AHEAD, soon

_NEAR = 1 << 19
"""Leaves that stay in the cache, more or less."""


class Charges(NamedTuple):
    """What cells cost: by attribute and level their sum over the table, and, from `starts[a, j, i]` on, the greatest
    one at level `j` among the leaves of each value of level `i`."""

    totals: Any
    greatest: Any
    starts: Any


class Score(NamedTuple):
    """How sums of costs become a score; `charge` says what a record that is left out costs in each attribute: 0
    nothing, 1 one instead of its cell's cost, 2 the information that left-out values had."""

    offsets: Any
    spans: Any
    weights: Any
    geometric: bool
    charge: int


class Rates(NamedTuple):
    """What a node costs: its cells, the least that its cells cost at its levels or above them, and how that becomes a
    score."""

    exact: Charges
    floors: Charges
    score: Score


class Parts(NamedTuple):
    """What is known of parts of the attributes: `shares[p, a]` of what attribute `a` adds to the score counts in part
    `p`, and no release adds less in part `p` than `floors[p]`."""

    shares: Any
    floors: Any
    geometric: bool


@kernel
def counted(levels, table, firsts, counts, rest, domain):
    """How often each value of a node's levels occurs when so many records of each class are counted, or all the others
    when `rest`; one attribute after another, each with room for its leaves. `firsts` has a distinct tuple of each
    class."""
    _, _, _, leaf_counts, leaf_starts, codes, code_starts, widths = domain
    occurrences = np.zeros(leaf_counts.sum(), np.int64)
    rows = np.empty(len(levels), np.int64)
    for position in range(len(levels)):
        rows[position] = code_starts[position] + levels[position] * leaf_counts[position]
    far = table.leaves.size > _NEAR
    for owner in range(len(counts)):
        if far and owner + AHEAD < len(counts) and counts[owner + AHEAD]:
            soon(table.leaves, firsts[owner + AHEAD] * len(levels))
        if counts[owner]:
            first = firsts[owner]
            for position in range(len(levels)):
                occurrences[leaf_starts[position] + codes[rows[position] + table.leaves[first, position]]] += counts[
                    owner
                ]
    if rest:
        for position in range(len(levels)):
            for value in range(widths[position, levels[position]]):
                at = leaf_starts[position] + value
                occurrences[at] = table.whole[rows[position] + value] - occurrences[at]
    return occurrences


@kernel
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


@inner
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


@inner(forceinline=True)
def _added(position, level, top, lost, charges, score, domain):
    """What an attribute adds to the score at a level, when records with such values of the level `top` are left out.

    A record that is left out costs one instead of its cell: where it is not known which of the records with its value
    that is, the greatest cost of their cells at the level is the least that this adds.
    """
    totals, greatest, starts = charges
    begin, width = domain.leaf_starts[position], domain.widths[position, top]
    spent = totals[position, level]
    if score.charge == 1:
        costs = starts[position, level, top]
        for value in range(width):
            if lost[begin + value]:
                spent += lost[begin + value] * (1.0 - greatest[costs + value])
    elif score.charge == 2:
        spent += _bits(lost, begin, width)
    term = 0.0
    if score.spans[position] > 0:
        term = max(0.0, (spent - score.offsets[position]) / score.spans[position])
    return score.weights[position] * (np.log1p(term) if score.geometric else term)


@inner
def scored(levels, lost, rates, domain):
    """The score of a node when records with such values of its levels are left out."""
    value = 0.0
    for position in range(len(levels)):
        value += _added(position, levels[position], levels[position], lost, rates.exact, rates.score, domain)
    return np.expm1(value) if rates.score.geometric else value


@kernel
def terms(levels, lost, rates, domain):
    """The least that each attribute adds to the score at each level up to those of a node when records with such values
    of the node's levels are left out."""
    added = np.zeros(domain.widths.shape)
    for position in range(len(levels)):
        top = levels[position]
        for level in range(top + 1):
            added[position, level] = _added(position, level, top, lost, rates.floors, rates.score, domain)
    return added


@inner(forceinline=True)
def _with(sums, position, more, parts):
    """The score when the parts add so much, and an attribute more than that."""
    value = 0.0
    for part in range(len(sums)):
        value += max(sums[part] + parts.shares[part, position] * more, parts.floors[part])
    return np.expm1(value) if parts.geometric else value


@inner
def _bound(low, high, terms, limit, parts):
    """The least score of any node from `low` to `high`, of which each attribute adds at each level what `terms` says or
    more.

    Also the attribute in which the last step of the box costs most, and the bound of the part of the box in which
    that attribute is at its greatest level; -1 when the box is a single node. And of each attribute the greatest level
    that may be in a node of the box that scores less than `limit`.
    """
    sums = np.zeros(len(parts.floors))
    chosen, widest = -1, -1.0
    for position in range(len(low)):
        first, top = low[position], high[position]
        for part in range(len(sums)):
            sums[part] += parts.shares[part, position] * terms[position, first]
        if top > first and terms[position, top] - terms[position, top - 1] > widest:
            chosen, widest = position, terms[position, top] - terms[position, top - 1]
    least = _with(sums, 0, 0.0, parts)
    upper = least
    if chosen >= 0:
        upper = _with(sums, chosen, terms[chosen, high[chosen]] - terms[chosen, low[chosen]], parts)
    highest = high.copy()
    for position in range(len(low)):
        while highest[position] > low[position]:
            more = terms[position, highest[position]] - terms[position, low[position]]
            if _with(sums, position, more, parts) < limit:
                break
            highest[position] -= 1
    return least, chosen, upper, highest


@kernel
def bounds(boxes, terms, limit, parts):
    """The same of several boxes, each by its terms: least scores, attributes, bounds of the upper parts and greatest
    levels."""
    least, upper = np.empty(len(boxes)), np.empty(len(boxes))
    chosen = np.empty(len(boxes), np.int64)
    highest = np.empty_like(boxes[:, 0])
    for at in range(len(boxes)):
        least[at], chosen[at], upper[at], highest[at] = _bound(boxes[at, 0], boxes[at, 1], terms[at], limit, parts)
    return least, chosen, upper, highest
