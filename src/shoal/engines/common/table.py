"""A table in memory: rows as integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.codebook import Codebook
from shoal.core.contracts.table import Published, Sheet, What
from shoal.core.grouping import Codes, group, located
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.core.survey import Survey, alone, spaced
from shoal.core.values import Values
from shoal.engines.common.encoding import by_identity, glanced, indices_of, looked_up, narrowest, numbered
from shoal.engines.common.hashing import ascending, row_hashes
from shoal.engines.common.published_table import MemoryPublished
from shoal.engines.common.source import Source
from shoal.errors import VerificationError, unknown_columns
from shoal.parsing.identifiers import one_spelling
from shoal.parsing.identity import identifiers

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class EncodedColumn:
    """A column as leaves of its hierarchy, as narrow as they can be; `raw` has the original value of each leaf that
    occurs."""

    codes: NDArray[Any]
    hierarchy: Hierarchy
    raw: pa.Array


@dataclass(frozen=True, eq=False, repr=False)
class MemoryTable:
    """Columns with a role as integers; the others stay at the source until a release needs them."""

    source: Source
    columns: dict[str, EncodedColumn]
    records: int
    kept: NDArray[np.bool_] | None = None
    _indices: dict[tuple[str, ...], Codes] = field(default_factory=dict)
    _orders: dict[int, Rows] = field(default_factory=dict)

    def codes(self, name: str) -> Codes:
        if name not in self.columns:
            raise unknown_columns([name], self.columns)
        return self.columns[name].codes.astype(np.int32, copy=False)

    def group(self, attributes: Sequence[str], sensitive: Sequence[str], *, person: str | None = None) -> Classes:
        unknown = [name for name in (*attributes, *sensitive) if name not in self.columns]
        if unknown:
            raise unknown_columns(unknown, self.columns)
        chosen = [self.columns[name] for name in attributes]
        others = [(name, self.columns[name]) for name in sensitive]
        return summarize(
            attributes,
            [column.codes for column in chosen],
            [column.hierarchy.size for column in chosen],
            [(name, column.codes, column.hierarchy.size, column.hierarchy) for name, column in others],
            [column.hierarchy for column in chosen],
            person=None
            if person is None
            else (person, self.columns[person].codes, self.columns[person].hierarchy.size),
        )

    def count_repeats(self, name: str) -> int:
        codes = indices_of(self._said(name))
        present = codes[codes >= 0]
        return len(present) - len(np.unique(present))

    def _tuples(self, quasi: Sequence[str], known: Codes | None = None) -> Codes:
        """The distinct tuple of each row, in the order of the summary; quicker where those of the summary are known."""
        held = self._indices.get(tuple(quasi))
        if held is None:
            columns = [self.columns[name] for name in quasi]
            codes, radices = [each.codes for each in columns], [each.hierarchy.size for each in columns]
            held = group(codes, radices, index=True).index if known is None else located(codes, radices, known)
            assert held is not None
            if int(held.min(initial=0)) < 0:
                raise VerificationError("a plan does not have every tuple of the table")
            self._indices[tuple(quasi)] = held
        return held

    def _order(self, seed: int) -> Rows:
        """The rows by a hash of the whole record that is keyed with the seed."""
        held = self._orders.get(seed)
        if held is None:
            hashes = row_hashes(self._loaded(self.source.names).items(), seed)
            held = np.argsort(hashes, kind="stable")
            self._orders.clear()
            self._orders[seed] = held
        return held

    def _listing(self, quasi: Sequence[str], seed: int) -> Rows:
        """The rows by tuple, those of one tuple by the keyed hash."""
        order = self._order(seed)
        if not quasi:
            return order
        rows: Rows = order[np.argsort(self._tuples(quasi)[order], kind="stable")]
        return rows

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        rows = self._listing(quasi, seed)
        return tuple(self.codes(name)[rows] for name in names)

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        rows = self._order(seed)[:records]
        return tuple(self.codes(name)[rows] for name in names)

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> MemoryTable:
        inside = np.ones(self.records, dtype=np.bool_)
        for name, least, greatest in zip(quasi, low, high, strict=True):
            codes = self.codes(name)
            if least > 0 or greatest < self.columns[name].hierarchy.size - 1:
                inside &= (least <= codes) & (codes <= greatest)
        kept = inside
        if self.kept is not None:
            kept = self.kept.copy()
            kept[self.kept] = inside
        columns = {name: replace(column, codes=column.codes[inside]) for name, column in self.columns.items()}
        places = np.cumsum(inside) - 1
        orders = {seed: places[order[inside[order]]] for seed, order in self._orders.items()}
        return MemoryTable(self.source, columns, int(np.count_nonzero(inside)), kept, _orders=orders)

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        said = [(name, self._said(name)) for name in names]
        return row_hashes(said, key, one_spelling)[self._listing(quasi, seed)]

    def numbers(self, names: Sequence[str], seed: int) -> dict[str, Floats]:
        order, found = self._order(seed), {}
        for name in names:
            held = self.columns[name]
            assert held.hierarchy.values is not None
            found[name] = held.hierarchy.values[held.codes[order]]
        return found

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        places = pa.array(spaced(self.records, records))
        looks: dict[str, tuple[Values, Codes] | str] = {}
        present, distinct, columns = {}, {}, []
        for name, column in self._loaded(names).items():
            run.check()
            looks[name] = glanced(name, column.take(places), self.source.missing, values)
            if name in counted and not isinstance(looks[name], str):
                columns.append(numbered(name, column))
                sizes = np.bincount(columns[-1] + 1)
                present[name], distinct[name] = int(sizes[1:].sum()), int((sizes[1:] > 0).sum())
        return Survey(self.records, looks, present, distinct, alone(columns))

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
        plan = recoding.plan
        owners = self._owners(schema, plan, seed) if plan is not None else None
        rows: Rows | None = None
        if owners is not None and int(owners.min(initial=0)) < 0:  # some are withheld
            rows = np.flatnonzero(owners >= 0)
            owners = owners[rows]
        names = {column.name for sheet in sheets for column in sheet.columns if column.what in ("raw", "pseudonym")}
        names |= {name for name in schema.names if recoding.plan is None}
        plain = self._loaded([name for name in schema.names if name in names and name not in self.columns])
        changed = self._changed(recoding, seed)
        tables: dict[str, Published] = {}
        for sheet in sheets:
            run.check()
            fakes = recoding.counterfeits if sheet.count_name is not None else None
            tables[sheet.part] = self._sheet(sheet, schema, plan, rows, owners, plain, changed, pseudonyms, fakes)
        return tables

    def _sheet(
        self, sheet: Sheet, schema: Schema, plan: Plan | None, rows: Rows | None, owners: Codes | None,
        plain: Mapping[str, pa.ChunkedArray], changed: Mapping[str, pa.Array], pseudonyms: Pseudonyms | None,
        fakes: Counterfeits | None,
    ) -> MemoryPublished:  # fmt: skip
        by_row: dict[str, pa.Array | pa.ChunkedArray] = {}
        by_class: dict[str, pa.DictionaryArray] = {}
        for column in sheet.columns:
            name = column.name
            if column.what == "cell":
                assert plan is not None
                at = schema.quasi.index(name)
                book = published_values(plan.codebooks[at], self.columns[name].raw)
                by_class[name] = pa.DictionaryArray.from_arrays(plan.cells[at], book)
                continue
            if column.what == "group":
                by_row[name] = pa.array(owners)
            elif column.what == "pseudonym":
                assert pseudonyms is not None
                by_row[name] = _pseudonymous(name, self._said(name), pseudonyms, rows)
            elif column.what == "changed" and name in changed:
                by_row[name] = _taken(changed[name], rows)
            elif column.what != "count":
                by_row[name] = self._raw(name, plain, rows)
            if fakes is not None and column.what != "count":
                by_row[name] = self._with_counterfeits(name, column.what, by_row[name], fakes)
        books = {name: column.dictionary for name, column in by_class.items()}
        names = [column.name for column in sheet.columns if column.what != "count"]
        if sheet.count_name is not None:
            columns = {name: _placed(by_class[name], owners) if name in by_class else by_row[name] for name in names}
            counted = pa.table(columns).group_by(names).aggregate([([], "count_all")])
            by_row, by_class = dict(zip([*names, sheet.count_name], counted.columns, strict=True)), {}
            names = list(by_row)
        order, owners = _arranged(by_row, by_class, owners)
        ordered = pa.table({
            name: _placed(by_class[name], owners) if name in by_class else by_row[name].take(pa.array(order))
            for name in names
        })  # fmt: skip
        types = None if self.source.frame is None else self.source.frame.schema
        return MemoryPublished(
            ordered, self.source.native, self.source.dialect, types, self.source.dtypes, books,
            nominal=self.source.nominal, kinds=schema.kinds,
        )  # fmt: skip

    def _owners(self, schema: Schema, plan: Plan, seed: int) -> Codes:
        """The class of each row; negative: withheld."""
        slots = np.where(plan.withheld, np.int32(-1), plan.classes)
        if not plan.by_record:
            return looked_up(slots, self._tuples(schema.quasi, plan.keys))
        owners = np.empty(self.records, dtype=np.int32)
        owners[self._listing(schema.quasi, seed)] = slots
        return owners

    def _raw(self, name: str, plain: Mapping[str, pa.ChunkedArray], rows: Rows | None) -> pa.Array | pa.ChunkedArray:
        if name in self.columns:
            held = self.columns[name]
            return pa.DictionaryArray.from_arrays(held.codes if rows is None else held.codes[rows], held.raw)
        return _taken(plain[name], rows)

    def _with_counterfeits(self, name: str, what: What, column: Any, fakes: Counterfeits) -> pa.ChunkedArray:
        """A column of a table that counts values, with those of the counterfeits below."""
        if what == "group":
            return pa.chunked_array([column, pa.array(fakes.groups)])
        held = self.columns[name]
        raw = with_labels(held.raw, held.hierarchy, fakes.leaves)
        codes = np.concatenate([column.indices.to_numpy(zero_copy_only=False), fakes.leaves])
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes.astype(np.int32), raw)])

    def _changed(self, recoding: Recoding, seed: int) -> dict[str, pa.Array]:
        """What a perturbation changed, row by row, of the type that the column has where the values allow it."""
        found = {}
        for name, values in recoding.changed.items():
            placed = np.empty_like(values)
            placed[self._order(seed)] = values
            found[name] = changed_values(placed, self.columns[name].raw.type)
        return found

    def _loaded(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Columns of the records that are kept: those with a role as they are published, the others as they are at the
        source."""
        loaded = self.source.load([name for name in names if name not in self.columns])
        if self.kept is not None:
            loaded = {name: column.filter(pa.array(self.kept)) for name, column in loaded.items()}
        held = {name: self.columns[name] for name in names if name in self.columns}
        loaded |= {
            name: pa.chunked_array([pa.DictionaryArray.from_arrays(each.codes, each.raw)])
            for name, each in held.items()
        }
        return {name: loaded[name] for name in names}

    def _said(self, name: str) -> pa.DictionaryArray:
        """What a column with a role, or one of identifiers, says, whatever its type and however it is spelled."""
        if name not in self.columns:
            return by_identity(name, self._loaded([name])[name])
        held = self.columns[name]
        said = pa.array(identifiers(held.hierarchy.labels[0].tolist()), pa.large_string())
        return pa.DictionaryArray.from_arrays(held.codes, said)


