"""Partitions of weighted rows into classes, their refinement, and the level of each class.

A partition is `order`, rows arranged so that each class stands together, and `starts`, where each class begins (one
more entry than there are classes, the last being the number of rows). Rows that are alone in their class cannot be
parted any more and stand aside.

Rows of one context stand together, and refining keeps their order: with contexts, a class has the worst level of its
parts. Levels come with the `sign` that makes the higher one better.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compilation import kernel
from shoal.kernels.levels import ORDERED, TREE, by_class, put_in_order
from shoal.kernels.sorting import order_of


class CountedRows(NamedTuple):
    """How often each row counts, its sensitive value, and its context (none at all: one context for all)."""

    weights: np.ndarray
    sensitive: np.ndarray
    contexts: np.ndarray


@kernel
def refine(order, starts, column, tally, touched, finer, finer_starts, lone):
    """Splits every class by one more column.

    Classes of several rows go to `finer` and `finer_starts`, rows that are left alone to `lone`. Returns how many
    classes, how many rows in them, and how many lone rows there are.
    """
    at = position = alone = 0
    for old in range(len(starts) - 1):
        begin, end = starts[old], starts[old + 1]
        used = 0
        for place in range(begin, end):
            code = column[order[place]]
            if tally[code] == 0:
                touched[used] = code
                used += 1
            tally[code] += 1
        for which in range(used):
            code = touched[which]
            size = tally[code]
            if size == 1:
                tally[code] = -1
            else:
                finer_starts[at] = position
                at += 1
                tally[code] = position
                position += size
        for place in range(begin, end):
            row = order[place]
            code = column[row]
            if tally[code] < 0:
                lone[alone] = row
                alone += 1
            else:
                finer[tally[code]] = row
                tally[code] += 1
        for which in range(used):
            tally[touched[which]] = 0
    finer_starts[at] = position
    return at, position, alone


@kernel
def sizes(order, starts, weights):
    """The weight of every class."""
    totals = np.empty(len(starts) - 1, np.int64)
    for owner in range(len(totals)):
        total = 0
        for place in range(starts[owner], starts[owner + 1]):
            total += weights[order[place]]
        totals[owner] = total
    return totals


@kernel
def histogram(order, starts, rows, values, ascending):
    """How often each of so many sensitive values occurs in each part of the classes: where the entries of each part
    begin, the class of each part, and the entries' values and counts. Without contexts, parts are classes."""
    tally = np.zeros(values, np.int64)
    part_starts, owners = np.empty(len(order) + 1, np.int64), np.empty(len(order), np.int32)
    entry_values, counts = np.empty(len(order), np.int32), np.empty(len(order), np.int64)
    apart = len(rows.contexts) > 0
    part = at = 0
    for owner in range(len(starts) - 1):
        place, end = starts[owner], starts[owner + 1]
        while place < end:
            owners[part], part_starts[part] = owner, at
            begin, context = at, rows.contexts[order[place]] if apart else 0
            while place < end and not (apart and rows.contexts[order[place]] != context):
                value = rows.sensitive[order[place]]
                if tally[value] == 0:
                    entry_values[at] = value
                    at += 1
                tally[value] += rows.weights[order[place]]
                place += 1
            if ascending:
                put_in_order(entry_values, begin, at)
            for entry in range(begin, at):
                counts[entry] = tally[entry_values[entry]]
                tally[entry_values[entry]] = 0
            part += 1
    part_starts[part] = at
    return part_starts[: part + 1], owners[:part], entry_values[:at], counts[:at]


@kernel
def levels(order, starts, rows, measure, sign):
    """The weight of every class and its level by the sensitive values."""
    ascending = measure.kind == ORDERED or measure.kind == TREE
    parts, owners, values, counts = histogram(order, starts, rows, len(measure.priors), ascending)
    part_levels = by_class(parts, values, counts, measure)
    weights, reached = np.zeros(len(starts) - 1, np.int64), np.full(len(starts) - 1, np.inf)
    for part in range(len(owners)):
        reached[owners[part]] = min(reached[owners[part]], sign * part_levels[part])
        for entry in range(parts[part], parts[part + 1]):
            weights[owners[part]] += counts[entry]
    return weights, reached


@kernel
def agreement(columns, row):
    """For every row, the set of columns (a bit each) in which it equals one row."""
    masks = np.zeros(columns.shape[1], np.uint64)
    for position in range(len(columns)):
        bit = np.uint64(1) << np.uint64(position)
        column = columns[position]
        code = column[row]
        for other in range(len(column)):
            if column[other] == code:
                masks[other] |= bit
    return masks


@kernel
def level_of(chosen, masks, rows, measure, sign):
    """The weight of the class that the rows form whose mask holds all of `chosen`, and its level."""
    order = np.empty(len(masks), np.int32)
    size = 0
    for row in range(len(masks)):
        if masks[row] & chosen == chosen:
            order[size] = row
            size += 1
    weights, reached = levels(order[:size], np.array([0, size], np.int32), rows, measure, sign)
    return weights[0], reached[0]


@kernel
def below(weights, reached, bound):
    """The weight of the classes below a bound."""
    total = 0
    for owner in range(len(reached)):
        if reached[owner] < bound:
            total += weights[owner]
    return total


@kernel
def level_after(weights, reached, budget):
    """The level that is left when the worst classes are given up as long as they hold at most `budget` records.

    Infinite when the budget covers every class.
    """
    lowest = np.inf
    for owner in range(len(reached)):
        lowest = min(lowest, reached[owner])
    spent = 0
    for owner in range(len(reached)):
        if reached[owner] == lowest:
            spent += weights[owner]
    if spent > budget:
        return lowest
    order = order_of(reached)
    spent = 0
    for place in range(len(order)):
        spent += weights[order[place]]
        if spent > budget:
            return reached[order[place]]
    return np.inf


@kernel
def tallied_level_after(weights, budget, tally):
    """`level_after` where the level is the weight itself; `tally` is zero and longer than the greatest weight."""
    for owner in range(len(weights)):
        tally[weights[owner]] += weights[owner]
    spent, level = 0, 0
    while level < len(tally) and spent <= budget:
        spent += tally[level]
        level += 1
    for owner in range(len(weights)):
        tally[weights[owner]] = 0
    return float(level - 1) if spent > budget else np.inf
