"""Lattice: the level vectors that full-domain generalization chooses from, and Samarati's distance vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.hierarchy import Hierarchy
from shoal.errors import ParameterError, unknown_columns

Node = tuple[int, ...]
"""A level for each quasi-identifier."""

MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class Lattice:
    """The nodes from `least` to `greatest`; a node generalizes another when none of its levels is lower.

    Example:
        >>> lattice = Lattice(("sex", "zip"), (0, 0), (1, 2))
        >>> lattice.size, lattice.height, list(lattice.at(1))
        (6, 3, [(0, 1), (1, 0)])
        >>> list(lattice.generalizations((0, 1)))
        [(1, 1), (0, 2)]
    """

    attributes: tuple[str, ...]
    least: Node
    greatest: Node

    @classmethod
    def of(
        cls,
        hierarchies: Sequence[Hierarchy],
        least: Mapping[str, int] | None = None,
        greatest: Mapping[str, int] | None = None,
    ) -> Lattice:
        """The lattice of hierarchies, between the levels that are allowed for some of the columns."""
        names = tuple(hierarchy.column for hierarchy in hierarchies)
        least, greatest = least or {}, greatest or {}
        unknown = [name for name in (*least, *greatest) if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
        low, high = [], []
        for hierarchy in hierarchies:
            first, last = least.get(hierarchy.column, 0), greatest.get(hierarchy.column, hierarchy.height)
            if not (0 <= first <= hierarchy.height and 0 <= last <= hierarchy.height):
                raise ParameterError(f"the hierarchy of column {hierarchy.column!r} has levels 0 to {hierarchy.height}")
            if first > last:
                raise ParameterError(
                    f"column {hierarchy.column!r} is left no level: the least, {first}, is above the greatest, {last}"
                )
            low.append(first)
            high.append(last)
        return cls(names, tuple(low), tuple(high))

    @cached_property
    def size(self) -> int:
        """The number of nodes."""
        return prod(high - low + 1 for low, high in zip(self.least, self.greatest, strict=True))

    @property
    def lowest(self) -> int:
        """The height of the least node."""
        return sum(self.least)

    @property
    def height(self) -> int:
        """The height of the greatest node: the sum of its levels."""
        return sum(self.greatest)

    def at(self, height: int) -> Iterator[Node]:
        """The nodes whose levels sum to a height, in lexicographic order."""

        def rest(position: int, left: int) -> Iterator[Node]:
            if position == len(self.least):
                yield ()
                return
            room = sum(self.greatest[position + 1 :])
            need = sum(self.least[position + 1 :])
            for level in range(max(self.least[position], left - room), min(self.greatest[position], left - need) + 1):
                for tail in rest(position + 1, left - level):
                    yield (level, *tail)

        if self.lowest <= height <= self.height:
            yield from rest(0, height)

    def __iter__(self) -> Iterator[Node]:
        """Every node, by height."""
        for height in range(self.lowest, self.height + 1):
            yield from self.at(height)

    def generalizations(self, node: Node) -> Iterator[Node]:
        """The nodes that are one level higher in one attribute."""
        for position, level in enumerate(node):
            if level < self.greatest[position]:
                yield (*node[:position], level + 1, *node[position + 1 :])

    def specializations(self, node: Node) -> Iterator[Node]:
        """The nodes that are one level lower in one attribute."""
        for position, level in enumerate(node):
            if level > self.least[position]:
                yield (*node[:position], level - 1, *node[position + 1 :])

    def named(self, node: Node) -> dict[str, int]:
        """A node's levels by column."""
        return dict(zip(self.attributes, node, strict=True))


def distance_vectors(summary: Classes) -> NDArray[np.int64]:
    """Samarati's distance vector of each pair of distinct tuples: `[one, other]` has, for each attribute, the
    lowest level at which the two are the same.

    Example:
        >>> import polars, shoal
        >>> zips = {"zip": shoal.Hierarchy.from_paths("zip", [("10", "1*", "*"), ("11", "1*", "*"), ("20", "2*", "*")])}
        >>> data = shoal.read(polars.DataFrame({"zip": ["10", "11", "20"]}), quasi=["zip"], hierarchies=zips)
        >>> distance_vectors(data.summary)[..., 0].tolist()
        [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
    """
    pairs = len(summary) ** 2
    if pairs > MOST_PAIRS:
        raise ParameterError(
            f"distance vectors of {len(summary):,} distinct tuples are {pairs:,} pairs; "
            f"take a table with at most {int(MOST_PAIRS**0.5):,}"
        )
    vectors = np.empty((len(summary), len(summary), len(summary.attributes)), dtype=np.int64)
    for position, (hierarchy, keys) in enumerate(zip(summary.hierarchies, summary.keys, strict=True)):
        one, other = np.broadcast_arrays(keys[:, None], keys[None, :])
        vectors[..., position] = hierarchy.ancestor_levels(one.ravel(), other.ravel()).reshape(one.shape)
    return vectors
