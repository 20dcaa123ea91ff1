"""A hierarchy from a table file."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typing_extensions import Doc

from shoal.core.contracts import Builder
from shoal.core.hierarchy import Hierarchy
from shoal.core.values import Values
from shoal.errors import HierarchyError

SEPARATORS = (";", ",", "\t", "|")


@dataclass(frozen=True, kw_only=True)
class Table(Builder):
    """One row a raw value: the raw value first, what it becomes at each level after it, the top last.

    The separator is found out: semicolon, comma, tab or bar. A first line whose first cell is the column's
    name, or the word "level" with a number, is a header. Each raw value of the column needs a row; rows for
    values that the column does not have are fine and count as leaves.

    Example:
        >>> from pathlib import Path; import tempfile
        >>> from shoal.core.schema import Kind
        >>> path = Path(tempfile.mkdtemp()) / "sex.csv"
        >>> _ = path.write_text("Male;*\\nFemale;*\\n")
        >>> Table(path=path).build(Values.of("sex", Kind.CATEGORICAL, ["Male", "Female"])).height
        1
    """

    path: Annotated[Path, Doc("the file")]

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
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise HierarchyError(f"the hierarchy of column {column!r}: the file {path.name!r} is empty")

    def width(separator: str) -> tuple[bool, int]:
        counts = [len(row) for row in csv.reader(lines[:200], delimiter=separator)]
        return min(counts) > 1 and len(set(counts)) == 1, max(counts)

    separator = max(SEPARATORS, key=width)
    if width(separator)[1] < 2:
        raise HierarchyError(f"the hierarchy of column {column!r}: no separator found; use ; between the levels")
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    first = rows[0][0].lower()
    if len(rows) > 1 and (first == column.lower() or first in ("level0", "level 0", "level-0", "level_0")):
        rows = rows[1:]
    return rows
