"""Files that are read as a whole: spreadsheets, files of statistics programs, JSON lines.

Each reader gives the headings as they stand in the file, and the columns. What a library says of a file that it cannot
read may hold cells, so none of it is passed on.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.forks import import_polars
from shoal.engines.common.column_types import is_number, is_text
from shoal.engines.common.missing_codes import MissingCodes, by_letters, by_ranges, spelled
from shoal.engines.common.program_files import VariableLabels
from shoal.engines.common.unpacking import Unpacked, check_archive
from shoal.errors import InputError, MissingExtraError, ParameterError, quoted
from shoal.notices import tell
from shoal.parsing.header import LISTED
from shoal.storage.files import check_inside

Columns = tuple[tuple[str, ...], list[pa.ChunkedArray]]

ENDINGS = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "xlsx": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "jsonl": (".jsonl", ".ndjson"),
    "arff": (".arff",),
    "dta": (".dta",),
    "sav": (".sav", ".zsav"),
    "sas7bdat": (".sas7bdat",),
    "xpt": (".xpt",),
}
"""The formats that are known, by the name of each, and the endings of their files."""

_BEGINNINGS = {
    b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "xlsx", b"\xd0\xcf\x11\xe0": "xlsx", b"<stata_dta>": "dta",
    b"$FL2": "sav", b"$FL3": "sav", b"HEADER RECORD*******": "xpt",
    b"@relation": "arff", b"@RELATION": "arff",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "sas7bdat",
}  # fmt: skip


def format_of(path: Path, given: str | None = None) -> str:
    """What a file is: what was said, or how it begins, or its ending; CSV where nothing tells."""
    if given is not None:
        if given not in ENDINGS:
            raise ParameterError(f"there is no such format; choose one of {', '.join(ENDINGS)}")
        return given
    with path.open("rb") as file:
        start = file.read(max(map(len, _BEGINNINGS)))
    for beginning, form in _BEGINNINGS.items():
        if start.startswith(beginning):
            return form
    if start.startswith(b"SQLite format 3") or start[8:12] == b"DUCK":
        raise InputError(f"{path.name}: this is a database; name one of its tables, as in {path.name}::people")
    ending = Path(path.name.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    return next((form for form, endings in ENDINGS.items() if ending in endings), "csv")


def spreadsheet(path: Path, sheet: str | None) -> Columns:
    """A sheet of a workbook, which need not be named where only one holds anything. Blank rows are no records.

    A spreadsheet has one type for all numbers and one for all moments: where all of a column are whole numbers, or
    dates, they are given back as such.
    """
    try:
        import fastexcel
    except ImportError:
        raise MissingExtraError("reading spreadsheets", "excel") from None
    check_archive(path)
    with _unreadable(path, "spreadsheet", fastexcel.FastExcelError):
        book = fastexcel.read_excel(path)
        sheets = [name for name in book.sheet_names if book.load_sheet(name, header_row=None, n_rows=1).total_height]
    if sheet is None and len(sheets) > 1:
        raise InputError(f"{path.name}: there are {len(sheets)} sheets; name one of {_listing(sheets)}")
    if not sheets:
        raise InputError(f"{path.name}: the file is empty")
    if sheet is not None and sheet not in book.sheet_names:
        raise InputError(f"{path.name}: there is no sheet {quoted(sheet)}; there are {_listing(book.sheet_names)}")
    if sheet is not None and sheet not in sheets:
        raise InputError(f"{path.name}: the sheet {quoted(sheet)} is empty")
    with _unreadable(path, "spreadsheet", fastexcel.FastExcelError):
        chosen = sheet or sheets[0]
        titles = book.load_sheet(chosen, header_row=None, n_rows=1, dtypes="string").to_arrow()
        body = pa.table(book.load_sheet(chosen, header_row=0, schema_sample_rows=None).to_arrow())
    header = [str(titles.column(place)[0].as_py() or "") for place in range(titles.num_columns)]
    header += [""] * (body.num_columns - len(header))
    used = [place for place, title in enumerate(header) if title or body.column(place).null_count < body.num_rows]
    columns = [body.column(place) for place in used]
    filled = _nonblank_rows(columns)
    return tuple(header[place] for place in used), [_plainest(column.filter(filled)) for column in columns]


def _nonblank_rows(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Which rows hold anything."""
    filled = columns[0].is_valid()
    for column in columns[1:]:
        filled = pc.or_(filled, column.is_valid())
    return filled


