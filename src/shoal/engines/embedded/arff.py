"""ARFF, the format of WEKA: a header that names the attributes, then rows as in a CSV file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.errors import InputError

ENDINGS = (".arff",)
_TOKEN = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s,{}'\"]+)")
_PLAIN = re.compile(r"[^\s,{}%'\"\\?][^\s,{}%'\"\\]*")
_NUMBERS = ("numeric", "real", "integer")
_TEXTS = ("string", "date")


def read(path: Path) -> pa.Table:
    """The table in a file: numbers as numbers, names and texts as texts, `?` as missing."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text(encoding="latin-1")
    except OSError:
        raise InputError(f"{path.name}: this file cannot be read") from None
    names: list[str] = []
    kinds: list[str] = []
    lines = iter(io.StringIO(text, newline=None))
    for line in lines:
        stripped = line.strip()
        word = stripped.split(None, 1)[0].lower() if stripped and not stripped.startswith("%") else ""
        if word == "@attribute":
            name, kind = _attribute(stripped, path)
            names.append(name)
            kinds.append(kind)
        elif word == "@data":
            break
        elif word not in ("", "@relation"):
            raise InputError(f"{path.name}: line {len(names) + 1} of the header is not one of an ARFF file")
    else:
        raise InputError(f"{path.name}: this ARFF file has no @data")
    if not names:
        raise InputError(f"{path.name}: this ARFF file names no attributes")
    return _rows("".join(_kept(lines, path)), names, kinds, path)


def _attribute(line: str, path: Path) -> tuple[str, str]:
    found = _TOKEN.match(line, len("@attribute") + 1 + len(line[len("@attribute") + 1 :]) - len(line[11:].lstrip()))
    if found is None:
        raise InputError(f"{path.name}: an attribute has no name")
    rest = line[found.end() :].strip()
    kind = "nominal" if rest.startswith("{") else rest.split(None, 1)[0].lower() if rest else ""
    if kind not in ("nominal", *_NUMBERS, *_TEXTS):
        raise InputError(f"{path.name}: the type of an attribute is not known; use numeric, string or {{values}}")
    return _unescaped(next(part for part in found.groups() if part is not None)), kind


def _kept(lines: Iterable[str], path: Path) -> Iterator[str]:
    """The rows, without comments and blank lines."""
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("%"):
            continue
        if stripped.startswith("{"):
            raise InputError(f"{path.name}: this is a sparse ARFF file; save it with all values")
        yield stripped.replace("\t", ",") + "\n" if "," not in stripped and "\t" in stripped else stripped + "\n"


def _rows(data: str, names: list[str], kinds: list[str], path: Path) -> pa.Table:
    if not data:
        return pa.table({name: pa.array([], _type(kind)) for name, kind in zip(names, kinds, strict=True)})
    # Values may be quoted by either mark; a file that uses the double one is read with it.
    mark = '"' if '"' in data and "'" not in data else "'"
    places = [str(place) for place in range(len(names))]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data.encode()),
            read_options=pa.csv.ReadOptions(column_names=places),
            parse_options=pa.csv.ParseOptions(quote_char=mark, escape_char="\\", double_quote=False),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), null_values=["?"], strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )  # fmt: skip
        columns = [
            _numbers(pc.utf8_trim_whitespace(column)) if kind in _NUMBERS else pc.utf8_trim_whitespace(column)
            for column, kind in zip(table.columns, kinds, strict=True)
        ]
    except pa.ArrowException:
        raise InputError(f"{path.name}: the rows do not fit the {len(names)} attributes of the header") from None
    return pa.table(columns, names=names)


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as numbers, whole ones where all are."""
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.float64())


def _type(kind: str) -> pa.DataType:
    return pa.float64() if kind in _NUMBERS else pa.string()


def write(path: Path, table: pa.Table) -> None:
    """Writes a table: numbers as numeric, everything else as names in ascending order, missing as `?`."""
    path.write_text(written(table), encoding="utf-8")


def written(table: pa.Table) -> str:
    """A table as the text of an ARFF file."""
    header, columns = ["@relation release", ""], []
    for name in table.column_names:
        column = table[name]
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            header.append(f"@attribute {_escaped(name)} numeric")
            columns.append(["?" if value is None or value != value else str(value) for value in column.to_pylist()])
            continue
        texts = column.cast(pa.string()).to_pylist()
        spelled = {text: _escaped(text) for text in set(texts) if text is not None}
        header.append(f"@attribute {_escaped(name)} {{{','.join(spelled[text] for text in sorted(spelled))}}}")
        columns.append(["?" if text is None else spelled[text] for text in texts])
    rows = [",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join([*header, "", "@data", *rows, ""])


def _escaped(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = (
        text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    return f"'{escaped.replace('%', chr(92) + '%')}'"


def _unescaped(text: str) -> str:
    known = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda found: known.get(found[1], found[1]), text)
