"""The embedded table: rows in this process' memory, as integers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.classes import Classes, summarize
from shoal.core.grouping import Codes, group
from shoal.core.hierarchy import Hierarchy, number
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import ByLevel, Recoding
from shoal.core.schema import Role, Schema
from shoal.engines.embedded.encoding import dictionary
from shoal.engines.embedded.published import EmbeddedPublished
from shoal.engines.embedded.source import Source
from shoal.errors import unknown_columns


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column as leaves of its hierarchy; `raw` has the original value of each leaf that occurs."""

    codes: Codes
    hierarchy: Hierarchy
    raw: pa.Array


@dataclass(frozen=True, eq=False)
class EmbeddedTable:
    """Columns with a role as integers; the others stay at the source until a release needs them."""

    source: Source
    columns: dict[str, EncodedColumn]
    records: int
    kept: NDArray[np.bool_] | None = None

    def codes(self, name: str) -> Codes:
        if name not in self.columns:
            raise unknown_columns([name], self.columns)
        return self.columns[name].codes

    def group(self, attributes: Sequence[str], sensitive: Sequence[str]) -> Classes:
        chosen = [self.columns[name] for name in attributes]
        return summarize(
            attributes,
            [self.codes(name) for name in attributes],
            [column.hierarchy.size for column in chosen],
            [
                (name, self.codes(name), self.columns[name].hierarchy.size, self.columns[name].hierarchy)
                for name in sensitive
            ],
            [column.hierarchy for column in chosen],
        )

    @cached_property
    def digest(self) -> int:
        """A number that only the holder of the table can know: it keeps the shuffle from being undone."""
        state = hashlib.blake2b(digest_size=16)
        for name in sorted(self.columns):
            state.update(name.encode() + b"\0")
            state.update(self.columns[name].codes)
            state.update("\0".join(text or "" for text in self.columns[name].hierarchy.labels[0]).encode())
        return int.from_bytes(state.digest(), "big")

    def apply(
        self, schema: Schema, recoding: Recoding, *, seed: int, pseudonyms: Pseudonyms | None
    ) -> EmbeddedPublished:
        generator = np.random.default_rng([seed, self.digest])
        owners = self._owners(schema, recoding)
        rows = generator.permutation(np.flatnonzero(owners >= 0))
        owners = owners[rows]
        published: dict[str, pa.Array | pa.ChunkedArray] = {}
        plain = self._plain(schema, pseudonyms is not None)
        for column in schema.columns:
            if column.role is Role.QUASI:
                published[column.name] = self._recoded(
                    column.name, schema.quasi.index(column.name), recoding, owners, rows
                )
            elif column.role is Role.SENSITIVE:
                held = self.columns[column.name]
                published[column.name] = pa.DictionaryArray.from_arrays(held.codes[rows], held.raw)
            elif column.role is Role.PLAIN:
                published[column.name] = plain[column.name].take(pa.array(rows))
            elif pseudonyms is not None:
                published[column.name] = _pseudonymous(column.name, plain[column.name], pseudonyms, generator, rows)
        types = None if self.source.frame is None else self.source.frame.schema
        return EmbeddedPublished(
            pa.table(published), self.source.native, self.source.dialect, types, self.source.dtypes
        )

    def _owners(self, schema: Schema, recoding: Recoding) -> Codes:
        """The class of each row (its distinct tuple, where the recoding goes by level); negative: left out."""
        if not isinstance(recoding, ByLevel) and recoding.over_rows:
            return recoding.classes
        held = [self.columns[name] for name in schema.quasi]
        found = group([column.codes for column in held], [column.hierarchy.size for column in held], index=True)
        assert found.index is not None
        if isinstance(recoding, ByLevel):
            return np.where(recoding.suppressed[found.index], np.int32(-1), np.int32(0))
        return recoding.classes[found.index]

    def _recoded(
        self, name: str, position: int, recoding: Recoding, owners: Codes, rows: NDArray[np.int64]
    ) -> pa.Array:
        held = self.columns[name]
        hierarchy = held.hierarchy
        if isinstance(recoding, ByLevel):
            level = recoding.levels[position]
            if level == 0:
                return pa.DictionaryArray.from_arrays(held.codes[rows], held.raw)
            return pa.DictionaryArray.from_arrays(
                hierarchy.codes[level][held.codes[rows]], pa.array(hierarchy.labels[level], pa.string())
            )
        means = recoding.mean_labels(position, hierarchy)
        if means is not None:
            return pa.DictionaryArray.from_arrays(owners, _numbers(means))
        pairs = group([recoding.low[position], recoding.high[position]], [hierarchy.size, hierarchy.size], index=True)
        assert pairs.index is not None
        low, high = pairs.keys
        if bool(np.all(low == high)):
            return pa.DictionaryArray.from_arrays(low[pairs.index][owners], held.raw)
        interval = bool(recoding.intervals) and recoding.intervals[position]
        labels = [hierarchy.label(*ends, interval=interval) for ends in zip(low.tolist(), high.tolist(), strict=True)]
        return pa.DictionaryArray.from_arrays(pairs.index[owners], pa.array(labels, pa.string()))

    def _plain(self, schema: Schema, with_identifiers: bool) -> dict[str, pa.ChunkedArray]:
        names = [*schema.named(Role.PLAIN), *(schema.identifiers if with_identifiers else ())]
        loaded = self.source.load(names)
        if self.kept is None:
            return loaded
        return {name: column.filter(pa.array(self.kept)) for name, column in loaded.items()}


def _numbers(labels: list[str | None]) -> pa.Array:
    """Labels as numbers where all of them are."""
    numbers = [None if label is None else number(label) for label in labels]
    if all(value is None or value == value for value in numbers):
        return pa.array(numbers, pa.float64())
    return pa.array(labels, pa.string())


def _pseudonymous(
    name: str, column: pa.ChunkedArray, pseudonyms: Pseudonyms, generator: np.random.Generator, rows: Any
) -> pa.Array:
    encoded = dictionary(name, column).take(pa.array(rows))
    texts = [None if value is None else str(value).strip() for value in encoded.dictionary.to_pylist()]
    tokens = pseudonyms.of(name, texts, generator)
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(tokens, pa.string()))
