"""Parts of a bipartite graph, and a walk among assignments of sensitive values to people."""

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compilation import inner, kernel


@inner
def root(parents, node):
    """The node that stands for the tree of a node; the way to it gets shorter."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def components(left, right, lefts, rights):
    """The component of each of so many left and right nodes, of a graph whose edges join `left[i]` and `right[i]`.

    Numbers have no gaps; the left nodes come first.
    """
    parents = np.arange(lefts + rights)
    for edge in range(len(left)):
        one, other = root(parents, left[edge]), root(parents, lefts + right[edge])
        if one != other:
            parents[max(one, other)] = min(one, other)
    numbers = np.full(lefts + rights, -1, np.int32)
    count = 0
    owners = np.empty(lefts + rights, np.int32)
    for node in range(lefts + rights):
        top = root(parents, node)
        if numbers[top] < 0:
            numbers[top] = count
            count += 1
        owners[node] = numbers[top]
    return owners, count


class SwappablePeople(NamedTuple):
    """Who can change values with whom, and what the dependency says of a person who has a value.

    The people of group `g` are those from `starts[g]` up to `starts[g + 1]`. When the value `determines`, a person who
    has value v is in row `fixed * values + v`, column `other` of the table of pairs; else in row `fixed`, column v.
    Only people whom it `concerns` are in that table, and with `only` from 0 up only those who have that value.
    """

    starts: Any
    fixed: Any
    other: Any
    concerns: Any
    determines: Any
    values: Any
    only: Any


@inner
def _put(people, table, person, value, by):
    if not people.concerns[person] or (people.only >= 0 and value != people.only):
        return
    if people.determines:
        table[people.fixed[person] * people.values + value, people.other[person]] += by
    else:
        table[people.fixed[person], value] += by


@inner
def _broken(people, table, person, value):
    """The pairs too many in the row of a person who has a value."""
    row = people.fixed[person] * people.values + value if people.determines else people.fixed[person]
    total = most = 0
    for column in range(table.shape[1]):
        total += table[row, column]
        most = max(most, table[row, column])
    return total - most


@inner
def _broken_by(people, table, one, other, first, second):
    """The pairs too many in the rows that a swap of two people with two values touches, each row once."""
    if not people.determines:
        broken = _broken(people, table, one, first)
        return broken if people.fixed[one] == people.fixed[other] else broken + _broken(people, table, other, first)
    broken = _broken(people, table, one, first) + _broken(people, table, one, second)
    if people.fixed[one] != people.fixed[other]:
        broken += _broken(people, table, other, first) + _broken(people, table, other, second)
    return broken


@kernel
def tabled(people, values, rows, columns):
    """How often each pair of determinant and dependent occurs in a world."""
    table = np.zeros((rows, columns), np.int32)
    for person in range(len(values)):
        _put(people, table, person, values[person], 1)
    return table


@kernel
def walk(people, values, table, broken, factor, strict, sweeps, seed, tallies, kinds, flag):
    """Sweeps of swaps between two people of a group, each world weighted by `factor` to the number of pairs too many,
    of which there are `broken` at the start.

    `values` has everybody's value and changes; `tallies[kind, value]` counts what people of a kind had after each
    sweep, with `strict` only where no pair was too many. Returns how many sweeps counted, and how many pairs are too
    many now.
    """
    np.random.seed(seed)
    counted = 0
    for _ in range(sweeps):
        if flag[0]:
            break
        for group in range(len(people.starts) - 1):
            begin, end = people.starts[group], people.starts[group + 1]
            for one in range(begin, end):
                other = np.random.randint(begin, end)
                first, second = values[one], values[other]
                if first == second:
                    continue
                before = _broken_by(people, table, one, other, first, second)
                _put(people, table, one, first, -1)
                _put(people, table, other, second, -1)
                _put(people, table, one, second, 1)
                _put(people, table, other, first, 1)
                more = _broken_by(people, table, one, other, first, second) - before
                if more <= 0 or np.random.random() < factor**more:
                    values[one], values[other] = second, first
                    broken += more
                    continue
                _put(people, table, one, second, -1)
                _put(people, table, other, first, -1)
                _put(people, table, one, first, 1)
                _put(people, table, other, second, 1)
        if broken and strict:
            continue
        counted += 1
        for person in range(len(values)):
            tallies[kinds[person], values[person]] += 1
    return counted, broken
