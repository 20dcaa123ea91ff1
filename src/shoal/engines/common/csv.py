"""Reading CSV: how the file is written is detected, what it holds is taken as text."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.engines.common import fields
from shoal.engines.common.unpacking import Unpacked, check_unpacked
from shoal.errors import InputError, ParameterError, quoted
from shoal.notices import tell
from shoal.parsing.header import LOOKED_AT, held_back
from shoal.parsing.header import names as checked_names

SAMPLE = 1 << 20
BLOCK = 1 << 24
LARGE = 1 << 24
"""A file of so many bytes is worth the code that is compiled for large ones."""
FEW_DELIMITERS = 8
DELIMITERS = (",", ";", "\t", "|")
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}  # fmt: skip
_DECLARED = re.compile(r'\ufeff?"?sep=([\t !#-/:-@\[-`{-~])"?(?:\r\n|\r|\n)', re.IGNORECASE)
"""The first line with which Excel says what the delimiter is."""
_NO_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written, its columns as they are called here, and its whole header as it stands there.

    The column `names[i]` is field `places[i]` of each row. Before the header there are `preamble` lines; of a file of
    several columns, blank lines do not count anywhere. The encoding is `guessed` where nothing but the bytes themselves
    spoke for it.
    """

    names: tuple[str, ...]
    header: tuple[str, ...]
    places: tuple[int, ...]
    delimiter: str
    encoding: str
    guessed: bool = False
    preamble: int = 0

    @property
    def width(self) -> int:
        """The number of fields of a row."""
        return len(self.header)

    @property
    def fields(self) -> dict[str, int]:
        """The field of each column."""
        return dict(zip(self.names, self.places, strict=True))

    @property
    def is_utf8(self) -> bool:
        return self.encoding.startswith("utf-8")

    def without(self, name: str) -> Dialect:
        """The same file, one of its columns left out."""
        rest = {other: place for other, place in self.fields.items() if other != name}
        return replace(self, names=tuple(rest), places=tuple(rest.values()))


def _sample(path: Path) -> bytes:
    try:
        with Unpacked(path) as file:
            return file.read(SAMPLE)
    except OSError:
        raise InputError(f"{path.name}: cannot be read or decompressed") from None


def _known(encoding: str) -> str:
    """The name of a text encoding; codecs that turn bytes into bytes, or programs into text, are none."""
    try:
        name = codecs.lookup(encoding).name
        " ".encode(name)
    except (LookupError, ValueError):
        name = "undefined"
    if name in _NO_ENCODINGS:
        raise ParameterError(f"there is no encoding {quoted(encoding)}; utf-8, utf-16 and cp1252 are common")
    return name


def _encoding(path: Path, sample: bytes, whole: bool) -> str:
    try:
        sample.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        if not whole and error.start > len(sample) - 4:
            return "utf-8"
    accented = [line for line in sample.split(b"\n")[: None if whole else -1] if not line.isascii()]
    torn = sum(not _is_utf8(line) for line in accented)
    if torn < len(accented):
        raise _mixed_encodings(path, torn)
    # Between Latin letters an accented one stands alone. Any other guess would turn names into other names in silence.
    runs = re.findall(rb"[\x80-\xff]+", sample)
    if 2 * sum(len(run) == 1 for run in runs) >= len(runs):
        return "cp1252" if not re.search(rb"[\x81\x8d\x8f\x90\x9d]", sample) else "latin-1"
    raise InputError(f"{path.name}: the text is neither utf-8 nor of a western encoding; name its encoding")


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _mixed_encodings(path: Path, torn: int) -> InputError:
    return InputError(
        f"{path.name}: {torn:,} lines are not utf-8 and others are; save the file in one encoding, or name its encoding"
    )


def _lines_that_are_not_utf8(path: Path) -> int:
    torn, rest = 0, b""
    with Unpacked(path) as file:
        while block := file.read(BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            torn += sum(not line.isascii() and not _is_utf8(line) for line in lines)
    return torn + (not _is_utf8(rest))


def _rows_inside(field: str, delimiter: str, width: int) -> int:
    """How many rows a field swallowed because a quotation mark was left open, which reads on to the next one.

    The lines in such a field are whole rows, but for its first and its last, which are one row together. Texts and
    lists of several lines are not like that; below a few delimiters it may be chance.
    """
    first, *rest = re.split(r"\r\n|\r|\n", field.rstrip("\r\n"))
    if not rest:
        return 0
    *lines, last = rest
    ends = first.count(delimiter) + last.count(delimiter)
    whole = ends == width - 1 and all(line.count(delimiter) == width - 1 for line in lines)
    return len(lines) + 1 if whole and (len(lines) + 1) * (width - 1) >= FEW_DELIMITERS else 0


def _refuse_open_quotes(path: Path, fields: Iterable[str], delimiter: str, width: int) -> None:
    swallowed = [rows for field in fields if (rows := _rows_inside(field, delimiter, width))]
    if swallowed:
        raise InputError(
            f"{path.name}: {len(swallowed):,} fields hold whole rows, {sum(swallowed):,} together; is a quotation mark "
            "left open?"
        )


def _records(text: str, delimiter: str, limit: int = 200) -> list[list[str]]:
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error):  # a field beyond the module's limit: what came before it will do
        for record in islice(filter(None, csv.reader(io.StringIO(text), delimiter=delimiter)), limit):
            records.append(record)
    return records


