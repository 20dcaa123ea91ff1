"""A hierarchy from a table file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar

from typing_extensions import Doc

from shoal.core.contracts import Builder
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError

SEPARATORS = (";", ",", "\t", "|")


@dataclass(frozen=True, kw_only=True)
class Table(Builder):
    """One row a raw value: the raw value first, what it becomes at each level after it, the top last.

    The separator is found out: semicolon, comma, tab or bar. A first line whose first cell is the column's
    name, or the word "level" with a number, and that ends in another value than the rest, is a header. Each
    raw value of the column needs a row; rows for values that the column does not have are fine and count as
    leaves.

    Example:
        >>> from pathlib import Path; import tempfile
        >>> from shoal.core.schema import Kind
        >>> path = Path(tempfile.mkdtemp()) / "sex.csv"
        >>> _ = path.write_text("Male;*\\nFemale;*\\n")
        >>> Table(path=path).build(Values.of("sex", Kind.CATEGORICAL, ["Male", "Female"])).height
        1
    """

    path: Annotated[Path, Doc("the file")]

    examples: ClassVar[Examples] = ({"path": Path(__file__).parents[1] / "samples/hierarchies/adult/sex.csv"},)

    def build(self, values: Values) -> Hierarchy:
        return Hierarchy.from_paths(values.column, read_paths(self.path, values.column))


def read_paths(path: Path, column: str) -> list[list[str]]:
    """The rows of a hierarchy file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text(encoding="latin-1")
    except OSError:
        raise HierarchyError(f"the hierarchy of column {column!r}: the file {path.name!r} cannot be read") from None
    if "\0" in text:
        raise HierarchyError(f"the hierarchy of column {column!r}: the file {path.name!r} is not a text file")
    if not text.strip():
        raise HierarchyError(f"the hierarchy of column {column!r}: the file {path.name!r} is empty")
    try:
        separator = max(SEPARATORS, key=lambda candidate: _fitness(list(islice(_rows(text, candidate), 200))))
        rows = list(_rows(text, separator))
    except csv.Error:
        raise HierarchyError(
            f"the hierarchy of column {column!r}: the file {path.name!r} cannot be read; check its quotation marks"
        ) from None
    if max(len(row) for row in rows) < 2:
        raise HierarchyError(f"the hierarchy of column {column!r}: no separator found; use ; between the levels")
    first = rows[0][0].lower()
    titled = first == column.lower() or first in ("level0", "level 0", "level-0", "level_0")
    return rows[1:] if titled and len(rows) > 1 and rows[0][-1] != rows[1][-1] else rows


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield cells


def _fitness(rows: list[list[str]]) -> tuple[bool, int, int]:
    """How well a separator suits: rows of one width, one single top (and perhaps a header's), many levels."""
    widths, tops = {len(row) for row in rows}, {row[-1] for row in rows}
    return len(widths) == 1 and max(widths) > 1, -min(len(tops), 3), max(widths)
