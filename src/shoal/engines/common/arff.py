"""ARFF, the format of WEKA: a header that names the attributes, then rows as in a CSV file."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.core.values import NUMBER
from shoal.engines.common.encoding import numbers_of
from shoal.engines.common.unpacking import Unpacked
from shoal.errors import InputError

_QUOTED = r"'((?:[^'\\]|\\.)*)'" + r'|"((?:[^"\\]|\\.)*)"'
_NAME = re.compile(_QUOTED + r"|([^\s,{}'\"]+)")
_CELL = re.compile(rf"[ \t]*(?:{_QUOTED})[ \t]*")
_COMMENT = re.compile(rf"({_QUOTED})|%.*")
_PLAIN = re.compile(r"[^\s,{}%'\"\\?][^\s,{}%'\"\\]*")
_NUMBERS = ("numeric", "real", "integer")
_TEXTS = ("string", "date")


def read(path: Path) -> tuple[pa.Table, frozenset[str]]:
    """The table in a file, and the columns that hold names by its header, whatever those look like.

    Numbers are read as numbers, names and texts as texts, `?` as missing.
    """
    try:
        with Unpacked(path) as file:
            content = file.read()
    except OSError:
        raise InputError(f"{path.name}: this file cannot be read") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    names: list[str] = []
    kinds: list[str] = []
    lines = iter(io.StringIO(text, newline=None))
    for line in _without_comments(lines):
        word, _, rest = line.replace("\t", " ").partition(" ")
        if word.lower() == "@attribute":
            name, kind = _attribute(rest.strip(), path)
            names.append(name)
            kinds.append(kind)
        elif word.lower() == "@data":
            break
        elif word.lower() != "@relation":
            raise InputError(f"{path.name}: the header is not one of an ARFF file")
    else:
        raise InputError(f"{path.name}: this ARFF file has no @data")
    if not names:
        raise InputError(f"{path.name}: this ARFF file names no attributes")
    nominal = frozenset(name for name, kind in zip(names, kinds, strict=True) if kind == "nominal")
    return _rows(list(_without_comments(lines)), names, kinds, path), nominal


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    """The lines without comments and blank ones."""
    for line in lines:
        content = (_COMMENT.sub(r"\1", line) if "%" in line else line).strip()
        if content:
            yield content


def _attribute(rest: str, path: Path) -> tuple[str, str]:
    named = _NAME.match(rest)
    if named is None:
        raise InputError(f"{path.name}: an attribute has no name")
    kind = rest[named.end() :].strip()
    kind = "nominal" if kind.startswith("{") else kind.split(None, 1)[0].lower() if kind else ""
    if kind not in ("nominal", *_NUMBERS, *_TEXTS):
        raise InputError(f"{path.name}: the type of an attribute is not known; use numeric, string or {{values}}")
    return _unescape(next(part for part in named.groups() if part is not None)), kind


def _rows(lines: list[str], names: list[str], kinds: list[str], path: Path) -> pa.Table:
    if not lines:
        raise InputError(f"{path.name}: there is a header and no record")
    if any(line.startswith("{") for line in lines):
        raise InputError(f"{path.name}: this is a sparse ARFF file; save it with all values")
    spread = (line.replace("\t", ",") if "," not in line and "\t" in line else line for line in lines)
    data = _CELL.sub(_as_csv, "\n".join(spread) + "\n")
    places = [str(place) for place in range(len(names))]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data.encode()),
            read_options=pa.csv.ReadOptions(column_names=places),
            parse_options=pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), null_values=["?"], strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )  # fmt: skip
        columns = [
            _numbers(column) if kind in _NUMBERS else column
            for column, kind in zip(map(_trim, table.columns), kinds, strict=True)
        ]
    except pa.ArrowException:
        raise InputError(f"{path.name}: the rows do not fit the {len(names)} attributes of the header") from None
    return pa.table(columns, names=names)


def _as_csv(cell: re.Match[str]) -> str:
    """A quoted cell, by either mark, as CSV quotes it."""
    text = _unescape(cell[1] if cell[1] is not None else cell[2])
    return '"' + text.replace('"', '""') + '"'


def _trim(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Blanks around a value do not count; a question mark between blanks is missing too."""
    bare = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.and_(pc.equal(bare, "?"), pc.not_equal(column, "?")), None, bare)


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as numbers, whole ones where all are."""
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.float64())


def render(table: pa.Table, nominal: Collection[str] = ()) -> str:
    """A table as the text of an ARFF file, missing values as `?`.

    Numbers are numeric, also where they came as texts, unless the column is `nominal`; days are dates; everything else
    is names in ascending order.
    """
    header, columns = ["@relation release", ""], []
    for name in table.column_names:
        kind, cells = _attribute_cells(table[name], name in nominal)
        header.append(f"@attribute {_escape(name)} {kind}")
        columns.append(cells)
    rows = [",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join([*header, "", "@data", *rows, ""])


def _attribute_cells(column: pa.ChunkedArray, nominal: bool) -> tuple[str, list[str]]:
    """The type of an attribute and its cells."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        cells = column.to_pylist()
        return "numeric", ["?" if value is None or value != value else str(value) for value in cells]
    texts = column.cast(pa.string()).to_pylist()
    spelled = {text: _escape(text) for text in set(texts) if text is not None}
    cells = ["?" if text is None else spelled[text] for text in texts]
    if pa.types.is_date(kind):
        return "date yyyy-MM-dd", cells
    if not nominal and all(re.fullmatch(NUMBER, text) for text in spelled) and _stay_apart(spelled):
        return "numeric", cells
    return "{" + ",".join(spelled[text] for text in sorted(spelled)) + "}", cells


def _stay_apart(texts: Collection[str]) -> bool:
    """Whether texts are numbers of their own, and not codes such as 007 or 250.0 beside 250.00."""
    return numbers_of(pa.array(texts, pa.string()), list(texts)) is not None


def _escape(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = (
        text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    return f"'{escaped.replace('%', chr(92) + '%')}'"


def _unescape(text: str) -> str:
    known = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda escaped: known.get(escaped[1], escaped[1]), text)
