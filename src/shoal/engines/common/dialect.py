"""The dialect of a CSV file: its delimiter, its encoding and its header, detected from its beginning."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from shoal.engines.common.unpacking import Unpacked
from shoal.errors import InputError, ParameterError, quoted
from shoal.notices import tell
from shoal.parsing.header import LOOKED_AT, held_back
from shoal.parsing.header import names as checked_names

SAMPLE = 1 << 20
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


def check_text(path: Path) -> None:
    """Refuses a file with what no text has, before all of it is read into the memory."""
    try:
        with Unpacked(path) as file:
            while block := file.read(SAMPLE):
                if b"\0" in block:
                    raise _no_text(path)
    except OSError:
        raise InputError(f"{path.name}: cannot be read or decompressed") from None


def _no_text(path: Path) -> InputError:
    return InputError(f"{path.name}: this is not a text file, nor any other kind of table that is known here")


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
    torn = sum(not is_utf8(line) for line in accented)
    if torn < len(accented):
        raise mixed_encodings(path, torn)
    # Between Latin letters an accented one stands alone. Any other guess would turn names into other names in silence.
    runs = re.findall(rb"[\x80-\xff]+", sample)
    if 2 * sum(len(run) == 1 for run in runs) >= len(runs):
        return "cp1252" if not re.search(rb"[\x81\x8d\x8f\x90\x9d]", sample) else "latin-1"
    raise InputError(f"{path.name}: the text is neither utf-8 nor of a western encoding; name its encoding")


def is_utf8(text: bytes) -> bool:
    """Whether bytes are text in utf-8."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def mixed_encodings(path: Path, torn: int) -> InputError:
    """Says that some lines are of another encoding than others."""
    return InputError(
        f"{path.name}: {torn:,} lines are not utf-8 and others are; save the file in one encoding, or name its encoding"
    )


def _rows_inside(field: str, delimiter: str, width: int) -> int:
    """How many rows a field swallowed because a quotation mark was left open, which reads on to the next one.

    The lines in such a field are whole rows, but for its first and its last, which are one row together. Texts and
    lists of several lines are not like that; below a few delimiters it may be chance.
    """
    if "\n" not in field and "\r" not in field:  # nearly every field
        return 0
    first, *rest = re.split(r"\r\n|\r|\n", field.rstrip("\r\n"))
    if not rest:
        return 0
    *lines, last = rest
    ends = first.count(delimiter) + last.count(delimiter)
    whole = ends == width - 1 and all(line.count(delimiter) == width - 1 for line in lines)
    return len(lines) + 1 if whole and (len(lines) + 1) * (width - 1) >= FEW_DELIMITERS else 0


def refuse_open_quotes(path: Path, fields: Iterable[str], delimiter: str, width: int) -> None:
    """Refuses a file in which fields swallowed whole rows."""
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
        raise _no_text(path)
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
    refuse_open_quotes(path, (field for record in sampled for field in record), delimiter, len(header))
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