def _arranged(
    by_row: Mapping[str, Any], by_class: Mapping[str, pa.DictionaryArray], owners: Codes | None
) -> tuple[Codes | None, Codes | None]:
    """The order of rows by the hash of what they say, and their classes in that order.

    What a class says is hashed once. Where rows say nothing else, those of one class are all the same, and none is
    sorted.
    """
    if not by_class or owners is None:
        return ascending(row_hashes(by_row.items())), None
    said = row_hashes(by_class.items())
    if not by_row:
        ranking = np.argsort(said, kind="stable").astype(np.int32)
        return None, np.repeat(ranking, np.bincount(owners, minlength=len(said))[ranking])
    hashes = row_hashes(by_row.items())
    hashes += looked_up(said, owners)
    order = ascending(hashes)
    return order, looked_up(owners, order)


def _taken(column: Any, rows: Rows | None) -> Any:
    """Some rows of a column; None: all of them."""
    return column if rows is None else column.take(pa.array(rows))


def _placed(column: pa.DictionaryArray, owners: Codes | None) -> pa.DictionaryArray:
    """A column of classes, row by row; its indices were checked when it was made."""
    assert owners is not None
    codes = column.indices.to_numpy().astype(narrowest(len(column.dictionary)))
    return pa.DictionaryArray.from_arrays(looked_up(codes, owners), column.dictionary, safe=False)


