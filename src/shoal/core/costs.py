"""Costs: what a range of leaves costs in each quasi-identifier, as flat arrays that kernels can read.

One notion of distance and of added loss for every local recoding: the cost of a set of records is, summed over
the attributes, the cost of the range of leaves that they would be published as. The distance of two records is
the cost of the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import lcm

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.loss import by_level, climb, misclassification, quantities, width
from shoal.kernels.cost import Costs as Costs

TABULATED = 512
"""Hierarchies of up to so many leaves get a table of all ranges."""

FINEST = 2**40
"""Levels are counted in steps no finer than this, so that sums of them are exact."""


def loss_costs(hierarchies: Sequence[Hierarchy], columns: Sequence[Codes], intervals: Sequence[bool]) -> Costs:
    """Costs as the loss metric LM counts them; attribute `j` is published as intervals where `intervals[j]` says so,
    else as nodes.

    A number costs the length of its interval over the table's range, any other value the share of the other leaves
    that its node covers. Searches that minimize it end with less NCP, too, than searches that minimize NCP, which
    charges the first leaf as soon as there is a second one.
    """
    charges = []
    for hierarchy, column in zip(hierarchies, columns, strict=True):
        least, greatest = int(column.min()), int(column.max())
        charges.append(by_level(hierarchy, partial(misclassification, least=least, greatest=greatest)))
    return _costs(hierarchies, columns, intervals, charges)


def width_costs(hierarchies: Sequence[Hierarchy], columns: Sequence[Codes], intervals: Sequence[bool]) -> Costs:
    """Costs as widths: of an interval over the table's range, and otherwise the share of the leaves under the node."""
    return _costs(hierarchies, columns, intervals, [by_level(hierarchy, width) for hierarchy in hierarchies])


def level_costs(hierarchies: Sequence[Hierarchy], columns: Sequence[Codes]) -> tuple[Costs, int]:
    """Costs as HDist counts them: two records pay, in each attribute, twice the share of levels to climb.

    Costs are whole numbers, exact in any sum; HDist is the cost over the second thing returned. Where heights have no
    small common multiple it is HDist to twelve digits.
    """
    scale = min(lcm(*(hierarchy.height for hierarchy in hierarchies)), FINEST)
    charges = [
        np.repeat(np.rint(np.arange(hierarchy.height + 1)[:, None] * (2 * scale / hierarchy.height)), hierarchy.size, 1)
        for hierarchy in hierarchies
    ]
    return _costs(hierarchies, columns, [False] * len(hierarchies), charges), scale


def climbing_costs(
    hierarchies: Sequence[Hierarchy], columns: Sequence[Codes], intervals: Sequence[bool], beta: float
) -> Costs:
    """Costs as the weighted hierarchical distance counts them; numbers that are published as intervals pay the length
    over the table's range."""
    charges = [np.repeat(climb(hierarchy, beta)[:, None], hierarchy.size, 1) for hierarchy in hierarchies]
    return _costs(hierarchies, columns, intervals, charges)


def hiding_costs(hierarchies: Sequence[Hierarchy], weights: Floats) -> Costs:
    """Costs where a value is published as it is or not at all: two records pay the weight of each attribute in which
    they differ."""
    trees = [Hierarchy.flat(tree.column, tree.labels[0].tolist(), tree.values) for tree in hierarchies]
    charges = [np.repeat([[0.0], [weight]], tree.size, axis=1) for tree, weight in zip(trees, weights, strict=True)]
    return _costs(trees, [np.arange(tree.size, dtype=np.int32) for tree in trees], [False] * len(trees), charges)


def reordered(costs: Costs, order: NDArray[np.int64]) -> Costs:
    """The costs of the same attributes in another order."""
    shared = ("tables", "values", "tree", "charges")
    return Costs(**{name: array if name in shared else array[order] for name, array in costs._asdict().items()})


def _costs(
    hierarchies: Sequence[Hierarchy], columns: Sequence[Codes], intervals: Sequence[bool], charges: Sequence[Floats]
) -> Costs:
    sizes = np.array([hierarchy.size for hierarchy in hierarchies], dtype=np.int64)
    tables: list[Floats] = []
    offsets = np.full(len(sizes), -1, dtype=np.int64)
    spans = np.ones(len(sizes))
    numbers: list[Floats] = []
    for position, (hierarchy, column, interval) in enumerate(zip(hierarchies, columns, intervals, strict=True)):
        values = quantities(hierarchy)
        numbers.append(values)
        if interval:
            present = column[column >= int(hierarchy.missing)]
            span = float(values[present.max()] - values[present.min()]) if len(present) else 0.0
            spans[position] = span if span > 0 else 1.0
        if hierarchy.size <= TABULATED:
            offsets[position] = sum(table.size for table in tables)
            tables.append(_table(hierarchy, interval, spans[position], charges[position]))
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    rows = np.concatenate([[0], np.cumsum([charge.size for charge in charges])[:-1]]).astype(np.int64)
    return Costs(
        sizes,
        np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(1),
        offsets,
        np.array(intervals, dtype=np.bool_),
        np.array([hierarchy.missing for hierarchy in hierarchies], dtype=np.bool_),
        np.concatenate(numbers),
        firsts,
        spans,
        np.concatenate([hierarchy.codes.ravel() for hierarchy in hierarchies]),
        np.concatenate([charge.ravel() for charge in charges]),
        rows,
    )


def _table(hierarchy: Hierarchy, interval: bool, span: float, charges: Floats) -> Floats:
    """The cost of every pair of least and greatest leaf, either way round."""
    above, beside = np.triu_indices(hierarchy.size)
    low, high = above.astype(np.int32), beside.astype(np.int32)
    if interval:
        values = quantities(hierarchy)
        costs = np.clip((values[high] - values[low]) / span, 0.0, 1.0)
        costs[hierarchy.spans_missing(low, high)] = 1.0
        costs[low == high] = 0.0
    else:
        costs = charges[hierarchy.ancestor_levels(low, high), low]
    table = np.zeros((hierarchy.size, hierarchy.size))
    table[low, high] = costs
    table[high, low] = costs
    return table
