"""What nodes of the lattice are grouped from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.classes import Histogram
from shoal.core.hierarchy import Floats
from shoal.core.lattice import Node


@dataclass(frozen=True, eq=False)
class Base:
    """Packed grouped at a node: one tuple stands for each class."""

    node: Node
    tuples: Any
    sensitive: tuple[Histogram, ...]
    people: Histogram | None
    households: Histogram | None
    weights: Floats | None

    @cached_property
    def histograms(self) -> tuple[Any, ...]:
        """The histograms as kernels read them."""
        return tuple(sparse_counts(histogram) for histogram in self.sensitive)

    @cached_property
    def place(self) -> tuple[int, ...]:
        """Where its tuples lie in memory, and how many they are."""
        columns, weights, firsts = self.tuples
        return _address(columns, np.int32), _address(weights, np.int64), _address(firsts, np.int32), len(self)

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The same with each histogram."""
        return tuple(
            (
                *self.place, _address(tuples, np.int32), _address(values, np.int32), _address(counts, np.int64),
                len(counts), size,
            )
            for tuples, values, counts, size in self.histograms
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.tuples.weights)


def _address(array: NDArray[Any], kind: type[np.integer[Any]]) -> int:
    """Where an array begins in memory, for kernels that take it for one of this kind."""
    if array.dtype != kind or not (array.flags.c_contiguous and array.flags.aligned):
        raise TypeError(f"an array of {array.dtype} is not one of {np.dtype(kind)} whose numbers lie side by side")
    return int(array.ctypes.data)


def sparse_counts(histogram: Histogram) -> Any:
    """A histogram as the kernels read it."""
    from shoal.kernels.node_checks import SparseCounts

    tuples = np.repeat(np.arange(len(histogram.starts) - 1, dtype=np.int32), np.diff(histogram.starts))
    return SparseCounts(tuples, histogram.values, histogram.counts, len(histogram.population))