def with_labels(raw: pa.Array, hierarchy: Hierarchy, leaves: Codes) -> pa.Array:
    """The raw values of leaves, with the labels of those that the table does not have, of the type that it has."""
    wanted = np.zeros(len(raw), dtype=np.bool_)
    wanted[leaves] = True
    wanted &= raw.is_null().to_numpy(zero_copy_only=False)
    wanted[: int(hierarchy.missing)] = False  # a missing value has no label
    places = np.arange(len(raw))
    places[wanted] = len(raw) + np.arange(np.count_nonzero(wanted))
    added = _typed(hierarchy.labels[0][wanted].tolist(), raw.type)
    return pa.concat_arrays([raw, added]).take(pa.array(places))


def _typed(labels: list[str], kind: pa.DataType) -> pa.Array:
    """Labels as values of the type that a column has."""
    texts = pa.array(labels, pa.string())
    if pa.types.is_duration(kind):
        return texts.cast(pa.int64()).cast(kind)
    if pa.types.is_time(kind):
        moments = pa.array([f"1970-01-01 {label}" for label in labels], pa.string())
        return moments.cast(pa.timestamp(kind.unit)).cast(kind)
    if pa.types.is_timestamp(kind) and kind.tz is not None and labels and all("T" not in label for label in labels):
        days = texts.cast(pa.timestamp(kind.unit))  # which begin by the clock of the zone
        return pc.assume_timezone(days, kind.tz, ambiguous="earliest", nonexistent="earliest")
    return texts.cast(kind)


