"""Tables in the hands of engines: what all of them do alike, and those in memory, with rows as integers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.contracts.table import Published, Sheet
from shoal.core.grouping import Codes, Counts, group, located
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.core.survey import Survey, alone, spaced
from shoal.core.values import Values
from shoal.engines.common.apply_plan import PlanApplication
from shoal.engines.common.dictionaries import indices_of
from shoal.engines.common.encoding import glance, value_codes
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.identity import identifier_dictionary, leaf_identifiers
from shoal.engines.common.source import MemorySource
from shoal.errors import VerificationError, unknown_columns
from shoal.parsing.identifiers import one_spelling

Rows = NDArray[np.int64]


class CommonTable(ABC):
    """What every engine's table does alike. Each of its `columns` has a role, a `hierarchy`, and the `codes` of some
    rows, which are leaves of it; such a row stands for as many records as the `weights` say, or for one. The
    `application` carries plans out."""

    columns: Mapping[str, Any]
    weights: Counts | None
    application: type[PlanApplication[Any]]

    @abstractmethod
    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]: ...

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        """Meanwhile, what this thread does stops when the run is cancelled, which is told how far that is."""
        return nullcontext()

    def check_known(self, *names: str) -> None:
        """Refuses columns that have no role."""
        unknown = [name for name in names if name not in self.columns]
        if unknown:
            raise unknown_columns(unknown, self.columns)

    def group(self, attributes: Sequence[str], sensitive: Sequence[str], *, person: str | None = None) -> Classes:
        people = [] if person is None else [person]
        self.check_known(*attributes, *sensitive, *people)
        columns = {name: self.columns[name] for name in (*attributes, *sensitive, *people)}
        trees = {name: column.hierarchy for name, column in columns.items()}
        return summarize(
            attributes,
            [columns[name].codes for name in attributes],
            [trees[name].size for name in attributes],
            [(name, columns[name].codes, trees[name].size, trees[name]) for name in sensitive],
            [trees[name] for name in attributes],
            weights=self.weights,
            person=None if person is None else (person, columns[person].codes, trees[person].size),
        )

    def numbers(self, names: Sequence[str], seed: int) -> dict[str, Floats]:
        listed = zip(names, self.listing((), names, seed), strict=True)
        return {name: self.columns[name].hierarchy.values[codes] for name, codes in listed}

    def publish(
        self,
        schema: Schema,
        recoding: Recoding,
        sheets: Sequence[Sheet],
        *,
        seed: int,
        pseudonyms: Pseudonyms | None,
        run: Run,
    ) -> dict[str, Published]:
        with self.watch(run, "publishing"):
            return self.application(self, schema, recoding, sheets, seed, pseudonyms).tables(run)


@dataclass(frozen=True, eq=False, repr=False)
class QueriedTable(CommonTable):
    """A table that an engine holds in the session of its `source`.

    Records that lack a value in one of the `dropping` columns are no part of the table, nor are those whose leaves are
    not `between` the given ones. Columns that are only `known` are hashed as they stand at the source.
    """

    source: Any
    columns: Mapping[str, Any]
    application: type[PlanApplication[Any]]
    dropping: frozenset[str] = frozenset()
    known: frozenset[str] = field(default=frozenset(), kw_only=True)
    between: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def session(self) -> Any:
        """Where the rows are."""
        return self.source.session

    @property
    @abstractmethod
    def records(self) -> int: ...

    @abstractmethod
    def _sample_columns(self, names: Sequence[str], records: int) -> dict[str, pa.ChunkedArray]:
        """Columns as they stand at the source, of at most so many records, evenly spaced where these have an order."""

    @abstractmethod
    def _count_values(self, names: Sequence[str]) -> tuple[dict[str, int], dict[str, int], int]:
        """How many records have a value in each column, how many different ones there are, and how many records are
        alone with theirs in all of the columns together."""

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        """Only the records that are looked at come to this process; the others are counted where they are."""
        if not names:
            return Survey(self.records, {}, {}, {}, 0)
        with self.watch(run, "looking at the plain columns"):
            columns = self._sample_columns(names, records)
            looks = {name: glance(name, column, self.source.missing, values) for name, column in columns.items()}
            chosen = [name for name in counted if not isinstance(looks[name], str)]
            counts = self._count_values(chosen) if chosen else ({}, {}, 0)
            return Survey(self.records, looks, *counts)


@dataclass(frozen=True, eq=False, repr=False)
class EncodedColumn:
    """A column as leaves of its hierarchy, as narrow as they can be; `raw` has the original value of each leaf that
    occurs."""

    codes: NDArray[Any]
    hierarchy: Hierarchy
    raw: pa.Array


@dataclass(frozen=True, eq=False, repr=False)
class _Selection:
    """Which rows of a larger table are part of one, and the orders of the larger one that were known by then."""

    inside: NDArray[np.bool_]
    orders: dict[int, Rows]

    def order(self, seed: int) -> Rows:
        order = self.orders[seed]
        rows: Rows = (np.cumsum(self.inside) - 1).take(order.take(np.flatnonzero(self.inside.take(order))))
        return rows


@dataclass(frozen=True, eq=False, repr=False)
class MemoryTable(CommonTable):
    """Columns with a role as integers; the others stay at the source until a release needs them. Of the rows there,
    those that are `included` are part of the table; None: all. Columns that are only `known` are encoded, and otherwise
    as they are at the source."""

    source: MemorySource
    columns: dict[str, EncodedColumn]
    records: int
    application: type[PlanApplication[Any]]
    included: NDArray[np.bool_] | None = None
    known: frozenset[str] = frozenset()
    _tuple_codes: dict[tuple[str, ...], Codes] = field(default_factory=dict)
    _orders: dict[int, Rows] = field(default_factory=dict)
    _selection: _Selection | None = None
    weights: None = None

    def codes(self, name: str) -> Codes:
        self.check_known(name)
        return self.columns[name].codes.astype(np.int32, copy=False)

    def count_repeats(self, name: str) -> int:
        codes = indices_of(self.identifiers(name))
        present = codes[codes >= 0]
        return len(present) - len(np.unique(present))

    def tuples(self, quasi: Sequence[str], known: Codes | None = None) -> Codes:
        """The distinct tuple of each row, in the order of the summary; quicker where those of the summary are known."""
        key = tuple(quasi)
        if key not in self._tuple_codes:
            columns = [self.columns[name] for name in quasi]
            codes, radices = [each.codes for each in columns], [each.hierarchy.size for each in columns]
            tuples = group(codes, radices, index=True).index if known is None else located(codes, radices, known)
            if int(tuples.min(initial=0)) < 0:
                raise VerificationError("a plan does not have every tuple of the table")
            self._tuple_codes[key] = tuples
        return self._tuple_codes[key]

    def order(self, seed: int) -> Rows:
        """The rows by a hash of the whole record that is keyed with the seed."""
        if seed not in self._orders:
            if self._selection is not None and seed in self._selection.orders:
                order = self._selection.order(seed)
            else:
                hashes = row_hashes(self.load(self.source.names).items(), seed)
                order = np.argsort(hashes, kind="stable")
            self._orders.clear()
            self._orders[seed] = order
        return self._orders[seed]

    def order_by_tuple(self, quasi: Sequence[str], seed: int) -> Rows:
        """The rows by tuple, those of one tuple by the keyed hash."""
        order = self.order(seed)
        if not quasi:
            return order
        rows: Rows = order[np.argsort(self.tuples(quasi)[order], kind="stable")]
        return rows

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        rows = self.order_by_tuple(quasi, seed)
        return tuple(self.codes(name)[rows] for name in names)

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        rows = self.order(seed)[:records]
        return tuple(self.codes(name)[rows] for name in names)

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> MemoryTable:
        inside = np.ones(self.records, dtype=np.bool_)
        for name, least, greatest in zip(quasi, low, high, strict=True):
            self.check_known(name)
            column = self.columns[name]
            if least > 0:
                inside &= column.codes >= least
            if greatest < column.hierarchy.size - 1:
                inside &= column.codes <= greatest
        included = inside
        if self.included is not None:
            included = self.included.copy()
            included[self.included] = inside
        rows = np.flatnonzero(inside)  # taken by place, which lets other threads work meanwhile, as a mask does not
        columns = {name: replace(column, codes=column.codes.take(rows)) for name, column in self.columns.items()}
        chosen = _Selection(inside, dict(self._orders))
        return replace(
            self, columns=columns, records=len(rows), included=included, _tuple_codes={}, _orders={}, _selection=chosen
        )

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        texts = [(name, self.identifiers(name)) for name in names]
        return row_hashes(texts, key, one_spelling)[self.order_by_tuple(quasi, seed)]

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        places = pa.array(spaced(self.records, records))
        looks: dict[str, tuple[Values, Codes] | str] = {}
        present, distinct, columns = {}, {}, []
        for name, column in self.load(names).items():
            run.check()
            looks[name] = glance(name, column.take(places), self.source.missing, values)
            if name in counted and not isinstance(looks[name], str):
                columns.append(value_codes(name, column))
                sizes = np.bincount(columns[-1] + 1)
                present[name], distinct[name] = int(sizes[1:].sum()), int((sizes[1:] > 0).sum())
        return Survey(self.records, looks, present, distinct, alone(columns))

    def load(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Columns of the records: those with a role as they are published, the others as they are at the source."""
        published = self.columns.keys() - self.known
        loaded = self.source.load([name for name in names if name not in published])
        if self.included is not None:
            loaded = {name: column.filter(pa.array(self.included)) for name, column in loaded.items()}
        for name in names:
            if name in published:
                column = self.columns[name]
                loaded[name] = pa.chunked_array([pa.DictionaryArray.from_arrays(column.codes, column.raw)])
        return {name: loaded[name] for name in names}

    def identifiers(self, name: str) -> pa.DictionaryArray:
        """What a column with a role, or one of identifiers, says, whatever its type and however it is spelled."""
        if name not in self.columns:
            return identifier_dictionary(name, self.load([name])[name])
        column = self.columns[name]
        return pa.DictionaryArray.from_arrays(column.codes, leaf_identifiers(column.hierarchy))
