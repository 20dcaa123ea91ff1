"""Files of other programs that are written as a whole: Excel, SPSS, Stata and SAS.

Nothing but the table is in them: no author, no path, and no time at which they were made.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.common.missing_codes import Code, MissingCodes, inside
from shoal.errors import MissingExtraError, OutputError, quoted

WRITTEN = {"xlsx": (".xlsx",), "sav": (".sav", ".zsav"), "dta": (".dta",), "xpt": (".xpt",)}
"""The formats, and the endings that are written."""
PROGRAMS = {"xlsx": "Excel", "sav": "SPSS", "dta": "Stata", "xpt": "SAS"}

MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 1_048_575, 16_384, 32_767
"""Of a sheet: rows below its header, columns, and characters of a cell."""
GREATEST, LEAST = 1e75, 1e-77
"""Between these lie the numbers of a SAS transport file, which are IBM's."""
EXACT = 1 << 53
"""Up to here a double holds every whole number, and these programs have no other number."""
NOWHEN = datetime.datetime(2000, 1, 1)

_NAMES = {
    "sav": re.compile(
        r"(?!(?:ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH)$)[^\W\d_](?:[\w.$#@]{0,62}[\w$#@])?", re.IGNORECASE
    ),
    "dta": re.compile(r"[^\W\d]\w{0,31}"),
    "xpt": re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}"),
}
"""What these programs take for the name of a variable."""
_WRITERS = {"xpt": "write_xport"}
_STAMPED = re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d")
_HEADERS = 640
"""Bytes of a SAS transport file before what it says of its variables; the times at which it was made are there."""
_DATED = re.compile(rb"(<timestamp>)\x11.{17}(</timestamp>)", re.DOTALL)


@dataclass(frozen=True)
class VariableLabels:
    """What a file of a statistics program says of a column: its title, the code that stands for each text, which codes
    count as missing, and those of them that occur among its numbers."""

    title: str | None = None
    codes: Mapping[str, Code] = field(default_factory=dict)
    missing: Sequence[Any] = ()
    numbers: MissingCodes | None = None

    def without_missing(self) -> VariableLabels:
        """The same for another program, to which a code is a value like any other."""
        numeric = {text: code for text, code in self.codes.items() if not isinstance(code, str)}
        return VariableLabels(self.title, numeric)


def check_installed(form: str) -> None:
    """Refuses, before any work is done, a format whose library is not installed."""
    try:
        if form == "xlsx":
            import fastexcel  # noqa: F401 - it is read back
            import xlsxwriter  # noqa: F401
        elif form in WRITTEN:
            import pyreadstat  # noqa: F401
    except ImportError:
        extra = "excel" if form == "xlsx" else "statistics"
        raise MissingExtraError(f"writing files of {PROGRAMS[form]}", extra) from None


def write_file(path: Path, form: str, table: pa.Table, labels: Mapping[str, VariableLabels]) -> None:
    """Writes a table of plain values; `labels` are those of the file that it came from."""
    check_installed(form)
    for place, name in enumerate(table.column_names):
        numbers = labels[name].numbers if name in labels else None
        column = _storable(table[name])
        if numbers is not None and column.type != numbers.column.type:  # a text cannot be a code
            column = _storable(numbers.hide(table[name]))
            labels = {**labels, name: replace(labels[name], numbers=None)}
        table = table.set_column(place, name, column)
    if form == "xlsx":
        _write_sheet(path, table)
    else:
        _write_variables(path, form, table, labels)


