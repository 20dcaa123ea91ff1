"""A published table in memory: an Arrow table, and the files made from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import ne
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.contracts.table import Trees
from shoal.core.forks import import_polars
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.core.schema import Notation
from shoal.engines.common import lines
from shoal.engines.common.column_types import cast_back, in_known_zone, plain_values
from shoal.engines.common.dictionaries import dictionary, indices_of, look_up, narrowest, occurring
from shoal.engines.common.identity import published_texts
from shoal.engines.common.opening import open_path
from shoal.engines.common.source import MemorySource
from shoal.engines.common.writing import ROW_GROUP, format_of, write
from shoal.errors import InputError, UnknownValuesError, unknown_columns
from shoal.storage.files import in_folder, piece

CodedTexts = tuple[NDArray[Any], list[str | None]]
"""A column as positions in the ascending list of its distinct texts, and that list."""


@dataclass(frozen=True, eq=False, repr=False)
class MemoryPublished:
    """A published table, which is given back and written as its `source` came.

    `books` has the values that quasi-identifiers are published as, by the entries of their codebooks, `header` the
    names as a file has them, `notations` how the values of columns are spelled.
    """

    table: pa.Table
    source: MemorySource | None = None
    books: Mapping[str, pa.Array] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    notations: Mapping[str, Notation] = field(default_factory=dict)
    _texts: dict[str, CodedTexts] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return int(self.table.num_rows)

    @property
    def names(self) -> Sequence[str]:
        return self.header or tuple(self.table.column_names)

    def _column(self, name: str) -> CodedTexts:
        if name not in self._texts:
            if name not in self.table.column_names:
                raise unknown_columns([name], self.names)
            column = self._presented(self.table.select([name]))[name]
            self._texts[name] = coded_texts(name, column, self.notations.get(name))
        return self._texts[name]

    def labels(self, name: str) -> Sequence[str | None]:
        return self._column(name)[1]

    def codes(self, name: str) -> Codes:
        codes: Codes = self._column(name)[0].astype(np.int32, copy=False)
        return codes

    def places(self, name: str) -> Codes:
        return places_among(self.labels(name), self.books[name], self.notations.get(name))

    def group(
        self, attributes: Sequence[str], sensitive: Trees, *, count: str | None = None, person: str | None = None
    ) -> Classes:
        columns = {name: self._column(name) for name in grouped_names(attributes, sensitive, person)}
        weights = None if count is None else self.counts(count)
        return group_texts(columns, attributes, sensitive, person, weights)

    def counts(self, name: str) -> Counts:
        """A column that counts equal rows."""
        try:
            counts: Counts = np.array([int(label or "") for label in self.labels(name)], np.int64)[self.codes(name)]
        except ValueError:
            counts = np.array([-1])
        if int(counts.min(initial=0)) < 0:
            raise InputError(f"column {name!r} of the release should hold counts, and does not")
        return counts

    def frame(self) -> Any:
        """pandas, polars or Arrow, as it came in; polars, which must be installed, for what came from a file."""
        source, table = self.source or MemorySource(()), self.decode()
        came = {} if source.frame is None else {name: source.frame[name] for name in source.frame.column_names}
        types = {name: column.type for name, column in came.items()}
        for place, name in enumerate(table.column_names):
            category = name in came and pa.types.is_dictionary(types[name])
            # a category of nothing but missing values has no type, and pandas takes no such dictionary
            if category and not pa.types.is_nested(types[name].value_type) and table[name].type != pa.null():
                table = table.set_column(place, name, as_category(table[name], came[name]))
        if source.native == "pyarrow":
            return table
        import narwhals as nw

        backend: Any = source.native or "polars"
        if backend == "polars":
            import_polars("release.frame of a table that came from a file")
            table = pa.table({name: in_known_zone(table[name]) for name in table.column_names})
        frame = nw.from_arrow(table, backend=backend).to_native()
        for name, dtype in source.dtypes.items():
            untouched = name in table.column_names and table[name].type == types.get(name)
            if untouched and hasattr(dtype, "__from_arrow__") and frame[name].dtype != dtype:
                frame[name] = dtype.__from_arrow__(table[name])
        return frame

    def arrow(self) -> pa.Table:
        return self.decode()

    def decode(self, form: str | None = None) -> pa.Table:
        """The table as a format shows it, every dictionary resolved into plain values, also inside nested columns."""
        return self._presented(
            pa.table({name: plain_values(self.table[name]) for name in self.table.column_names}), form
        )

    def _presented(self, table: pa.Table, form: str | None = None) -> pa.Table:
        return table if self.source is None else self.source.presented(table, form)

    def write(self, path: Path, *, rows_per_file: int, run: Run) -> None:
        form = format_of(path)
        schema = self._sliced(0, 0).decode(form).schema
        if not in_folder(path):
            rows = lines.ROWS if form == "csv" else ROW_GROUP
            coded = self.table if self.records >= lines.LARGE and lines.are_texts(self.table) else None
            write(path, schema, self._pieces(0, self.records, rows, form), self.source, coded)
            return
        path.mkdir()
        for number, first in enumerate(range(0, max(self.records, 1), rows_per_file)):
            run.report(first / max(self.records, 1), "writing")
            write(piece(path, number), schema, self._pieces(first, first + rows_per_file, ROW_GROUP, form))

    def _pieces(self, begin: int, end: int, rows: int, form: str) -> Iterator[pa.Table]:
        """The rows `begin:end`, some at a time: plain values of all would take many times the memory of their codes."""
        for first in range(begin, max(min(end, self.records), begin + 1), rows):
            yield self._sliced(first, min(rows, end - first)).decode(form)

    def _sliced(self, begin: int, rows: int) -> MemoryPublished:
        return replace(self, table=self.table.slice(begin, rows), _texts={})


@dataclass(frozen=True, eq=False, repr=False)
class QueriedPublished(ABC):
    """A published table whose `rows` an engine holds in its `session`.

    A column is a stored one, or follows from one that holds numbers: which of them, each engine says in its own way.
    `opened` is what the table was read from in this process, if it was; messages call the table by the `label`.
    """

    session: Any
    rows: Any
    columns: tuple[Any, ...]
    opened: MemorySource | None = None
    books: Mapping[str, pa.Array] = field(default_factory=dict)
    label: str = "the release"
    notations: Mapping[str, Notation] = field(default_factory=dict)
    _labels: dict[str, list[str | None]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def _column(self, name: str) -> Any:
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_columns([name], self.names)

    def labels(self, name: str) -> Sequence[str | None]:
        if name not in self._labels:
            self._texts(name, self._distinct_values(name))
        return self._labels[name]

    def places(self, name: str) -> Codes:
        return places_among(self.labels(name), self.books[name], self.notations.get(name))

    def codes(self, name: str) -> Codes:
        codes: Codes = self._texts(name, cast_back(self._in_order([name])[0], self._column(name).source_type))[0]
        return codes

    def _texts(self, name: str, column: pa.ChunkedArray) -> CodedTexts:
        """A column as positions in the list of its labels, which are known from then on."""
        if self.opened is not None:
            column = self.opened.presented(pa.table({name: column}))[name]
        codes, self._labels[name] = coded_texts(name, column, self.notations.get(name))
        return codes, self._labels[name]

    @abstractmethod
    def _distinct_values(self, name: str) -> pa.ChunkedArray:
        """The distinct values of a column."""

    @abstractmethod
    def _in_order(self, names: Sequence[str]) -> pa.Table:
        """Columns of all rows in their order, with the types that the engine has for them."""

    def _cast_back(self, table: pa.Table, form: str | None = None) -> pa.Table:
        """All columns as a format shows them, with the types that they came with."""
        columns = [cast_back(table[at], column.source_type) for at, column in enumerate(self.columns)]
        table = pa.table(columns, names=self.names)
        return table if self.opened is None else self.opened.presented(table, form)

    def frame(self) -> Any:
        """pandas, polars or Arrow, as it came in; polars, which must be installed, for what came from a file."""
        return self._in_memory().frame()

    def arrow(self) -> pa.Table:
        return self._in_memory().arrow()

    def _in_memory(self) -> MemoryPublished:
        return MemoryPublished(self._cast_back(self._in_order(self.names)), self.opened)


def as_category(column: pa.ChunkedArray, source: pa.ChunkedArray) -> pa.ChunkedArray:
    """A published column as the category that it came as: categories in their order, then what is published in the
    place of several. Only those that occur are listed: others may be of people who were left out."""
    known = list(dict.fromkeys(value for part in source.chunks for value in part.dictionary.to_pylist()))
    occurring = {value for value in pc.unique(column).to_pylist() if value is not None}
    own = [value for value in known if value in occurring]
    others = sorted(occurring.difference(own))
    values = pa.array([*own, *others], column.type)
    indices = pc.index_in(column.combine_chunks(), value_set=values).cast(pa.int32())
    ordered = source.type.ordered and not others
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, values, ordered=ordered)])


def grouped_names(attributes: Sequence[str], sensitive: Trees, person: str | None) -> list[str]:
    """The columns that classes are made from."""
    return [*attributes, *(name for name, _ in sensitive), *([] if person is None else [person])]


def group_texts(
    columns: Mapping[str, CodedTexts],
    attributes: Sequence[str],
    sensitive: Trees,
    person: str | None,
    weights: Counts | None,
) -> Classes:
    """The classes of published values; with `weights`, an entry of the columns stands for so many records."""
    histograms = []
    for name, hierarchy in sensitive:
        codes, labels = columns[name]
        size = len(labels)
        if hierarchy is not None:
            leaves = leaves_of(name, labels, hierarchy).astype(narrowest(hierarchy.size))
            codes, size = look_up(leaves, codes), hierarchy.size
        histograms.append((name, codes, size, hierarchy))
    return summarize(
        attributes,
        [columns[name][0] for name in attributes],
        [len(columns[name][1]) for name in attributes],
        histograms,
        weights=weights,
        person=None if person is None else (person, columns[person][0], len(columns[person][1])),
    )


def leaves_of(name: str, labels: Sequence[str | None], hierarchy: Hierarchy) -> Codes:
    """The leaf of each label of a sensitive column."""
    leaves = hierarchy.leaves(labels)
    if None in leaves:
        raise UnknownValuesError(f"sensitive column {name!r} of the release has values that the table lacks")
    return np.array(leaves, dtype=np.int32)


def places_among(labels: Sequence[str | None], book: pa.Array, notation: Notation | None) -> Codes:
    """Where each entry of a codebook stands among the labels of a column; negative where it does not occur."""
    known = {label: place for place, label in enumerate(labels)}
    return np.array([known.get(text, -1) for text in published_texts(book, notation)], np.int32)


def coded_texts(name: str, column: pa.ChunkedArray, notation: Notation | None = None) -> CodedTexts:
    """Positions in the ascending list of what the values of a column of some kind say, the missing value last.

    Dictionaries may list values that only withheld records had: those do not count.
    """
    encoded = dictionary(name, column)
    # One place more than the dictionary has, for the missing value: index -1 is the last one.
    indices = indices_of(encoded)
    shown = np.flatnonzero(occurring(indices, len(encoded.dictionary)))
    values = shown[shown < len(encoded.dictionary)]
    everything = len(values) == len(encoded.dictionary)
    texts = published_texts(encoded.dictionary if everything else encoded.dictionary.take(pa.array(values)), notation)
    texts += [None] * (len(shown) - len(texts))
    # Places are sorted, not texts put into sets and dictionaries: of a million that takes a third of the time.
    said = cast(list[str], texts)
    order = sorted((place for place, text in enumerate(texts) if text is not None), key=said.__getitem__)
    ordered = [said[place] for place in order]
    first = [True, *map(ne, ordered[1:], ordered)][: len(ordered)]
    labels: list[str | None] = [*compress(ordered, first)]
    if len(order) < len(texts):
        labels.append(None)
    elif everything and texts == labels:
        return indices, labels
    places = np.full(len(texts), len(labels) - 1)
    places[order] = np.cumsum(first) - 1
    translation = np.zeros(len(encoded.dictionary) + 1, narrowest(len(labels)))
    translation[shown] = places
    return look_up(translation, indices), labels


def open_published(path: Path, notations: Mapping[str, Notation] | None = None) -> MemoryPublished:
    """A release file, as it was published; `notations` say how the values of its columns are spelled."""
    opened = open_path(path)
    return MemoryPublished(pa.table(opened.load(opened.names)), opened, header=opened.names, notations=notations or {})