def _delimiter(text: str) -> str:
    def agreement(delimiter: str) -> tuple[float, int]:
        records = _records(text, delimiter)[:-1] or _records(text, delimiter)
        if not records:
            return 0.0, 0
        width = len(records[0])
        return (sum(len(record) == width for record in records) / len(records) if width > 1 else 0.0), width

    best = max(DELIMITERS, key=agreement)
    return best if agreement(best)[1] > 1 else ","


def detect(path: Path, *, delimiter: str | None = None, encoding: str | None = None, rename: bool = False) -> Dialect:
    """The dialect of a CSV file, from its first mebibyte.

    A first column without a heading is called nothing; what it is has to be looked at. With `rename`, names that occur
    more than once are numbered.
    """
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise ParameterError("a delimiter is one character, such as ; or a tab")
    if encoding is not None:
        encoding = _known(encoding)
    sample = _sample(path)
    whole = len(sample) < SAMPLE
    if not sample.strip():
        raise InputError(f"{path.name}: the file is empty")
    encoding = encoding or next((name for mark, name in _MARKS.items() if sample.startswith(mark)), None)
    if b"\0" in sample and not (encoding or "").startswith(("utf-16", "utf-32")):
        raise InputError(f"{path.name}: this is not a text file, nor any other kind of table that is known here")
    guessed = encoding is None
    encoding = encoding or _encoding(path, sample, whole)
    try:
        text = sample.decode(encoding, errors="strict" if whole else "ignore")
    except (UnicodeError, LookupError):
        raise InputError(f"{path.name}: the text is not {encoding}; name its encoding") from None
    if not whole and "\n" not in text and "\r" not in text:
        raise InputError(f"{path.name}: the first line is longer than {SAMPLE:,} bytes; this is not a table")
    declared = _DECLARED.match(text)
    if declared:
        text = text[declared.end() :]
    delimiter = delimiter or (declared[1] if declared else _delimiter(text))
    first, *records = _records(text, delimiter, limit=LOOKED_AT) or [[]]
    if not first:
        raise InputError(f"{path.name}: the header cannot be read; is a quotation mark left open?")
    header = tuple(name.lstrip("\ufeff") for name in first)
    sampled = records if whole else records[:-1]
    nameless = len(header) > 1 and not header[0].strip()
    below = [record[nameless:] for record in sampled]
    where = f"{path.name} (read as {encoding})"
    names = held_back(checked_names(header[nameless:], where, below, rename=rename), below)
    _refuse_open_quotes(path, (field for record in sampled for field in record), delimiter, len(header))
    preamble = int(declared is not None)
    if len(header) == 1:
        before, after = _blank_lines(text)
        preamble += before
        if after:
            tell(f"{path.name}: it has one column, so that its empty lines count as records without a value")
    return Dialect(
        ("", *names) if nameless else names, header, tuple(range(len(header))), delimiter, encoding, guessed, preamble
    )


def _blank_lines(text: str) -> tuple[int, int]:
    """How many blank lines there are before the header, and below it."""
    content = text.lstrip("\ufeff\r\n")
    before = len(re.findall(r"\r\n|\r|\n", text[: len(text) - len(content)]))
    below = 0
    with contextlib.suppress(csv.Error):
        below = sum(not record for record in csv.reader(io.StringIO(content, newline="")))
    return before, below


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
            raise _mixed_encodings(path, _lines_that_are_not_utf8(path)) from None
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
    _refuse_open_quotes(path, several.to_pylist(), dialect.delimiter, dialect.width)
    if dialect.guessed and not dialect.encoding.startswith("utf"):
        accented = texts.filter(pc.invert(pc.string_is_ascii(texts))).to_pylist()
        doubtful = sum(_is_utf8(text.encode(dialect.encoding, errors="replace")) for text in accented)
        if doubtful:
            raise InputError(
                f"{path.name}: most of the text is {dialect.encoding}, but {doubtful:,} values of column {name!r} are "
                "utf-8; save the file in one encoding, or name its encoding"
            )