def statistics(path: Path, form: str) -> tuple[tuple[str, ...], list[pa.ChunkedArray], dict[str, VariableLabels]]:
    """A file of Stata, SPSS or SAS, and its labels. Where every value of a column that occurs has a label, the labels
    are its values. A text of no characters is missing: these programs have no other missing text.

    SAS keeps labels in a catalog: that of the same name beside the file is taken.
    """
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("reading files of Stata, SPSS and SAS", "statistics") from None
    import_polars("reading files of Stata, SPSS and SAS")
    more: dict[str, Any] = {}
    catalog = path.with_suffix(".sas7bcat")
    if form == "sas7bdat" and catalog.is_file():
        check_inside(catalog)
        tell(f"{path.name}: {catalog.name}, which lies beside it, says what its codes mean")
        more["catalog_file"] = str(catalog)
    if form == "sav":  # which then says which codes count as missing
        more["user_missing"] = True
    reader = {"dta": "read_dta", "sav": "read_sav", "sas7bdat": "read_sas7bdat", "xpt": "read_xport"}[form]

    def read(**given: Any) -> Any:
        return getattr(pyreadstat, reader)(str(path), **given)

    with _unreadable(path, form, Exception):  # it raises whatever its parts do
        table, about = read(output_format="polars", **more)
        columns = {name: _column(table[name].to_arrow()) for name in table.columns}
        moments = [name for name in about.missing_ranges if pa.types.is_temporal(columns[name].type)]
        if moments:  # whose ranges are in units of SPSS
            bare = read(output_format="polars", usecols=moments)[0]
            columns |= {name: _column(bare[name].to_arrow()) for name in moments}
        columns = {name: _plainest(column) for name, column in columns.items()}
        codes = _missing_codes(form, columns, about, read)
    kept: dict[str, VariableLabels] = {}
    for name, column in columns.items():
        if is_text(column.type):
            columns[name] = pc.if_else(pc.equal(column, ""), None, column)
        labels = about.variable_value_labels.get(name, {})
        numbers = codes.get(name)
        texts = _texts(path, name, columns[name] if numbers is None else numbers.column, labels, numbers)
        ranges = () if pa.types.is_temporal(column.type) else about.missing_ranges.get(name, ())
        known = VariableLabels(about.column_names_to_labels.get(name) or None, missing=ranges, numbers=numbers)
        if texts is not None:
            columns[name] = _with_texts(columns[name] if numbers is None else numbers.column, texts)
            coded = is_number(column.type)
            codes_of_texts = _codes_of(texts, labels, numbers) if coded else {}
            known = replace(known, codes=codes_of_texts, missing=ranges if coded else (), numbers=None)
        elif numbers is not None:
            columns[name] = _plainest(numbers.hide(numbers.column))
            known = replace(known, numbers=replace(numbers, kind=columns[name].type))
        kept[name] = known
    return tuple(columns), list(columns.values()), kept


def _missing_codes(
    form: str, columns: Mapping[str, pa.ChunkedArray], about: Any, read: Callable[..., Any]
) -> dict[str, MissingCodes]:
    """The columns of numbers in which codes occur that count as missing. Stata's letters are asked for in columns that
    lack values."""
    names = [name for name, column in columns.items() if is_number(column.type)]
    coded: dict[str, tuple[pa.ChunkedArray, dict[Any, Any]]] = {}
    if form == "sav":
        coded = {
            name: (columns[name], by_ranges(columns[name], about.missing_ranges[name]))
            for name in names
            if name in about.missing_ranges
        }
    elif form == "dta":
        lacking = [name for name in names if columns[name].null_count]
        if lacking:
            cells, lettered = read(output_format="dict", user_missing=True, usecols=lacking)
            coded = {name: by_letters(columns[name], cells[name]) for name in lettered.missing_user_values}
    return {
        name: MissingCodes(
            column, codes, _labels_of(codes.values(), about.variable_value_labels.get(name, {})), column.type
        )
        for name, (column, codes) in coded.items()
        if codes
    }


def _labels_of(codes: Collection[Any], labels: Mapping[Any, str]) -> dict[Any, str]:
    return {code: str(labels[code]).strip() for code in codes if code in labels}


