"""Codes of SPSS and Stata that stand for missing answers: -9 for "refused", .a for "does not know".

They tell people apart, so where they are published apart they count apart. Among named values each is a value of its
own. Among numbers none may be taken for a quantity: a column with a role is read without them, and a plain one takes
them along into a file of the same program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.common.column_types import is_text

Code = int | float | str
"""A number, or the letter of Stata."""


@dataclass(frozen=True, eq=False)
class MissingCodes:
    """A `column` of numbers in which some stand for codes that count as missing: `codes` says for which, and `labels`
    what those mean. Without them it has the type `kind`."""

    column: pa.ChunkedArray
    codes: Mapping[int | float, Code]
    labels: Mapping[Code, str]
    kind: pa.DataType

    def without_rows(self) -> MissingCodes:
        """The same codes, which are small."""
        return replace(self, column=pa.chunked_array([], self.column.type))

    def hide(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Some of the column, with missing values in the places of the codes; what is published as text has none."""
        if is_text(column.type.value_type if pa.types.is_dictionary(column.type) else column.type):
            return column
        listed = pa.array(list(self.codes), column.type)
        return pc.if_else(pc.is_in(column, listed), None, column).cast(self.kind)

    def spell_out(self, column: pa.ChunkedArray) -> list[Any]:
        """The column with each code in its place."""
        return [self.codes.get(value, value) for value in column.to_pylist()]


def inside(column: pa.ChunkedArray, ranges: Sequence[Mapping[str, Any]]) -> pa.ChunkedArray:
    """Which numbers lie in ranges."""
    column = column.cast(pa.float64(), safe=False)  # as which SPSS holds them
    within = (pc.and_(pc.greater_equal(column, each["lo"]), pc.less_equal(column, each["hi"])) for each in ranges)
    return pc.fill_null(reduce(pc.or_, within), False)


def by_ranges(column: pa.ChunkedArray, ranges: Sequence[Mapping[str, Any]]) -> dict[int | float, Code]:
    """The codes of SPSS that occur in a column: numbers in the ranges that it counts as missing."""
    return {code: code for code in pc.unique(column.filter(inside(column, ranges))).to_pylist()}


def by_letters(column: pa.ChunkedArray, cells: Sequence[Any]) -> tuple[pa.ChunkedArray, dict[int | float, Code]]:
    """A column of Stata with numbers that it does not have in the places of its letters, and what they stand for."""
    letters = sorted({cell for cell in cells if isinstance(cell, str)})
    values = set(pc.unique(column).to_pylist())
    free = (number for number in count(-1, -1) if number not in values)
    numbers = dict(zip(letters, free, strict=False))
    placed = pa.array([numbers.get(cell) if isinstance(cell, str) else None for cell in cells], column.type)
    return pc.coalesce(column, pa.chunked_array([placed])), {number: letter for letter, number in numbers.items()}


def spelled(code: Code) -> str:
    """A code as its program shows it."""
    if isinstance(code, str):
        return f".{code}"
    return str(int(code)) if float(code).is_integer() else str(code)