def _storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in a type that the programs have: numbers that doubles hold, dates, moments without a zone; all else as
    its text. Not a number is no value."""
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), None, column).cast(pa.float64())
        return column if pc.all(pc.is_finite(column)).as_py() is not False else column.cast(pa.string())
    if pa.types.is_integer(kind):
        ends = pc.min_max(column).as_py()
        exact = ends["min"] is None or (ends["min"] >= -EXACT and ends["max"] <= EXACT)
        return column.cast(pa.int64() if exact else pa.string())
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "true", "false")
    if pa.types.is_date(kind):
        return column.cast(pa.date32())
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return column.cast(pa.timestamp("us"))
    return column.cast(pa.string())


def _write_sheet(path: Path, table: pa.Table) -> None:
    import xlsxwriter

    if table.num_rows > MOST_ROWS or table.num_columns > MOST_COLUMNS:
        raise OutputError(
            f"{path.name}: a sheet holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns; write .csv or .parquet"
        )
    filled = pa.chunked_array([pa.array([False] * table.num_rows)])
    for column in table.columns:
        filled = pc.or_(filled, column.is_valid())
        if pa.types.is_string(column.type) and (pc.max(pc.utf8_length(column)).as_py() or 0) > LONGEST_CELL:
            raise OutputError(f"{path.name}: a cell of Excel holds {LONGEST_CELL:,} characters; write .csv or .parquet")
    if not pc.all(filled).as_py() and table.num_rows:
        raise OutputError(
            f"{path.name}: a sheet cannot keep rows in which every cell is missing; write .csv or .parquet"
        )
    with xlsxwriter.Workbook(str(path), {"constant_memory": True, "strings_to_numbers": False}) as book:
        book.set_properties({"created": NOWHEN, "author": "", "comments": ""})
        sheet = book.add_worksheet("release")
        puts = [_put(sheet, book, column.type) for column in table.columns]
        for place, name in enumerate(table.column_names):
            sheet.write_string(0, place, name)
        first = 1
        for batch in table.to_batches(max_chunksize=1 << 14):
            columns = [column.to_pylist() for column in batch.columns]
            for row in range(batch.num_rows):
                for place, put in enumerate(puts):
                    value = columns[place][row]
                    if value is not None:
                        put(first + row, place, value)
            first += batch.num_rows


def _put(sheet: Any, book: Any, kind: pa.DataType) -> Any:
    """What puts a value of a type into a cell. A text is put as such: no program runs it."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return sheet.write_number
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        shape = book.add_format({"num_format": "yyyy-mm-dd" if pa.types.is_date(kind) else "yyyy-mm-dd hh:mm:ss"})
        return lambda row, place, value: sheet.write_datetime(row, place, value, shape)
    return sheet.write_string


def _write_variables(path: Path, form: str, table: pa.Table, labels: Mapping[str, VariableLabels]) -> None:
    import polars
    import pyreadstat

    odd = [name for name in table.column_names if not _NAMES[form].fullmatch(name)]
    if odd:
        raise OutputError(
            f"{path.name}: {PROGRAMS[form]} takes no variable named {', '.join(map(quoted, odd[:5]))}; rename "
            f"{'them' if len(odd) > 1 else 'it'}, or write .csv, .parquet or .xlsx"
        )
    if form == "xpt":  # it keeps no labels of values, so their texts are the values
        _check_transport(path, table)
        labels = {name: VariableLabels(known.title) for name, known in labels.items()}
    shown: dict[str, dict[Code, str]] = {}
    missing: dict[str, list[Any]] = {}
    lettered: dict[str, list[Any]] = {}
    for place, name in enumerate(table.column_names):
        known, column = labels.get(name, VariableLabels()), table[name]
        cells: list[Any] | None = None
        if known.codes and pa.types.is_string(column.type):
            cells, shown[name] = _coded(column, known)
        elif known.numbers is not None:
            cells = known.numbers.spell_out(column)
            occurring = set(cells)
            shown[name] = {code: text for code, text in known.numbers.labels.items() if code in occurring}
        letters = sorted({cell for cell in cells or () if isinstance(cell, str)})
        if letters:
            missing[name], lettered[name] = letters, cells or []
        elif cells is not None:
            whole = all(cell is None or isinstance(cell, int) for cell in cells)
            column = pa.chunked_array([pa.array(cells, pa.int64() if whole else pa.float64())])
            table = table.set_column(place, name, column)
        if known.missing and _marks_no_other(column, known):
            missing[name] = list(known.missing)
    given: dict[str, Any] = {
        "column_labels": {name: labels[name].title if name in labels else None for name in table.column_names},
    }
    if form == "xpt":
        given |= {"table_name": "RELEASE", "file_format_version": 8}
    elif form == "dta":
        given |= {"variable_value_labels": shown, "version": 14, "missing_user_values": missing}
    else:
        given |= {"variable_value_labels": shown, "missing_ranges": missing, "compress": path.suffix == ".zsav"}
    try:
        frame: Any = polars.from_arrow(table)
        for name, cells in lettered.items():
            frame = frame.with_columns(polars.Series(name, cells, dtype=polars.Object))
        getattr(pyreadstat, _WRITERS.get(form, f"write_{form}"))(frame, str(path), **given)
    except OSError:
        raise
    except Exception as error:  # it raises whatever its parts do, with cells in the text
        raise OutputError(f"{path.name}: {PROGRAMS[form]} cannot hold this table ({type(error).__name__})") from None
    _forget_time(path, form)


