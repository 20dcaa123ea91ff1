"""A published table in memory: an Arrow table, and the files made from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.forks import check_polars
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Hierarchy
from shoal.core.read_request import Opening
from shoal.core.run import Run
from shoal.core.schema import Kind
from shoal.engines.common import arff, lines, source
from shoal.engines.common.csv import Dialect
from shoal.engines.common.encoding import (
    dictionary,
    identified,
    in_known_zone,
    indices_of,
    looked_up,
    narrowest,
    occurring,
    plain_values,
)
from shoal.engines.common.formats import ENDINGS
from shoal.errors import InputError, OutputError, unknown_columns
from shoal.storage.files import in_folder, piece

ROW_GROUP = 1 << 20
"""How many rows are written at a time: as many as a row group of Parquet has."""


@dataclass(frozen=True, eq=False, repr=False)
class MemoryPublished:
    """A published table. `native` is the frame type to give back, `dialect` how a CSV was written.

    `types` and `dtypes` are what Arrow and pandas called the types of the columns that came in, `books` the values
    that quasi-identifiers are published as, by the entries of their codebooks, `header` the names as a file has them,
    `nominal` the columns that hold names whatever those look like, `kinds` what the values of columns are.
    """

    table: pa.Table
    native: str | None = None
    dialect: Dialect | None = None
    types: pa.Schema | None = None
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    books: Mapping[str, pa.Array] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    nominal: frozenset[str] = frozenset()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    _read: dict[str, tuple[NDArray[Any], list[str | None]]] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return int(self.table.num_rows)

    @property
    def names(self) -> Sequence[str]:
        return self.header or tuple(self.table.column_names)

    def _column(self, name: str) -> tuple[NDArray[Any], list[str | None]]:
        """A column as positions in the list of its distinct published texts, whatever its values look like."""
        held = self._read.get(name)
        if held is None:
            if name not in self.table.column_names:
                raise unknown_columns([name], self.names)
            held = self._read[name] = as_texts(name, self.table[name], self.kinds.get(name))
        return held

    def labels(self, name: str) -> Sequence[str | None]:
        return self._column(name)[1]

    def codes(self, name: str) -> Codes:
        codes: Codes = self._column(name)[0].astype(np.int32, copy=False)
        return codes

    def places(self, name: str) -> Codes:
        return places_among(self.labels(name), self.books[name], self.kinds.get(name))

    def group(
        self,
        attributes: Sequence[str],
        sensitive: Sequence[tuple[str, Hierarchy | None]],
        *,
        count: str | None = None,
        person: str | None = None,
    ) -> Classes:
        keys = [self._column(name) for name in attributes]
        columns = []
        for name, hierarchy in sensitive:
            codes, labels = self._column(name)
            size = len(labels)
            if hierarchy is not None:
                leaves = leaves_of(name, labels, hierarchy).astype(narrowest(hierarchy.size))
                codes, size = looked_up(leaves, codes), hierarchy.size
            columns.append((name, codes, size, hierarchy))
        return summarize(
            attributes, [codes for codes, _ in keys], [len(labels) for _, labels in keys], columns,
            weights=None if count is None else self._counts(count),
            person=None if person is None else (person, self._column(person)[0], len(self.labels(person))),
        )  # fmt: skip

    def _counts(self, name: str) -> Counts:
        """A column that counts equal rows."""
        try:
            counts: Counts = np.array([int(label or "") for label in self.labels(name)], np.int64)[self.codes(name)]
        except ValueError:
            counts = np.array([-1])
        if int(counts.min(initial=0)) < 0:
            raise InputError(f"column {name!r} of the release should hold counts, and does not")
        return counts

    def frame(self) -> Any:
        """pandas, polars or Arrow, as it came in; polars for what came from a file."""
        table = self.decoded()
        for place, name in enumerate(table.column_names):
            came = self._came(name)
            here = table[name].type
            # a category of nothing but missing values has no type, and pandas takes no such dictionary
            if came is not None and pa.types.is_dictionary(came) and came.value_type == here != pa.null():
                # encoded anew, because the dictionary that came in may name what only withheld records had
                table = table.set_column(place, name, table[name].dictionary_encode())
        if self.native == "pyarrow":
            return table
        import narwhals as nw

        backend: Any = self.native or "polars"
        if backend == "polars":
            check_polars()
            table = pa.table({name: in_known_zone(table[name]) for name in table.column_names})
        frame = nw.from_arrow(table, backend=backend).to_native()
        for name, dtype in self.dtypes.items():
            untouched = name in table.column_names and table[name].type == self._came(name)
            if untouched and hasattr(dtype, "__from_arrow__") and frame[name].dtype != dtype:
                frame[name] = dtype.__from_arrow__(table[name])
        return frame

    def _came(self, name: str) -> pa.DataType | None:
        """The type with which a column came in, if it did."""
        return self.types.field(name).type if self.types is not None and name in self.types.names else None

    def decoded(self) -> pa.Table:
        """The table with every dictionary resolved into plain values, also inside nested columns."""
        return pa.table({name: plain_values(self.table[name]) for name in self.table.column_names})

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        schema = self._sliced(0, 0).decoded().schema
        if not in_folder(path):
            rows = lines.ROWS if format_of(path) == "csv" else ROW_GROUP
            coded = self.table if self.records >= lines.LARGE and lines.are_texts(self.table) else None
            write(path, schema, self._pieces(0, self.records, rows), self.dialect, self.nominal, coded)
            return
        path.mkdir()
        for number, first in enumerate(range(0, max(self.records, 1), rows_per_file)):
            run.report(first / max(self.records, 1), "writing")
            write(piece(path, number), schema, self._pieces(first, first + rows_per_file, ROW_GROUP), None)

    def _pieces(self, begin: int, end: int, rows: int) -> Iterator[pa.Table]:
        """The rows `begin:end`, some at a time: plain values of all would take many times the memory of their codes."""
        for first in range(begin, max(min(end, self.records), begin + 1), rows):
            yield self._sliced(first, min(rows, end - first)).decoded()

    def _sliced(self, begin: int, rows: int) -> MemoryPublished:
        return replace(self, table=self.table.slice(begin, rows), _read={})


def write(
    path: Path,
    schema: pa.Schema,
    pieces: Iterable[pa.Table],
    dialect: Dialect | None,
    nominal: frozenset[str] = frozenset(),
    coded: pa.Table | None = None,
) -> None:
    """Writes the pieces of a table to a file, one after the other; of CSV, the same table `coded` is quicker."""
    form = format_of(path)
    nested = [entry.name for entry in schema if pa.types.is_nested(entry.type)]
    delimiter = "\t" if ".tsv" in path.suffixes else dialect.delimiter if dialect else ","
    compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    with _refusing(path):
        if form == "parquet":
            from pyarrow import parquet

            with parquet.ParquetWriter(path, schema, compression="zstd") as file:
                for piece in pieces:
                    file.write_table(piece)
            return
        if form == "arrow":
            with pa.ipc.new_file(str(path), schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
                for piece in pieces:
                    file.write_table(piece)
            return
        if nested:
            raise OutputError(f"{path.name}: column {nested[0]!r} is nested, which {form} cannot hold; write .parquet")
        with pa.output_stream(str(path), compression=compression) as stream:
            if form == "arff":  # its header lists the values of the whole table
                stream.write(arff.written(pa.concat_tables([schema.empty_table(), *pieces]), nominal).encode())
                return
            stream.write(lines.header(schema.names, delimiter))
            written = lines.of_pieces(pieces, delimiter) if coded is None else lines.of_codes(coded, delimiter)
            for some in written:
                stream.write(some)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except pa.ArrowException as error:
        raise OutputError(f"{path.name}: could not be written ({type(error).__name__})") from None


def leaves_of(name: str, labels: Sequence[str | None], hierarchy: Hierarchy) -> Codes:
    """The leaf of each label of a sensitive column."""
    leaves = hierarchy.leaves(labels)
    if None in leaves:
        raise InputError(f"sensitive column {name!r} of the release has values that the table lacks")
    return np.array(leaves, dtype=np.int32)


def places_among(labels: Sequence[str | None], book: pa.Array, kind: Kind | None) -> Codes:
    """Where each entry of a codebook stands among the labels of a column; negative where it does not occur."""
    known = {label: place for place, label in enumerate(labels)}
    return np.array([known.get(text, -1) for text in published_texts(book, kind)], np.int32)


def published_texts(values: pa.Array, kind: Kind | None) -> list[str | None]:
    """What published values of a kind say, missing ones as None."""
    present = iter(identified(values.drop_null(), kind or Kind.TEXT))
    return [next(present) if filled else None for filled in values.is_valid().to_pylist()]


def as_texts(name: str, column: pa.ChunkedArray, kind: Kind | None = None) -> tuple[NDArray[Any], list[str | None]]:
    """Positions in the ascending list of what the values of a column of some kind say, the missing value last.

    Dictionaries may list values that only withheld records had: those do not count.
    """
    combined = dictionary(name, column)
    # One place more than the dictionary has, for the missing value: index -1 is the last one.
    indices = indices_of(combined)
    shown = np.flatnonzero(occurring(indices, len(combined.dictionary)))
    values = shown[shown < len(combined.dictionary)]
    everything = len(values) == len(combined.dictionary)
    texts = published_texts(combined.dictionary if everything else combined.dictionary.take(pa.array(values)), kind)
    texts += [None] * (len(shown) - len(texts))
    labels: list[str | None] = [*sorted({text for text in texts if text is not None})]
    if None in texts:
        labels.append(None)
    if everything and texts == labels and None not in texts:
        return indices, labels
    known = {label: place for place, label in enumerate(labels)}
    translation = np.zeros(len(combined.dictionary) + 1, narrowest(len(labels)))
    translation[shown] = [known[text] for text in texts]
    return looked_up(translation, indices), labels


def format_of(path: Path) -> str:
    """The format in which a release is written to a path; an ending that names none is refused."""
    if in_folder(path):
        return "parquet"
    ending = Path(path.name.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    for form in ("parquet", "arrow", "csv", "arff"):
        if ending in ENDINGS[form]:
            return form
    raise OutputError(
        f"{path.name}: the format is not known by this ending; use .csv, .parquet, .arrow or .arff, or no ending for a "
        "folder of Parquet files"
    )


def open_published(
    path: Path, kinds: Mapping[str, Kind] | None = None, *, delimiter: str | None = None
) -> MemoryPublished:
    """A release file, as it was published; `kinds` say what the values of its columns are."""
    opened = source.open_path(path, Opening(delimiter=delimiter))
    table = pa.table(opened.load(opened.names))
    return MemoryPublished(table, None, opened.dialect, header=opened.names, kinds=kinds or {})
