"""An engine in the memory of one process: what the embedded engine is, and what workers of others use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.contracts.table import Sheet
from shoal.core.grouping import Codes
from shoal.core.hierarchy import TOP
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.read_request import Description, Opening
from shoal.core.recoding import Counterfeits
from shoal.core.run import Run
from shoal.core.schema import Column, Notation
from shoal.core.survey import Overview
from shoal.engines.common.apply_plan import PlanApplication, ghost_texts, tokens
from shoal.engines.common.dictionaries import codes_of, dictionary, look_up, narrowest
from shoal.engines.common.encoding import bind
from shoal.engines.common.engine import CommonEngine, check_some_left, check_some_there, encode_column, required_values
from shoal.engines.common.hashing import ascending, row_hashes
from shoal.engines.common.identity import identifier_dictionary
from shoal.engines.common.opening import open_source
from shoal.engines.common.profiling import profile
from shoal.engines.common.published_table import MemoryPublished, open_published
from shoal.engines.common.source import MemorySource
from shoal.engines.common.table import EncodedColumn, MemoryTable, Rows
from shoal.storage.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class InMemory(CommonEngine):
    """An engine that holds tables in the memory of this process and works on them there."""

    def _open(self, source: Any, opening: Opening) -> MemorySource:
        return open_source(source, opening)[1]

    def _encode(
        self, source: MemorySource, names: Sequence[str], request: Description, run: Run, checkpoint: Checkpoint | None
    ) -> tuple[MemoryTable, Mapping[str, Column]]:
        """What encoding gives is as large as the table: nothing of it is kept for a run that goes on."""
        loaded = source.load(names if source.dialect is not None else names[:1])
        records = len(loaded[names[0]])
        check_some_there(records)
        encoded = {}
        for place, name in enumerate(names):
            run.report(place / len(names), "reading")
            column = loaded.pop(name) if name in loaded else source.load([name])[name]
            encoded[name] = encode_column(name, column, source, request, records)
        required = required_values(encoded, request)
        included = reduce(and_, required.values()) if required else None
        if included is not None:
            records = int(included.sum())
            check_some_left(records)
        columns, coded = {}, {}
        for name in names:
            each = encoded.pop(name)
            if included is not None:
                each = replace(each, indices=each.indices[included])
            codes, hierarchy, raw = bind(each, request.hierarchy(each.values))
            coded[name] = EncodedColumn(codes, hierarchy, raw)
            columns[name] = request.column(each.values, hierarchy)
        return MemoryTable(source, coded, records, MemoryApplication, included, request.known), columns

    def profile(self, source: MemorySource) -> Overview:  # type: ignore[override]
        return profile(source)

    def open_published(self, path: Path, notations: Mapping[str, Notation] | None = None) -> MemoryPublished:
        return open_published(path, notations)


@dataclass(eq=False)
class _MemoryDraft:
    """The columns of a published table: those that differ from row to row, and those that follow from the class."""

    by_row: dict[str, pa.Array | pa.ChunkedArray] = field(default_factory=dict)
    by_class: dict[str, pa.DictionaryArray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class MemoryApplication(PlanApplication[_MemoryDraft]):
    """One release of a table in memory."""

    table: MemoryTable

    @cached_property
    def _owners(self) -> tuple[Rows | None, Codes | None]:
        """The rows that are published, None for all of them, and the class of each, where there is a plan."""
        plan, quasi = self.recoding.plan, self.schema.quasi
        if plan is None:
            return None, None
        if plan.by_record:
            owners = np.empty(self.table.records, dtype=np.int32)
            owners[self.table.order_by_tuple(quasi, self.seed)] = plan.owners
        else:
            owners = look_up(plan.owners, self.table.tuples(quasi, plan.keys))
        if int(owners.min(initial=0)) >= 0:
            return None, owners
        rows = np.flatnonzero(owners >= 0)
        return rows, owners[rows]

    def _published_rows(self, column: Any) -> Any:
        """A column of all rows, without those that are withheld."""
        rows, _ = self._owners
        return column if rows is None else column.take(pa.array(rows))

    @cached_property
    def _plain(self) -> dict[str, pa.ChunkedArray]:
        """What has to come from the source for any of the sheets: a CSV file is read once for all."""
        shown = {column.name for sheet in self.sheets for column in sheet.columns}
        there = [name for name in self.schema.names if name in shown and name not in self.table.columns]
        return self.table.load(there)

    def _draft(self, contents: Mapping[str, str]) -> _MemoryDraft:
        return _MemoryDraft()

    def _add_cells(
        self, draft: _MemoryDraft, key: str, name: str, values: pa.Array, cells: Codes, *, raw: bool
    ) -> None:
        draft.by_class[name] = pa.DictionaryArray.from_arrays(cells, values)

    def _add_groups(self, draft: _MemoryDraft, key: str, name: str) -> None:
        draft.by_row[name] = pa.array(self._owners[1])

    def _add_ghost(self, draft: _MemoryDraft, key: str, name: str, hidden: NDArray[np.bool_]) -> None:
        encoded = dictionary(name, self._published_rows(self._plain[name]))
        texts = ghost_texts(name, encoded.dictionary, self.table.source)
        missing, owners = np.append(texts.is_null().to_numpy(zero_copy_only=False), True), self._owners[1]
        assert owners is not None
        codes = codes_of(encoded)
        codes = np.where(hidden[owners], np.int32(len(texts)), np.where(missing[codes], np.int32(-1), codes))
        shown = pa.concat_arrays([texts, pa.array([TOP], pa.string())])
        draft.by_row[name] = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), shown)

    def _add_pseudonyms(self, draft: _MemoryDraft, key: str, name: str, pseudonyms: Pseudonyms) -> None:
        there = name not in self.table.columns
        every = identifier_dictionary(name, self._plain[name]) if there else self.table.identifiers(name)
        encoded = self._published_rows(every)
        draft.by_row[name] = pa.DictionaryArray.from_arrays(
            encoded.indices, tokens(name, encoded.dictionary, pseudonyms)
        )

    def _add_changes(self, draft: _MemoryDraft, key: str, name: str) -> None:
        order = self.table.order(self.seed)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        draft.by_row[name] = self._published_rows(self._changes[name].take(pa.array(places)))

    def _add_leaves(self, draft: _MemoryDraft, key: str, name: str) -> None:
        rows, _ = self._owners
        codes = self.table.columns[name].codes
        draft.by_row[name] = pa.DictionaryArray.from_arrays(
            codes if rows is None else codes[rows], self._leaf_values(name)
        )

    def _add_plain(self, draft: _MemoryDraft, key: str, name: str) -> None:
        draft.by_row[name] = self._published_rows(self._plain[name])

    def _finish(self, draft: _MemoryDraft, sheet: Sheet) -> MemoryPublished:
        counterfeits, (_, owners) = self._counterfeits(sheet), self._owners
        names = [column.name for column in sheet.columns if column.what != "count"]
        by_row, by_class = draft.by_row, draft.by_class
        if counterfeits is not None:
            by_row = {name: _with_counterfeits(column, counterfeits) for name, column in by_row.items()}
        if sheet.count_name is not None:
            columns = {name: _by_row(by_class[name], owners) if name in by_class else by_row[name] for name in names}
            counted = pa.table(columns).group_by(names).aggregate([([], "count_all")])
            names = [*names, sheet.count_name]
            by_row, by_class = dict(zip(names, counted.columns, strict=True)), {}
        order, owners = _arrange(by_row, by_class, owners)
        columns = {
            name: _by_row(by_class[name], owners) if name in by_class else by_row[name].take(pa.array(order))
            for name in names
        }
        books = {name: column.dictionary for name, column in draft.by_class.items()}
        return MemoryPublished(pa.table(columns), self.table.source, books, notations=self.schema.notations)


def _with_counterfeits(column: Any, counterfeits: Counterfeits) -> pa.ChunkedArray:
    """A column of a table that counts values, the group or the leaf, with those of the counterfeits below."""
    if not pa.types.is_dictionary(column.type):
        return pa.chunked_array([column, pa.array(counterfeits.groups)])
    codes = np.concatenate([column.indices.to_numpy(zero_copy_only=False), counterfeits.leaves]).astype(np.int32)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, column.dictionary)])


def _arrange(
    by_row: Mapping[str, Any], by_class: Mapping[str, pa.DictionaryArray], owners: Codes | None
) -> tuple[Codes | None, Codes | None]:
    """The order of rows by the hash of what they say, and their classes in that order.

    What a class says is hashed once. Where rows say nothing else, those of one class are all the same, and none is
    sorted.
    """
    if not by_class or owners is None:
        return ascending(row_hashes(by_row.items())), None
    class_hashes = row_hashes(by_class.items())
    if not by_row:
        ranking = np.argsort(class_hashes, kind="stable").astype(np.int32)
        return None, np.repeat(ranking, np.bincount(owners, minlength=len(class_hashes))[ranking])
    hashes = row_hashes(by_row.items())
    hashes += look_up(class_hashes, owners)
    order = ascending(hashes)
    return order, look_up(owners, order)


def _by_row(column: pa.DictionaryArray, owners: Codes | None) -> pa.DictionaryArray:
    """A column of classes, row by row; its indices were checked when it was made."""
    assert owners is not None
    codes = column.indices.to_numpy().astype(narrowest(len(column.dictionary)))
    return pa.DictionaryArray.from_arrays(look_up(codes, owners), column.dictionary, safe=False)
