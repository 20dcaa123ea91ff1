"""Recoding: what an algorithm decided, before any row is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Floats, Hierarchy, spelled


@dataclass(frozen=True, eq=False)
class ByLevel:
    """Every value of a column at one level (full-domain generalization).

    `suppressed[t]` says whether the records of distinct tuple `t` of the summary are left out. `trail` has the level
    vectors that the search checked, in order, and whether each one satisfied the policy.
    """

    levels: tuple[int, ...]
    suppressed: NDArray[np.bool_]
    facts: dict[str, Any] = field(default_factory=dict)
    trail: tuple[tuple[tuple[int, ...], bool], ...] = ()


@dataclass(frozen=True, eq=False)
class ByClass:
    """Each class of records with its own generalization (local recoding).

    `classes` gives the class of each distinct tuple of the summary, or of each row when `over_rows`;
    a negative class is left out. In class `c`, attribute `j` is published as the range of leaves
    from `low[j, c]` to `high[j, c]`: as an interval where `intervals[j]` says so, else as a node, or as the
    mean `means[j][c]` where `means[j]` is not None.
    """

    classes: Codes
    low: Codes
    high: Codes
    over_rows: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    intervals: tuple[bool, ...] = ()
    means: tuple[Floats | None, ...] = ()

    @classmethod
    def of(
        cls,
        classes: Codes,
        columns: Sequence[Codes],
        hierarchies: Sequence[Hierarchy],
        intervals: Sequence[bool],
        *,
        over_rows: bool = False,
        facts: dict[str, Any] | None = None,
        means: Sequence[bool] = (),
        weights: Counts | None = None,
    ) -> ByClass:
        """The recoding of a partition: each class is published as what its records have in common.

        That is the interval from its least to its greatest value where `intervals` says so, else the closest
        common ancestor; a class in which some values are missing and others not is published as the top. Where
        `means` says so it is the mean; `weights` are the records of each distinct tuple.
        """
        from shoal.kernels.ranges import extremes

        count = int(classes.max()) + 1 if len(classes) else 0
        low, high = np.empty((2, len(columns), count), dtype=np.int32)
        for position, (column, hierarchy, interval) in enumerate(zip(columns, hierarchies, intervals, strict=True)):
            first, last = extremes(classes, column, count)
            if interval:
                mixed = hierarchy.spans_missing(first, last)
                last = np.where(mixed, np.int32(hierarchy.size - 1), last)
            else:
                first, last = hierarchy.widen(first, last)
            low[position], high[position] = first, last
        averages = tuple(
            _means(classes, column, hierarchy, count, weights) if wanted else None
            for column, hierarchy, wanted in zip(columns, hierarchies, means, strict=False)
        )
        return cls(classes, low, high, over_rows, facts or {}, tuple(intervals), averages)

    def mean_labels(self, position: int, hierarchy: Hierarchy) -> list[str | None] | None:
        """How each class is published in an attribute that is published as the mean; None for any other attribute."""
        means = self.means[position] if self.means else None
        if means is None:
            return None
        low, high = self.low[position], self.high[position]
        plain = (low == high) | hierarchy.spans_missing(low, high)
        return [
            hierarchy.label(int(first), int(last)) if simple else spelled(float(f"{mean:.10g}"))
            for first, last, simple, mean in zip(low, high, plain, means, strict=True)
        ]


def _means(classes: Codes, column: Codes, hierarchy: Hierarchy, count: int, weights: Counts | None) -> Floats:
    """The mean of each class; not-a-number where it has no value."""
    assert hierarchy.values is not None
    kept = (classes >= 0) & (column >= int(hierarchy.missing))
    shares = np.ones(int(kept.sum())) if weights is None else weights[kept].astype(np.float64)
    totals = np.bincount(classes[kept], weights=shares, minlength=count)
    # Shares first: the sum of huge values may be infinite where their mean is not.
    parts = hierarchy.values[column[kept]] * (shares / totals[classes[kept]])
    means = np.bincount(classes[kept], weights=parts, minlength=count)
    return np.where(totals > 0, means, np.nan)


Recoding = ByLevel | ByClass
