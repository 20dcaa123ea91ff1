"""Survey: what columns are like as they stand at the source, whatever their role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts, group
from shoal.core.values import Values

WIDE = 1 << 17
"""Different values beyond which a column is wide: some of them are looked at, and all are known by their hashes."""
SHOWN = 2000
"""Values of a wide column that are looked at: those whose hashes come first."""


@dataclass(frozen=True, eq=False, repr=False)
class Overview:
    """All columns of a table of so many `records`, by its distinct rows.

    `values` has the distinct values of each column, or some of a wide one, or why the column cannot be looked at. For
    each that can be, `codes` has what it holds in every distinct row (negative: missing), and `counts` how many records
    have that row. Equal columns have equal codes. The rows stand in an order that follows from what they hold.

    Two values of a wide column are taken for one when 64 bits of their hashes agree: among a hundred million values
    that is to be expected of one pair in about four thousand tables.
    """

    records: int
    values: Mapping[str, Values | str]
    codes: Mapping[str, NDArray[Any]]
    counts: Counts

    @property
    def looks(self) -> dict[str, tuple[Values, NDArray[Any]] | str]:
        """Each column as its values and codes, or why it cannot be looked at."""
        return {
            name: values if isinstance(values, str) else (values, self.codes[name])
            for name, values in self.values.items()
        }

    def some(self, most: int) -> NDArray[np.int64]:
        """The rows of at most so many records, evenly spaced."""
        return np.searchsorted(np.cumsum(self.counts), spaced(self.records, most), side="right")


@dataclass(frozen=True, eq=False)
class Survey:
    """A look at columns of a table of so many `records`.

    `looks` has some records, evenly spaced: of each column some distinct values, and the codes of its values record by
    record (negative: missing), or why it cannot be looked at. Equal columns have equal codes; what a code stands for is
    not said. All records are counted: `present` those that have a value in a column, `distinct` its values, and `alone`
    those that no other record agrees with in all counted columns, missing being a value. `judged` remembers what was
    found about a column, or about one beside another, so that it is found once for all releases of a table.
    """

    records: int
    looks: Mapping[str, tuple[Values, Codes] | str]
    present: Mapping[str, int]
    distinct: Mapping[str, int]
    alone: int
    judged: dict[tuple[str, ...], str | None] = field(default_factory=dict)


def spaced(records: int, most: int) -> np.ndarray:
    """The places of at most so many records, evenly spaced."""
    return np.linspace(0, max(records - 1, 0), min(records, most)).astype(np.int64)


def alone(columns: Sequence[NDArray[Any]], counts: Counts | None = None) -> int:
    """How many records no other one agrees with in all columns; with `counts`, a row stands for so many records.

    Example:
        >>> alone([np.array([0, 0, 1, -1], np.int32), np.array([0, 0, 0, 0], np.int32)])
        2
    """
    # The columns that tell most apart come first: who is alone by them need not be looked at again.
    shifted = sorted(columns, key=lambda column: -int(column.max(initial=0)))
    if not shifted:
        return 0
    count, rows = 0, np.arange(len(shifted[0]))
    classes = np.zeros(len(rows), np.int32)
    for column in shifted:
        if not len(rows):
            break
        values = column[rows] + np.int32(1)
        weights = None if counts is None else counts[rows]
        radices = [int(classes.max()) + 1, int(values.max()) + 1]
        grouped = group([classes, values], radices, weights=weights, index=True)
        several = grouped.counts[grouped.index] > 1
        count += int((~several).sum())
        rows, classes = rows[several], grouped.index[several]
    return count
