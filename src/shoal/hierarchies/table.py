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

from shoal.core.contracts.builder import Builder
from shoal.core.hierarchy import Hierarchy
from shoal.core.parameters import Examples
from shoal.core.values import Values
from shoal.errors import HierarchyError

SEPARATORS = (";", ",", "\t", "|")


@dataclass(frozen=True, kw_only=True)
class Table(Builder):
    """One row a raw value: the raw value first, what it becomes at each level after it, the top last.

    The separator is detected: semicolon, comma, tab or bar. A first line whose first cell is the column's
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


def extended(path: Path, values: Values, builder: Builder | None = None) -> tuple[bytes, int]:
    """A hierarchy file with a row more for each value that it lacks, and how many these are; its rows stay as they are.

    With a builder, by whose rule the file was made, new values go where the rule puts them. Without one every level of
    theirs is the top: nothing is grouped wrongly, and somebody has to place them.

    Example:
        >>> from pathlib import Path; import tempfile
        >>> from shoal.core.schema import Kind
        >>> path = Path(tempfile.mkdtemp()) / "zip.csv"
        >>> _ = path.write_text("47677;476**;*\\n")
        >>> extended(path, Values.of("zip", Kind.CATEGORICAL, ["47677", "47905"]))
        (b'47677;476**;*\\n47905;*;*\\n', 1)
    """
    rows, separator, encoding = _read(path, values.column)
    known = Hierarchy.from_paths(values.column, rows)
    new = [text for text in values.texts if known.leaf(text) is None]
    top = rows[0][-1]
    if builder is None:
        added = [[text] + [top] * (len(rows[0]) - 1) for text in new]
    else:
        added = _by_rule(rows, new, values, builder)
        Hierarchy.from_paths(values.column, [*rows, *added])
    lines = io.StringIO()
    csv.writer(lines, delimiter=separator, lineterminator="\n").writerows(added)
    old = path.read_bytes()
    try:
        return old + (b"" if old.endswith(b"\n") else b"\n") + lines.getvalue().encode(encoding), len(new)
    except UnicodeEncodeError:
        raise HierarchyError(
            f"the hierarchy of column {values.column!r}: the file {path.name!r} is not UTF-8, and new values need it; "
            "save it as UTF-8"
        ) from None


def _by_rule(rows: list[list[str]], new: list[str], values: Values, builder: Builder) -> list[list[str]]:
    """The rows of new values by the rule that a file was made by; a rule that it does not keep is refused."""
    every = Values.of(values.column, values.kind, [*(row[0] for row in rows), *new])
    # More values may need more levels, which the file does not have: the top takes their place.
    path_of = {row[0]: [*row[: len(rows[0]) - 1], rows[0][-1]] for row in builder.build(every).rows()}
    others = sum(path_of.get(row[0]) != row for row in rows)
    if others:
        raise HierarchyError(
            f"the hierarchy of column {values.column!r}: {others} of {len(rows)} rows are not what this builder makes; "
            "extend the file without it, and place the new values yourself"
        )
    return [path_of[text] for text in new]


def read_paths(path: Path, column: str) -> list[list[str]]:
    """The rows of a hierarchy file."""
    return _read(path, column)[0]


def _read(path: Path, column: str) -> tuple[list[list[str]], str, str]:
    """The rows of a hierarchy file, what separates their cells, and the encoding."""
    encoding = "utf-8"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = path.read_text(encoding=encoding)
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
    titled = titled and len(rows) > 1 and rows[0][-1] != rows[1][-1]
    return (rows[1:] if titled else rows), separator, encoding


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield cells


def _fitness(rows: list[list[str]]) -> tuple[bool, int, int]:
    """How well a separator suits: rows of one width, one single top (and perhaps a header's), many levels."""
    widths, tops = {len(row) for row in rows}, {row[-1] for row in rows}
    return len(widths) == 1 and max(widths) > 1, -min(len(tops), 3), max(widths)