def _check_transport(path: Path, table: pa.Table) -> None:
    """Refuses what a transport file cannot tell apart or hold: names by their case, numbers out of IBM's range."""
    if len({name.upper() for name in table.column_names}) < table.num_columns:
        raise OutputError(f"{path.name}: names of columns differ only in case, which SAS ignores; rename them")
    for name in table.column_names:
        if pa.types.is_floating(table[name].type):
            sizes = pc.abs(table[name])
            outside = pc.or_(pc.greater(sizes, GREATEST), pc.and_(pc.less(sizes, LEAST), pc.greater(sizes, 0)))
            if pc.any(outside).as_py():
                raise OutputError(f"{path.name}: column {name!r} has numbers that a SAS transport file cannot hold")


def _marks_no_other(column: pa.ChunkedArray, known: VariableLabels) -> bool:
    """Whether only codes that counted as missing before do so in a published column."""
    if pa.types.is_string(column.type) or isinstance(known.missing[0]["lo"], str):
        return pa.types.is_string(column.type) and isinstance(known.missing[0]["lo"], str)
    if known.numbers is not None:
        return True
    column = column.cast(pa.float64())
    before = pa.array([float(code) for code in known.codes.values() if not isinstance(code, str)], pa.float64())
    new = column.filter(pc.invert(pc.is_in(column, before)))
    return pc.any(inside(new, known.missing)).as_py() is not True


def _coded(column: pa.ChunkedArray, known: VariableLabels) -> tuple[list[Any], dict[Code, str]]:
    """A column of texts as codes with labels: those of the file that it came from, new ones beside them for what is
    published in the place of several. Only texts that are published have a label: the others may be of people who were
    left out."""
    texts = sorted(text for text in pc.unique(column).to_pylist() if text is not None)
    free = _free_codes(known)
    codes = {text: known.codes[text] if text in known.codes else next(free) for text in texts}
    numbers = [code for code in codes.values() if not isinstance(code, str)]
    if all(float(code).is_integer() for code in numbers):
        codes = {text: code if isinstance(code, str) else int(code) for text, code in codes.items()}
    cells = [None if text is None else codes[text] for text in column.to_pylist()]
    return cells, {code: text for text, code in codes.items()}


def _free_codes(known: VariableLabels) -> Iterator[int]:
    """Whole numbers above all codes and all that counts as missing; below them where that has no end above."""
    ends = [code for code in known.codes.values() if not isinstance(code, str)]
    ends += [end for each in known.missing for end in (each["lo"], each["hi"])]
    finite = [end for end in ends if abs(end) < EXACT] or [0]
    if max(ends, default=0) < EXACT:
        return count(math.floor(max(finite)) + 1)
    return count(math.ceil(min(finite)) - 1, -1)


def _forget_time(path: Path, form: str) -> None:
    """Puts a time that says nothing in the place of the one at which the file was written."""
    with path.open("r+b") as file:
        if form == "sav":
            file.seek(92)
            file.write(b"01 Jan 0000:00:00")
            return
        if form == "xpt":
            start = file.read(_HEADERS)
            file.seek(0)
            file.write(_STAMPED.sub(b"01JAN00:00:00:00", start))
            return
        start = file.read(1024)
        file.seek(0)
        file.write(_DATED.sub(rb"\g<1>" + b"\x1101 Jan 2000 00:00" + rb"\g<2>", start))