def published_values(book: Codebook, raw: pa.Array) -> pa.Array:
    """What each entry of a codebook is published as: raw values as they came, means as numbers, labels as text."""
    if book.raw:
        return raw.take(pa.array(book.low))
    if book.numeric:
        return pa.array([None if label is None else float(label) for label in book.labels], pa.float64())
    return pa.array(book.labels, pa.string())


def changed_values(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """What a perturbation made of a column: texts, or numbers, whole ones as the type that the column had."""
    if values.dtype == object:
        return pa.array(values, pa.string())
    whole = pa.types.is_integer(kind) and bool(np.all(values[~np.isnan(values)] % 1 == 0))
    return pa.array(values, pa.float64(), from_pandas=True).cast(kind if whole else pa.float64())


def _pseudonymous(name: str, said: pa.DictionaryArray, pseudonyms: Pseudonyms, rows: Rows | None) -> pa.Array:
    encoded = _taken(said, rows)
    return pa.DictionaryArray.from_arrays(encoded.indices, tokens(name, encoded.dictionary, pseudonyms))


def tokens(name: str, said: pa.Array, pseudonyms: Pseudonyms) -> pa.Array:
    """The pseudonyms of what distinct identifiers say."""
    return pa.array(pseudonyms.of(name, said.to_pylist()), pa.string())