def _texts(
    path: Path, name: str, column: pa.ChunkedArray, labels: Mapping[Any, str], numbers: MissingCodes | None
) -> dict[Any, str] | None:
    """What each value of a column is called, where every one has a label of its own; else None. A code that counts as
    missing goes by itself where it has no label."""
    codes = {} if numbers is None else numbers.codes
    occurring = [value for value in pc.unique(column).to_pylist() if value is not None]
    if not occurring:
        return {} if labels else None
    texts = {value: str(labels[value]).strip() for value in occurring if value not in codes and value in labels}
    lacking = len(occurring) - len(codes) - len(texts)
    if lacking or not _labels_of([codes.get(value, value) for value in occurring], labels):
        apart = False
    else:
        for number, code in codes.items():
            text = str(labels.get(code, "")).strip() or spelled(code)
            texts[number] = f"{text} ({spelled(code)})" if text in texts.values() else text
        apart = len(set(texts.values())) == len(occurring)
    if not apart and texts:
        tell(
            f"{path.name}: column {quoted(name)} keeps its codes, because its labels do not tell all of its "
            f"{len(occurring):,} distinct values apart"
        )
    return texts if apart else None


def _codes_of(texts: Mapping[Any, str], labels: Mapping[Any, str], numbers: MissingCodes | None) -> dict[str, Any]:
    """The code of each text, also of labels that do not occur."""
    codes = {} if numbers is None else numbers.codes
    known = {str(label).strip(): code for code, label in labels.items()}
    known |= {text: codes.get(value, value) for value, text in texts.items()}
    return known


def _with_texts(column: pa.ChunkedArray, texts: Mapping[Any, str]) -> pa.ChunkedArray:
    encoded = column.combine_chunks().dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    named = pa.array([texts[value] for value in encoded.dictionary.to_pylist()], pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, named)])


def lines(path: Path, file: Unpacked) -> Columns:
    """JSON lines: an object a line, each key a column; a key that an object lacks is missing there."""
    columns: dict[str, list[Any]] = {}
    records = 0
    with _unreadable(path, "JSON lines file", ValueError, RecursionError):
        for line in io.BytesIO(file.read()):
            if not line.strip():
                continue
            record = json.loads(line.decode("utf-8-sig"), parse_constant=_no_number)
            if not isinstance(record, dict):
                raise ValueError("an object is needed in every line")
            for name, value in record.items():
                cells = columns.setdefault(name, [])
                cells += [None] * (records - len(cells))
                cells.append(value)
            records += 1
        arrays = [_json_column(cells + [None] * (records - len(cells))) for cells in columns.values()]
    if not records:
        raise InputError(f"{path.name}: the file is empty")
    return tuple(columns), arrays


def _no_number(name: str) -> None:
    raise ValueError("JSON has no such number")


def _json_column(cells: list[Any]) -> pa.ChunkedArray:
    """Values of one kind with its type, of several kinds as texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) > 1 and kinds != {int, float}:
        cells = [_json_text(cell) for cell in cells]
    try:
        return _column(pa.array(cells))
    except (pa.ArrowException, OverflowError):
        return _column(pa.array([_json_text(cell) for cell in cells]))


def _json_text(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)


def _column(column: Any) -> pa.ChunkedArray:
    return pa.chunked_array([column])


def _plainest(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole numbers and dates as such, where a format has no type for them."""
    plainer = {pa.float64(): pa.int64(), pa.float32(): pa.int64(), pa.timestamp("ms"): pa.date32()}.get(column.type)
    if plainer is None or column.null_count == len(column):
        return column
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        plain = column.cast(plainer)
        same = pc.all(pc.equal(plain.cast(column.type), column)).as_py()  # a cast drops times of day
    except pa.ArrowInvalid:
        return column
    return plain if same else column


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names[:LISTED])) + (" and others" if len(names) > LISTED else "")


@contextmanager
def _unreadable(path: Path, what: str, *errors: type[BaseException]) -> Iterator[None]:
    try:
        yield
    except (*errors, OSError, UnicodeError, pa.ArrowException) as error:
        if "password protected" in str(error):
            raise InputError(f"{path.name}: this has a password; save a copy without one, and open that") from None
        if not path.stat().st_size:
            raise InputError(f"{path.name}: the file is empty") from None
        raise InputError(f"{path.name}: this is not a readable {what}") from None
