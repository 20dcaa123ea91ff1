"""Distances of records along generalization hierarchies: how far values climb until they are the same.

Records are tuples of raw values in the order of the hierarchies, as `data.hierarchies` has them; `None` is a missing
value. Costs are exact fractions. Two records of the published example that spanning-tree partitioning was introduced
with:

    >>> import shoal
    >>> folder = shoal.samples.hierarchies("patients-mst")
    >>> data = shoal.read(shoal.samples.patients_mst(), quasi=["gender", "age", "zip"], hierarchies=folder)
    >>> hdist(data.hierarchies, ("Male", 21, 535280), ("Female", 26, 535280))
    Fraction(10, 3)

For the distance vectors of all pairs of a table, see `shoal.core.lattice.distance_vectors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from shoal.core.hierarchy import Codes, Hierarchy
from shoal.errors import ParameterError

Value = str | int | float | None
Record = Sequence[Value]


def chd(hierarchy: Hierarchy, value: Value, published: Value) -> Fraction:
    """What it costs to publish a value as one of its ancestors (CHD): the share of the hierarchy's levels that it
    climbs.

    Example:
        >>> import shoal
        >>> paths = [("24", "[20-25]", "[20-30]", "[20-40]"), ("36", "[36-40]", "[31-40]", "[20-40]")]
        >>> chd(shoal.Hierarchy.from_paths("age", paths), 24, "[20-30]")
        Fraction(2, 3)
    """
    leaf, label = _leaf(hierarchy, value), None if published is None else str(published)
    for level, (codes, labels) in enumerate(zip(hierarchy.codes, hierarchy.labels, strict=True)):
        if labels[codes[leaf]] == label:
            return Fraction(level, hierarchy.height)
    raise ParameterError(f"column {hierarchy.column!r}: the published value is no ancestor of the raw one")


def che(hierarchies: Sequence[Hierarchy], record: Record, published: Record) -> Fraction:
    """What it costs to publish a record as a generalization of it (CHE): the sum of CHD over the attributes.

    Example:
        >>> import shoal
        >>> folder = shoal.samples.hierarchies("patients-mst")
        >>> data = shoal.read(shoal.samples.patients_mst(), quasi=["gender", "age", "zip"], hierarchies=folder)
        >>> che(data.hierarchies, ("Male", 24, 535280), ("Male", "[20-40]", "5352**"))
        Fraction(2, 1)
    """
    _check(hierarchies, record, published)
    return sum(map(chd, hierarchies, record, published), Fraction(0))


def hdist(hierarchies: Sequence[Hierarchy], one: Record, other: Record) -> Fraction:
    """The hierarchical distance of two records (HDist): what it costs to publish both as their closest common
    generalization. `mst` spans its tree by it.

    Example:
        >>> import shoal
        >>> folder = shoal.samples.hierarchies("patients-mst")
        >>> data = shoal.read(shoal.samples.patients_mst(), quasi=["gender", "age", "zip"], hierarchies=folder)
        >>> hdist(data.hierarchies, ("Male", 21, 535280), ("Male", 24, 535280))
        Fraction(2, 3)
        >>> hdist(data.hierarchies, ("Male", 36, 535292), ("Male", 38, 535296))
        Fraction(5, 3)
    """
    levels = distance_vector(hierarchies, one, other)
    return sum((Fraction(2 * level, tree.height) for level, tree in zip(levels, hierarchies, strict=True)), Fraction(0))


def distance_vector(hierarchies: Sequence[Hierarchy], one: Record, other: Record) -> tuple[int, ...]:
    """Samarati's distance vector of two records: for each attribute the lowest level at which they are the same.

    Example:
        >>> import shoal
        >>> paths = {
        ...     "department": [("CIV", "*")],
        ...     "grade": [("7.5", ">7", "*"), ("8.6", ">7", "*")],
        ...     "age": [("20", ">=20", "*"), ("21", ">=20", "*")],
        ...     "roll": [("10601012", "106010**", "*"), ("10601026", "106010**", "*")],
        ... }
        >>> trees = [shoal.Hierarchy.from_paths(column, rows) for column, rows in paths.items()]
        >>> distance_vector(trees, ("CIV", 7.5, 20, 10601012), ("CIV", 8.6, 21, 10601026))
        (0, 1, 1, 1)
    """
    _check(hierarchies, one, other)
    return tuple(
        int(tree.ancestor_levels(_place(tree, left), _place(tree, right))[0])
        for tree, left, right in zip(hierarchies, one, other, strict=True)
    )


def _check(hierarchies: Sequence[Hierarchy], *records: Record) -> None:
    for record in records:
        if len(record) != len(hierarchies):
            raise ParameterError(
                f"a record has {len(hierarchies)} values, one for each hierarchy; here are {len(record)}"
            )


def _leaf(hierarchy: Hierarchy, value: Value) -> int:
    leaf = hierarchy.leaf(None if value is None else str(value))
    if leaf is None:
        raise ParameterError(f"column {hierarchy.column!r}: the hierarchy does not have a value that was given")
    return leaf


def _place(hierarchy: Hierarchy, value: Value) -> Codes:
    return np.array([_leaf(hierarchy, value)], np.int32)
