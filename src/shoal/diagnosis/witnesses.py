"""Witnesses: records that are badly protected, and so refute every set by which they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Counts
from shoal.diagnosis.families import mask_of, members
from shoal.diagnosis.weighted_rows import WeightedRows

Masks = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Witness:
    """A record, by the level that its class has for any set of some `attributes`; of models that are compiled, or by
    size.

    `likeliest` has those attributes, the ones that a small bad set can do without first.
    """

    attributes: int
    likeliest: tuple[int, ...]
    reached: Callable[[int], float]

    @classmethod
    def of(cls, rows: WeightedRows, row: int, places: dict[int, int], likeliest: Sequence[int]) -> Witness:
        """One scan: for every row the columns in which it equals the record. `places` says which column is whose."""
        from shoal.kernels import partitions as kernel

        masks = kernel.agreement(rows.columns, row)
        distinct, weights = _condensed(masks, rows.weights)

        def inner(chosen: int) -> np.uint64:
            return np.uint64(mask_of(places[position] for position in members(chosen)))

        def size(chosen: int) -> float:
            wanted = inner(chosen)
            return float(weights[distinct & wanted == wanted].sum())

        def level(chosen: int) -> float:
            weight, reached = kernel.level_of(inner(chosen), masks, rows.counted, rows.measure, rows.sign)
            return float(reached) if weight >= rows.floor else -math.inf

        return cls(mask_of(places), tuple(likeliest), size if rows.measure is None else level)

    def refutes(self, mask: int, threshold: float) -> bool:
        """Whether the record's class by a set is below the threshold."""
        return mask & ~self.attributes == 0 and self.reached(mask) < threshold


def _condensed(masks: Masks, weights: Counts) -> tuple[Masks, Counts]:
    """Equal masks as one, with their weights together."""
    if int(masks.max()) < 4 * len(masks):
        summed = np.bincount(masks.astype(np.int64), weights=weights)
        distinct = np.flatnonzero(summed)
        return distinct.astype(np.uint64), summed[distinct].astype(np.int64)
    different, inverse = np.unique(masks, return_inverse=True)
    return different, np.bincount(inverse, weights=weights).astype(np.int64)
