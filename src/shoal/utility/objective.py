"""Objectives: metrics that a search over the lattice can minimize.

A search needs more than the score of a finished release: the score of a node from its classes alone, and a score
that no node between two others can beat. Both follow from what an objective declares here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.core.classes import Classes
from shoal.core.contracts.metric import Metric
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats
from shoal.core.loss import by_level, coverage


@dataclass(frozen=True, eq=False)
class CellTerms:
    """A loss that adds up over cells, attribute by attribute.

    `costs[j][level, leaf]` is what attribute `j` of one record costs. With `S` the sum over all records, the
    attribute's term is `max(0, (S - offsets[j]) / spans[j])` (0 where the span is 0), and the score is the sum of the
    terms times `weights`, or `Π (1 + term)^weight - 1` when `geometric`.

    `left_out` says what a record that is left out costs in each attribute: `one` instead of its cell's cost,
    `entropy` on top of it (the information that the left-out values of the attribute had, in bits), or `nothing`.
    """

    costs: tuple[Floats, ...]
    offsets: Floats
    spans: Floats
    weights: Floats
    geometric: bool = False
    left_out: Literal["one", "entropy", "nothing"] = "one"

    def each(self, totals: Floats) -> Floats:
        """The term of each attribute from the sum of its costs."""
        spent = np.maximum(0.0, totals - self.offsets)
        return np.divide(spent, self.spans, out=np.zeros(len(spent)), where=self.spans > 0)


class CellObjective(Metric):
    """A metric that adds up over cells."""

    @abstractmethod
    def terms(self, summary: Classes, weights: Floats) -> CellTerms:
        """The terms over a table; `weights` has a share for each attribute, together 1."""


class ClassObjective(Metric):
    """A metric that looks at class sizes only.

    The score is `value(base(all classes) + extra(classes that are left out))`. `base` must not fall when classes
    merge, `extra` must not fall when more classes are left out or when they split, and `value` must not fall.
    Then `value(base(a) + extra(b))` bounds every node between `a` and its generalization `b` from below.
    """

    @abstractmethod
    def base(self, sizes: Counts, records: int) -> float:
        """What the classes cost when all of them are published."""

    @abstractmethod
    def extra(self, sizes: Counts, records: int) -> float:
        """What it costs on top that these are left out."""

    @abstractmethod
    def value(self, total: float, records: int) -> float:
        """The score that belongs to a sum of both."""


def even(attributes: int) -> Floats:
    """Equal weights."""
    return np.full(attributes, 1.0 / attributes)


def loss_terms(summary: Classes, weights: Floats, *, geometric: bool = True) -> CellTerms:
    """The terms of Iyengar's loss: how much of its domain a value covers, from 0 (one leaf) to 1 (everything)."""
    sizes = np.array([hierarchy.size for hierarchy in summary.hierarchies], dtype=np.float64)
    offsets = summary.records / sizes
    costs = tuple(by_level(hierarchy, coverage) for hierarchy in summary.hierarchies)
    return CellTerms(costs, offsets, summary.records - offsets, weights, geometric=geometric)
