"""Partitions of weighted rows into classes, their refinement, and the level of each class.

A partition is `order`, rows arranged so that each class stands together, and `starts`, where each class begins (one
more entry than there are classes, the last being the number of rows). Rows that are alone in their class cannot be
parted any more and stand aside. Levels are such that higher is better: a distance is negated.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

K, DISTINCT, ENTROPY, FREQUENCY, RECURSIVE, T_EQUAL, T_ORDERED, T_TREE, SUPPORT = range(9)


class Measure(NamedTuple):
    """What the level of a class is made of: the notion, c, and the whole table's sensitive distribution.

    `parents[h, node]` is the node above a node of level `h`, and `tops[h]` the number of nodes of that level.
    """

    notion: int
    c: float
    population: np.ndarray
    parents: np.ndarray
    tops: np.ndarray


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def sizes(order, starts, weights):
    """The weight of every class."""
    found = np.empty(len(starts) - 1, np.int64)
    for owner in range(len(found)):
        total = 0
        for place in range(starts[owner], starts[owner + 1]):
            total += weights[order[place]]
        found[owner] = total
    return found


@njit(cache=True, nogil=True)
def _tree_distance(total, tally, measure, surplus, deficit, extra):
    """The hierarchical Earth Mover's Distance: what cannot be matched below a node is carried through it."""
    height = len(measure.tops) - 1
    for leaf in range(len(measure.population)):
        extra[leaf] = tally[leaf] / total - measure.population[leaf]
    distance = 0.0
    for level in range(height):
        nodes, above = measure.tops[level], measure.tops[level + 1]
        surplus[:above] = 0.0
        deficit[:above] = 0.0
        for node in range(nodes):
            parent = measure.parents[level, node]
            if extra[node] > 0.0:
                surplus[parent] += extra[node]
            else:
                deficit[parent] -= extra[node]
        for node in range(above):
            distance += (level + 1) / height * min(surplus[node], deficit[node])
            extra[node] = surplus[node] - deficit[node]
    return distance


@njit(cache=True, nogil=True)
def _level(total, tally, touched, used, measure, spare):
    """The level of a class from its sensitive values `touched[:used]` and their counts in `tally`."""
    notion = measure.notion
    if notion == DISTINCT:
        return float(used)
    if notion == ENTROPY:
        weighted = 0.0
        for which in range(used):
            weighted += tally[touched[which]] * np.log(tally[touched[which]])
        return np.exp(np.log(total) - weighted / total)
    if notion == FREQUENCY:
        most = 0
        for which in range(used):
            most = max(most, tally[touched[which]])
        return total / most
    if notion == RECURSIVE:
        counts = np.empty(used, np.int64)
        for which in range(used):
            counts[which] = tally[touched[which]]
        counts.sort()
        level, tail = used, 0
        for place in range(used):
            tail += counts[place]
            if counts[used - 1] < measure.c * tail:
                break
            level -= 1
        return float(level)
    if notion == T_EQUAL:
        distance = 0.0
        for which in range(used):
            distance += max(0.0, tally[touched[which]] / total - measure.population[touched[which]])
        return -distance
    if notion == T_ORDERED:
        distance, carried = 0.0, 0.0
        for leaf in range(len(measure.population)):
            carried += tally[leaf] / total - measure.population[leaf]
            distance += abs(carried)
        return -distance / max(1, len(measure.population) - 1)
    if notion == SUPPORT:
        share = 0.0
        for which in range(used):
            share += measure.population[touched[which]]
        return share
    return -_tree_distance(total, tally, measure, spare[0], spare[1], spare[2])


@njit(cache=True, nogil=True)
def levels(order, starts, weights, sensitive, measure):
    """The weight of every class and its level by the sensitive values."""
    found = sizes(order, starts, weights)
    values = len(measure.population)
    tally = np.zeros(values, np.int64)
    touched = np.empty(values, np.int32)
    spare = np.empty((3, values))
    reached = np.empty(len(found), np.float64)
    for owner in range(len(found)):
        used = 0
        for place in range(starts[owner], starts[owner + 1]):
            row = order[place]
            if tally[sensitive[row]] == 0:
                touched[used] = sensitive[row]
                used += 1
            tally[sensitive[row]] += weights[row]
        reached[owner] = _level(found[owner], tally, touched, used, measure, spare)
        for which in range(used):
            tally[touched[which]] = 0
    return found, reached


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def level_of(chosen, masks, weights, sensitive, measure):
    """The level, by the sensitive values, of the class that the rows form whose mask holds all of `chosen`."""
    values = len(measure.population)
    tally = np.zeros(values, np.int64)
    touched = np.empty(values, np.int32)
    used = total = 0
    for row in range(len(masks)):
        if masks[row] & chosen == chosen:
            if tally[sensitive[row]] == 0:
                touched[used] = sensitive[row]
                used += 1
            tally[sensitive[row]] += weights[row]
            total += weights[row]
    return _level(total, tally, touched, used, measure, np.empty((3, values)))


@njit(cache=True, nogil=True)
def below(weights, reached, bound):
    """The weight of the classes below a bound."""
    total = 0
    for owner in range(len(reached)):
        if reached[owner] < bound:
            total += weights[owner]
    return total


@njit(cache=True, nogil=True)
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
    order = np.argsort(reached)
    spent = 0
    for place in range(len(order)):
        spent += weights[order[place]]
        if spent > budget:
            return reached[order[place]]
    return np.inf


@njit(cache=True, nogil=True)
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
