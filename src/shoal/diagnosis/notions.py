"""Notions: what is asked about. k, the l of four kinds of diversity, and t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.classes import Histogram
from shoal.core.sensitive import SLACK
from shoal.errors import ParameterError, SchemaError

NOTIONS = ("k", "distinct-l", "entropy-l", "frequency-l", "recursive-l", "t")
DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True, kw_only=True)
class Notion:
    """A notion of privacy that gives every class a level; a table has the worst of its classes' levels.

    Levels inside the diagnosis are such that **higher is better**: t is negated. When attributes are added, classes
    fall apart, and the worst level never gets better:

    - k and distinct l: a part of a class has no more records, and no more values, than the class.
    - entropy l, frequency l, recursive (c, l) and t: when all parts keep a bound, their union keeps it too
      (concavity of the entropy, the mediant of shares, Machanavajjhala's theorem, convexity of the distance).

    With a suppression budget only the first line survives: a part of a class that breaks entropy l (or frequency,
    recursive l, or t) can itself keep it, so that adding an attribute can *save* records. `monotone` says which
    holds, and the searches use it.
    """

    name: str
    c: float | None = None
    distance: str = "equal"

    def __post_init__(self) -> None:
        if self.name not in NOTIONS:
            raise ParameterError(f"there is no such notion; choose one of {', '.join(NOTIONS)}")
        if self.distance not in DISTANCES:
            raise ParameterError(f"there is no such distance; choose one of {', '.join(DISTANCES)}")
        if self.name != "t" and self.distance != "equal":
            raise ParameterError("a distance belongs to the notion t")
        if (self.c is None) == (self.name == "recursive-l"):
            raise ParameterError(
                "recursive-l needs c, such as c=3" if self.c is None else "c belongs to the notion recursive-l"
            )
        if self.c is not None and not (self.c > 0 and math.isfinite(self.c)):
            raise ParameterError("c is a number above 0")

    @property
    def letter(self) -> str:
        """The parameter that it bounds: k, l or t."""
        return self.name[-1]

    @property
    def needs_sensitive(self) -> bool:
        return self.name != "k"

    @property
    def whole(self) -> bool:
        """Whether levels are whole numbers."""
        return self.name in ("k", "distinct-l", "recursive-l")

    def monotone(self, budget: int) -> bool:
        """Whether adding attributes never makes a set better when so many records may be left out."""
        return budget == 0 or self.name in ("k", "distinct-l")

    def threshold(self, bound: float) -> float:
        """A bound as the least inner level that keeps it; a tie by the definition is a tie."""
        inner = -bound if self.name == "t" else float(bound)
        return inner if self.whole else inner - SLACK * abs(inner)

    def checked(self, bound: Any) -> float:
        """A bound that makes sense for the notion."""
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not math.isfinite(bound):
            raise ParameterError(f"{self.letter} is a number")
        if self.name == "t":
            if not 0 <= bound <= 1:
                raise ParameterError("t is a number between 0 and 1")
            return float(bound)
        if bound < 1 or (self.whole and bound != int(bound)):
            raise ParameterError(f"{self.letter} is a {'whole ' if self.whole else ''}number from 1 up")
        return int(bound) if self.whole else float(bound)

    def outer(self, level: float) -> float | int:
        """An inner level as people know it."""
        if self.name == "t":
            return 0.0 if math.isinf(level) else max(0.0, -level)
        return int(level) if self.whole and math.isfinite(level) else float(level)

    def measure(self, histogram: Histogram | None) -> tuple[Any, np.ndarray]:
        """What the kernels need, and the number under which each sensitive value counts (values that occur)."""
        from shoal.kernels import partitions as kernel

        kinds = {
            "k": kernel.K,
            "distinct-l": kernel.DISTINCT,
            "entropy-l": kernel.ENTROPY,
            "frequency-l": kernel.FREQUENCY,
            "recursive-l": kernel.RECURSIVE,
        }
        kind = kinds.get(self.name, kernel.T_EQUAL + DISTANCES.index(self.distance))
        parents, tops = np.zeros((0, 0), np.int32), np.zeros(0, np.int64)
        if histogram is None:
            none = np.empty(0)
            return kernel.Measure(kind, 0.0, none, parents, tops), none.astype(np.int32)
        counts = histogram.population
        if kind == kernel.T_TREE:
            tree = histogram.hierarchy
            if tree is None:
                raise SchemaError(f"sensitive column {histogram.column!r} needs a hierarchy for this distance")
            numbers = np.arange(tree.size, dtype=np.int32)
            tops = np.array([len(starts) for starts in tree.starts], np.int64)
            parents = np.zeros((tree.height, tree.size), np.int32)
            for level in range(tree.height):
                parents[level, : tops[level]] = tree.codes[level + 1][tree.starts[level]]
        else:
            occurs = counts > 0
            numbers = (np.cumsum(occurs) - 1).astype(np.int32)
            counts = counts[occurs]
        return kernel.Measure(kind, float(self.c or 0.0), counts / counts.sum(), parents, tops), numbers
