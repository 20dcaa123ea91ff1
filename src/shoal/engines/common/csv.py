"""Reading CSV: what a file holds is taken as text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.engines.common import fields
from shoal.engines.common.dialect import Dialect, is_utf8, mixed_encodings, refuse_open_quotes
from shoal.engines.common.unpacking import Unpacked, check_unpacked
from shoal.errors import InputError

BLOCK = 1 << 24
LARGE = 1 << 24
"""A file of so many bytes is worth the code that is compiled for large ones."""


def load(path: Path, dialect: Dialect, names: Sequence[str], missing: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Columns of a CSV file as dictionary-encoded text; `missing` are the spellings of a missing value."""
    columns = _load_large(path, dialect, names, missing) if path.stat().st_size >= LARGE else None
    if columns is None:
        with _refusing(path, dialect):
            check_unpacked(path)
            with Unpacked(path) as file:
                options = _options(dialect, names, missing, pa.dictionary(pa.int32(), pa.string()))
                table = pa.csv.read_csv(_transcoded(file.stream, dialect), **options)
        places = zip(names, _fields(dialect, names), strict=True)
        columns = {name: table[at].unify_dictionaries() for name, at in places}
    if len(columns[names[0]]) == 0:
        raise InputError(f"{path.name}: there is a header and no record")
    for name, column in columns.items():
        _check_texts(path, dialect, name, column.chunk(0).dictionary)
    return columns


def _load_large(
    path: Path, dialect: Dialect, names: Sequence[str], missing: Sequence[str]
) -> dict[str, pa.ChunkedArray] | None:
    """Columns of a large file, several times as fast; None where it is written in a way that takes the whole parser."""
    try:
        with Unpacked(path) as file:
            if not dialect.is_utf8:
                check_unpacked(path)
            columns = fields.columns(
                file if dialect.is_utf8 else _transcoded(file.stream, dialect),
                delimiter=dialect.delimiter,
                header=dialect.header,
                preamble=dialect.preamble,
                chosen=[dialect.fields[name] for name in names],
                missing=missing,
            )
    except (fields.OddError, pa.ArrowException, UnicodeError, LookupError, OSError):
        return None  # the parser says what is wrong
    return {name: pa.chunked_array([column]) for name, column in zip(names, columns, strict=True)}


def batches(path: Path, dialect: Dialect, missing: Sequence[str]) -> Iterator[pa.Table]:
    """A CSV file as text, piece by piece; what `load` refuses is refused, at the latest when the file is at its end."""
    rows = 0
    with _refusing(path, dialect), Unpacked(path) as file:
        if path.stat().st_size < LARGE:
            check_unpacked(path)
        options = _options(dialect, dialect.names, missing, pa.string())
        for batch in pa.csv.open_csv(_transcoded(file.stream, dialect), **options):
            rows += batch.num_rows
            file.count(batch.nbytes - 3 * batch.num_rows * batch.num_columns)  # a delimiter each, for four bytes more
            columns = [batch.column(at) for at in _fields(dialect, dialect.names)]
            for name, column in zip(dialect.names, columns, strict=True):
                _check_texts(path, dialect, name, column.drop_null())
            yield pa.table(columns, names=list(dialect.names))
    if rows == 0:
        raise InputError(f"{path.name}: there is a header and no record")


def _transcoded(stream: Any, dialect: Dialect) -> Any:
    return stream if dialect.is_utf8 else pa.transcoding_input_stream(stream, dialect.encoding, "utf8")


def _fields(dialect: Dialect, names: Sequence[str]) -> Sequence[int]:
    """Where columns are in what is read: as they were asked for, or as in the file where its names are not unique."""
    if len(set(dialect.header)) == dialect.width:
        return range(len(names))
    return [dialect.fields[name] for name in names]


