"""Survey: what columns are like as they stand at the source, whatever their role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.grouping import Codes, group
from shoal.core.values import Values


@dataclass(frozen=True, eq=False)
class Survey:
    """A look at columns of a table of so many `records`.

    `looks` has some records, evenly spaced: of each column some distinct values, and the codes of its values record by
    record (negative: missing), or why it cannot be looked at. Equal columns have equal codes; what a code stands for is
    not said. All records are counted: `present` those that have a value in a column, `distinct` its values, and `alone`
    those that no other record agrees with in all counted columns, missing being a value.
    """

    records: int
    looks: Mapping[str, tuple[Values, Codes] | str]
    present: Mapping[str, int]
    distinct: Mapping[str, int]
    alone: int


def spaced(records: int, most: int) -> np.ndarray:
    """The places of at most so many records, evenly spaced."""
    return np.linspace(0, max(records - 1, 0), min(records, most)).astype(np.int64)


def alone(columns: Sequence[Codes]) -> int:
    """How many records no other one agrees with in all columns.

    Example:
        >>> alone([np.array([0, 0, 1, -1], np.int32), np.array([0, 0, 0, 0], np.int32)])
        2
    """
    # The columns that tell most apart come first: who is alone by them need not be looked at again.
    shifted = sorted((column + np.int32(1) for column in columns), key=lambda column: -int(column.max(initial=0)))
    if not shifted:
        return 0
    found, rows = 0, np.arange(len(shifted[0]))
    classes = np.zeros(len(rows), np.int32)
    for column in shifted:
        if not len(rows):
            break
        values = column[rows]
        grouped = group([classes, values], [int(classes.max()) + 1, int(values.max()) + 1], index=True)
        assert grouped.index is not None
        several = grouped.counts[grouped.index] > 1
        found += int((~several).sum())
        rows, classes = rows[several], grouped.index[several]
    return found
