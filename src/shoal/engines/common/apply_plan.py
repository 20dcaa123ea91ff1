"""Carrying a plan out: what the columns of published tables show, on every engine alike, and all of it in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.codebook import Codebook
from shoal.core.contracts.table import Published, Sheet
from shoal.core.date_labels import as_published
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.engines.common.column_types import is_text
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.common.identity import published_texts
from shoal.engines.common.source import changed

Draft = TypeVar("Draft")
"""What an engine gathers of a published table, column by column."""


@dataclass(frozen=True, eq=False)
class PlanApplication(ABC, Generic[Draft]):
    """One release of a table, sheet by sheet."""

    table: Any
    schema: Schema
    recoding: Recoding
    sheets: Sequence[Sheet]
    seed: int
    pseudonyms: Pseudonyms | None

    def tables(self, run: Run) -> dict[str, Published]:
        """The published tables by their parts."""
        published = {}
        for sheet in self.sheets:
            run.check()
            published[sheet.part] = self._table(sheet)
        return published

    def _table(self, sheet: Sheet) -> Published:
        contents = {column.name: column.what for column in sheet.columns if column.what != "count"}
        draft = self._draft(contents)
        for at, (name, what) in enumerate(contents.items()):
            key = f"x{at}"
            if what == "cell":
                place = self.schema.quasi.index(name)
                book = self._plan.codebooks[place]
                values = codebook_values(book, self.table.columns[name])
                self._add_cells(draft, key, name, values, self._plan.cells[place], raw=book.raw)
            elif what == "weight":
                assert self.recoding.weights is not None
                weights, places = np.unique(self.recoding.weights.values, return_inverse=True)
                self._add_cells(draft, key, name, pa.array(weights), places.astype(np.int32), raw=False)
            elif what == "ghost":
                self._add_ghost(draft, key, name, self.recoding.hides(name))
            elif what == "group":
                self._add_groups(draft, key, name)
            elif what == "pseudonym":
                assert self.pseudonyms is not None
                self._add_pseudonyms(draft, key, name, self.pseudonyms)
            elif name in self.recoding.changed:
                self._add_changes(draft, key, name)
            elif name in self.table.columns:
                self._add_leaves(draft, key, name)
            else:
                self._add_plain(draft, key, name)
        return self._finish(draft, sheet)

    @abstractmethod
    def _draft(self, contents: Mapping[str, str]) -> Draft:
        """A draft of a table with such columns, none of which is added yet."""

    @abstractmethod
    def _add_cells(self, draft: Draft, key: str, name: str, values: pa.Array, cells: Codes, *, raw: bool) -> None:
        """What a quasi-identifier is published as: for each class one of the values, which are as they came where they
        are `raw`."""

    @abstractmethod
    def _add_ghost(self, draft: Draft, key: str, name: str, hidden: NDArray[np.bool_]) -> None:
        """A column that stands at the source only, as text (`ghost_texts`), and hidden in some classes."""

    @abstractmethod
    def _add_groups(self, draft: Draft, key: str, name: str) -> None:
        """The numbers of the classes."""

    @abstractmethod
    def _add_pseudonyms(self, draft: Draft, key: str, name: str, pseudonyms: Pseudonyms) -> None:
        """What stands in the place of an identifier."""

    @abstractmethod
    def _add_changes(self, draft: Draft, key: str, name: str) -> None:
        """What a perturbation made of a column."""

    @abstractmethod
    def _add_leaves(self, draft: Draft, key: str, name: str) -> None:
        """A column with a role that is published as it is: one spelling of each value."""

    @abstractmethod
    def _add_plain(self, draft: Draft, key: str, name: str) -> None:
        """A column that stands at the source only."""

    @abstractmethod
    def _finish(self, draft: Draft, sheet: Sheet) -> Published:
        """The published table, its rows in the order of their hashes."""

    @property
    def _plan(self) -> Plan:
        plan = self.recoding.plan
        assert plan is not None
        return plan

    def _counterfeits(self, sheet: Sheet) -> Counterfeits | None:
        """The values that a table which counts values shows beside those of people."""
        return self.recoding.counterfeits if sheet.count_name is not None else None

    def _leaf_values(self, name: str) -> pa.Array:
        """What each leaf of a column is published as."""
        column, counterfeits = self.table.columns[name], self.recoding.counterfeits
        if counterfeits is None or name not in self.schema.sensitive:
            return column.raw
        return _with_labels(column.raw, column.hierarchy, counterfeits.leaves)

    @cached_property
    def _changes(self) -> dict[str, pa.Array]:
        """What a perturbation made of columns, by the place of the record in the order of the keyed hashes."""
        return {name: _typed_changes(new, self.table.columns[name]) for name, new in self.recoding.changed.items()}


class QueriedApplication(PlanApplication[Draft]):
    """One release of a table that an engine holds: what it makes is counted before anybody sees it."""

    @abstractmethod
    def _published_by_tuple(self) -> int:
        """How many records a plan publishes that goes by tuples."""

    @cached_property
    def _expected(self) -> int:
        """How many records the release has."""
        plan = self.recoding.plan
        if plan is None:
            return int(self.table.records)
        return int((plan.owners >= 0).sum()) if plan.by_record else self._published_by_tuple()

    def _follows_from_codes(self, contents: Mapping[str, str]) -> bool:
        """Whether all columns of a published table follow from those that the table was counted by when it was read,
        so that nobody looks at its records again."""
        plan, coded = self.recoding.plan, set(self.table.columns) - set(self.schema.owners)
        by_tuple = plan is not None and not plan.by_record and not self.recoding.changed
        return by_tuple and all(
            what in ("cell", "group", "weight") or (what == "raw" and name in coded) for name, what in contents.items()
        )

    def _check(self, published: Any, sheet: Sheet) -> Published:
        """A published table, when as many records are in it as there should be; counted where the sheet counts."""
        if published.records != self._expected + len(self._counterfeits(sheet) or ()):
            raise changed(self.table.source.label)
        counted: Published = published if sheet.count_name is None else published.count_rows(sheet.count_name)
        return counted


def codebook_values(book: Codebook, column: Any) -> pa.Array:
    """What each entry of a codebook is published as: raw values as they came, means as numbers, labels as text."""
    if book.raw:
        return column.raw.take(pa.array(book.low))
    if book.numeric:
        return pa.array([None if label is None else float(label) for label in book.labels], pa.float64())
    return pa.array(as_published(book.labels, column.hierarchy.calendar), pa.string())


def ghost_texts(name: str, values: pa.Array, opened: Any) -> pa.Array:
    """What values of a column are published as where others are hidden: texts as they are, others as one spelling.
    `opened` is the source that was read in this process, if one was, which knows codes for missing answers."""
    if opened is not None:
        values = one_chunk(opened.presented(pa.table({name: values}))[name])
    if is_text(values.type):
        return values.cast(pa.string())
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        return values.cast(pa.timestamp(values.type.unit, "UTC")).cast(pa.string())
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    return pa.array(published_texts(values, None), pa.string())


def tokens(name: str, identifiers: pa.Array, pseudonyms: Pseudonyms) -> pa.Array:
    """The pseudonyms of what distinct identifiers say."""
    return pa.array(pseudonyms.of(name, identifiers.to_pylist()), pa.string())


def _typed_changes(values: NDArray[Any], column: Any) -> pa.Array:
    """What a perturbation made of a column: other values of it, as they came, or numbers, whole ones as the type that
    the column had."""
    kind = column.raw.type
    if values.dtype == object:
        leaves = {label: leaf for leaf, label in enumerate(column.hierarchy.labels[0])}
        return column.raw.take(pa.array([None if value is None else leaves[value] for value in values], pa.int32()))
    whole = pa.types.is_integer(kind) and bool(np.all(values[~np.isnan(values)] % 1 == 0))
    return pa.array(values, pa.float64(), from_pandas=True).cast(kind if whole else pa.float64())


def _with_labels(raw: pa.Array, hierarchy: Hierarchy, leaves: Codes) -> pa.Array:
    """The raw values of leaves, with the labels of those that the table does not have, of the type that it has."""
    lacking = np.zeros(len(raw), dtype=np.bool_)
    lacking[leaves] = True
    lacking &= raw.is_null().to_numpy(zero_copy_only=False)
    lacking[: int(hierarchy.missing)] = False  # a missing value has no label
    places = np.arange(len(raw))
    places[lacking] = len(raw) + np.arange(np.count_nonzero(lacking))
    labels = as_published(hierarchy.labels[0][lacking], hierarchy.calendar)
    added = _typed_labels([str(label) for label in labels], raw.type)
    return pa.concat_arrays([raw, added]).take(pa.array(places))


def _typed_labels(labels: list[str], kind: pa.DataType) -> pa.Array:
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