def _options(dialect: Dialect, names: Sequence[str], missing: Sequence[str], text: pa.DataType) -> dict[str, Any]:
    unique = len(set(dialect.header)) == dialect.width
    return {
        "read_options": pa.csv.ReadOptions(block_size=BLOCK, skip_rows=dialect.preamble),
        "parse_options": pa.csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True, ignore_empty_lines=dialect.width > 1
        ),
        "convert_options": pa.csv.ConvertOptions(
            column_types=dict.fromkeys(dialect.header, text),
            include_columns=[dialect.header[dialect.fields[name]] for name in names] if unique else None,
            null_values=["", *missing], strings_can_be_null=True, quoted_strings_can_be_null=True,
        ),
    }  # fmt: skip


@contextlib.contextmanager
def _refusing(path: Path, dialect: Dialect) -> Iterator[None]:
    """Whatever is wrong with a CSV file, said without a cell of it."""
    try:
        yield
    except pa.ArrowException as error:
        reason = str(error)
        if "straddl" in reason:
            message = f"a row is longer than {BLOCK:,} bytes; is a quotation mark left open?"
        elif "UTF8" in reason and dialect.is_utf8:
            raise mixed_encodings(path, _lines_that_are_not_utf8(path)) from None
        elif "UTF8" in reason or "codec" in reason:
            message = f"the text is not {dialect.encoding}; name its encoding"
        elif "Expected" in reason:
            message = (
                f"{_count_ragged(path, dialect):,} rows have another number of fields than the header's "
                f"{dialect.width}; check the delimiter and the quotation marks"
            )
        elif isinstance(error, pa.ArrowKeyError):
            message = "the header cannot be read; check its quotation marks"
        elif "Empty CSV" in reason:
            message = "there is a header and no record"
        else:
            message = "this is not a well-formed CSV file"
        raise InputError(f"{path.name}: {message}") from None
    except (UnicodeError, LookupError):
        raise InputError(f"{path.name}: the text is not {dialect.encoding}; name its encoding") from None
    except OSError:
        raise InputError(f"{path.name}: cannot be read or decompressed") from None


def _count_ragged(path: Path, dialect: Dialect) -> int:
    """How many rows do not fit the header.

    They are counted only once there is one: Arrow's threads hold on to a handler written in Python a little longer than
    the reading takes, and one that lets go of it while the process ends aborts it.
    """
    ragged = 0

    def count(_row: Any) -> str:
        nonlocal ragged
        ragged += 1
        return "skip"

    options = _options(dialect, dialect.names, (), pa.string())
    options["read_options"].use_threads = False
    options["parse_options"].invalid_row_handler = count
    with contextlib.suppress(pa.ArrowException, UnicodeError), Unpacked(path) as file:
        pa.csv.read_csv(_transcoded(file.stream, dialect), **options)
    return ragged


def _check_texts(path: Path, dialect: Dialect, name: str, texts: pa.Array) -> None:
    """Refuses what reads well and is not what was meant: zero bytes, rows within a field, another encoding."""
    if pc.any(pc.match_substring(texts, "\0")).as_py():
        raise InputError(f"{path.name}: there are zero bytes in column {name!r}; this is not a well-formed CSV file")
    several = texts.filter(pc.or_(pc.match_substring(texts, "\n"), pc.match_substring(texts, "\r")))
    refuse_open_quotes(path, several.to_pylist(), dialect.delimiter, dialect.width)
    if dialect.guessed and not dialect.encoding.startswith("utf"):
        accented = texts.filter(pc.invert(pc.string_is_ascii(texts))).to_pylist()
        doubtful = sum(is_utf8(text.encode(dialect.encoding, errors="replace")) for text in accented)
        if doubtful:
            raise InputError(
                f"{path.name}: most of the text is {dialect.encoding}, but {doubtful:,} values of column {name!r} are "
                "utf-8; save the file in one encoding, or name its encoding"
            )


def _lines_that_are_not_utf8(path: Path) -> int:
    torn, rest = 0, b""
    with Unpacked(path) as file:
        while block := file.read(BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            torn += sum(not line.isascii() and not is_utf8(line) for line in lines)
    return torn + (not is_utf8(rest))
