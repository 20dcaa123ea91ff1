"""Recoding: what an algorithm decided, before any row is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class ByLevel:
    """Every value of a column at one level (full-domain generalization).

    `suppressed[t]` says whether the records of distinct tuple `t` of the summary are left out.
    """

    levels: tuple[int, ...]
    suppressed: NDArray[np.bool_]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ByClass:
    """Each class of records with its own generalization (local recoding).

    `classes` gives the class of each distinct tuple of the summary, or of each row when `over_rows`;
    a negative class is left out. In class `c`, attribute `j` is published as the range of leaves
    from `low[j, c]` to `high[j, c]`: as an interval where `intervals[j]` says so, else as a node.
    """

    classes: Codes
    low: Codes
    high: Codes
    over_rows: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    intervals: tuple[bool, ...] = ()

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
    ) -> ByClass:
        """The recoding of a partition: each class is published as what its records have in common.

        That is the interval from its least to its greatest value where `intervals` says so, else the closest
        common ancestor; a class in which some values are missing and others not is published as the top.
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
        return cls(classes, low, high, over_rows, facts or {}, tuple(intervals))


Recoding = ByLevel | ByClass
