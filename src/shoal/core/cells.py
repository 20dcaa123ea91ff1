"""Cells: how precise the published quasi-identifiers of classes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.codebook import Codebook
from shoal.core.grouping import Codes


@dataclass(frozen=True, eq=False)
class Cells:
    """How precise the published quasi-identifiers are: for each attribute and class the range of leaves that the
    published value stands for, the level of the hierarchy it is at, and the length of its interval."""

    low: Codes
    high: Codes
    levels: Codes
    lengths: NDArray[np.float64]


def cells_of_entries(books: Sequence[Codebook], entries: Codes) -> Cells:
    """The cells of classes from the entries of their codebooks."""
    return Cells(
        *(
            np.stack([getattr(book, what)[cells] for book, cells in zip(books, entries, strict=True)])
            for what in ("low", "high", "levels", "lengths")
        )
    )


def merged_cells(cells: Cells, index: Codes, count: int) -> Cells:
    """The cells of classes that are published alike, as those of one: classes with the same mean need not have the same
    range."""
    low, high = np.full((2, len(cells.low), count), np.iinfo(np.int32).max, dtype=np.int32)
    high[:] = -1
    levels, lengths = np.zeros((len(low), count), np.int32), np.zeros((len(low), count))
    for place in range(len(low)):
        np.minimum.at(low[place], index, cells.low[place])
        np.maximum.at(high[place], index, cells.high[place])
        np.maximum.at(levels[place], index, cells.levels[place])
        np.maximum.at(lengths[place], index, cells.lengths[place])
    return Cells(low, high, levels, lengths)
