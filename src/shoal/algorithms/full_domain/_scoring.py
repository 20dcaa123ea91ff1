"""Scoring nodes of the lattice by an objective, and bounding what the nodes between two others can score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from shoal.algorithms.full_domain._groupings import Groupings
from shoal.core.grouping import Counts
from shoal.core.hierarchy import Floats
from shoal.core.lattice import Node
from shoal.core.policy import Objective
from shoal.errors import ParameterError, unknown_columns
from shoal.utility.objective import CellObjective, CellTerms, ClassObjective, loss_terms

CHARGES = {"nothing": 0, "one": 1, "entropy": 2}


class Bound(NamedTuple):
    """The least that a box of nodes can score, the attribute to split it by, the bound of the upper part, and a node
    that no node of the box that scores less than a limit is above of in any attribute."""

    least: float
    attribute: int
    upper: float
    highest: Node


class CellScores:
    """Scores of an objective that adds up over cells."""

    def __init__(self, terms: CellTerms, groupings: Groupings) -> None:
        from shoal.kernels import boxes as kernel

        self._bounds = kernel.bounds
        self.domain = groupings.domain
        self.whole = groupings.table.whole
        self.heights = np.array([tree.height for tree in groupings.summary.hierarchies], dtype=np.int64)
        # The least that a cell costs at a level or above it.
        floors = [np.minimum.accumulate(costs[::-1], axis=0)[::-1] for costs in terms.costs]
        if terms.left_out == "one":
            floors = [np.minimum(floor, 1.0) for floor in floors]
        exact, alike = self._charges(terms.costs)
        least, _ = self._charges(floors)
        if terms.left_out == "one" and not alike:
            raise ParameterError("an objective that charges one for what is left out gives one value one cost")
        charge = CHARGES[terms.left_out]
        score = kernel.Score(terms.offsets, terms.spans, terms.weights, terms.geometric, charge)
        self.rates = kernel.Rates(exact, least, score)
        self.parts = kernel.Parts(np.ones((1, len(terms.weights))), np.full(1, -inf), terms.geometric)
        nothing = np.zeros(int(self.domain.leaf_counts.sum()), dtype=np.int64)
        self.nothing: Floats = kernel.terms(self.heights, nothing, self.rates, self.domain)
        """What each attribute adds at each level when no record is left out."""

    def _charges(self, costs: Sequence[Floats]) -> tuple[Any, bool]:
        from shoal.kernels import boxes as kernel

        totals = np.zeros(self.domain.widths.shape)
        for position, part in enumerate(costs):
            start, leaves = self.domain.code_starts[position], self.domain.leaf_counts[position]
            totals[position, : len(part)] = part @ self.whole[start : start + leaves]
        greatest, starts, alike = kernel.greatest_costs(
            np.concatenate([part.ravel() for part in costs]), self.heights, self.domain
        )
        return kernel.Charges(totals, greatest, starts), alike

    def bounds(
        self, boxes: Sequence[tuple[Node, Node]], terms: Sequence[Floats], limit: float = inf, parts: Any = None
    ) -> list[Bound]:
        """Of each box from a low to a high node a score that no node in it can beat when each attribute adds what the
        box's terms say or more; by what is known of parts of the attributes unless other ones are given."""
        if not boxes:
            return []
        added = terms[0][None] if len(terms) == 1 else np.array(terms)
        known = self.parts if parts is None else parts
        least, chosen, upper, highest = self._bounds(np.array(boxes, dtype=np.int64), added, limit, known)
        nodes = map(tuple, highest.tolist())
        return list(map(Bound, least.tolist(), chosen.tolist(), upper.tolist(), nodes))

    def know(self, shares: Floats, floors: Floats) -> None:
        """From now on bounds know that no release adds less than the floors in parts of the attributes."""
        self.parts = self.parts._replace(shares=shares, floors=floors)

    def floor(self, node: Node, parts: Any = None) -> float:
        """The least that a node and its generalizations can score, without a look at the classes."""
        return self.bounds([(node, node)], [self.nothing], parts=parts)[0].least


class ClassScores:
    """Scores of an objective that looks at class sizes."""

    def __init__(self, objective: ClassObjective, groupings: Groupings) -> None:
        self.objective, self.records = objective, groupings.summary.records
        self.widths = groupings.domain.widths

    def base(self, sizes: Counts) -> float:
        return float(self.objective.base(sizes, self.records))

    def extra(self, sizes: Counts) -> float:
        return float(self.objective.extra(sizes, self.records))

    def score(self, total: float) -> float:
        return float(self.objective.value(total, self.records))

    def bound(self, low: Node, high: Node, total: float) -> Bound:
        """A score that no node from `low` to `high` can beat, and the attribute whose last step merges most values."""
        steps = [
            self.widths[position, last - 1] / self.widths[position, last] if last > first else -1.0
            for position, (first, last) in enumerate(zip(low, high, strict=True))
        ]
        least = self.score(total)
        return Bound(least, int(np.argmax(steps)) if max(steps) >= 0 else -1, least, high)


def scores(objective: Objective | None, weights: Mapping[str, float], groupings: Groupings) -> CellScores | ClassScores:
    """What a search minimizes: an objective with weights by column, loss unless one is chosen."""
    summary = groupings.summary
    unknown = [name for name in weights if name not in summary.attributes]
    if unknown:
        raise unknown_columns(unknown, summary.attributes)
    factors = np.array([weights.get(name, 1.0) for name in summary.attributes], dtype=np.float64)
    if (factors < 0).any() or not np.isfinite(factors).all() or factors.sum() == 0:
        raise ParameterError("weights are numbers from 0 up, and one of them at least is above 0")
    if isinstance(objective, ClassObjective):
        if weights:
            raise ParameterError(
                f"{type(objective).__name__} looks at class sizes, so weights of columns mean nothing to it; "
                "leave them out or choose another objective, such as loss"
            )
        return ClassScores(objective, groupings)
    shares = factors / factors.sum()
    if objective is None:
        return CellScores(loss_terms(summary, shares), groupings)
    if isinstance(objective, CellObjective):
        return CellScores(objective.terms(summary, shares), groupings)
    raise ParameterError(
        f"{type(objective).__name__} cannot be minimized over the lattice; choose an objective such as loss, "
        "loss-arithmetic, gcp, dm, dm-all, aecs, entropy, precision or height"
    )
