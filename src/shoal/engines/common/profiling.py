"""A look at every column, for the detection of roles and of dependencies: distinct values, and distinct rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.core.grouping import Codes, Counts, group
from shoal.core.schema import Kind
from shoal.core.survey import SHOWN, WIDE, Overview
from shoal.core.values import Values
from shoal.engines.common.column_types import is_text
from shoal.engines.common.dictionaries import MISSING, codes_of, dictionary, look_up, narrowest
from shoal.engines.common.encoding import encode
from shoal.engines.common.hashing import Hashes, row_hashes
from shoal.engines.common.source import MemorySource
from shoal.errors import InputError, ShoalError

ProfiledColumn = tuple[Values, NDArray[Any]] | str
"""The values of a column and its codes in some rows; or why it cannot be looked at."""


def profile(source: MemorySource) -> Overview:
    """Every column of a table that fits into memory."""
    kinds = source.stated_kinds
    loaded = source.load(source.names) if source.dialect is not None else {}
    columns: dict[str, ProfiledColumn] = {}
    wide, records = set(), 0
    for name in source.names:
        column = loaded.pop(name) if loaded else source.load([name])[name]
        records = len(column)
        try:
            listed = dictionary(name, column)
            if len(listed.dictionary) > WIDE:
                wide.add(name)
                columns[name] = _wide(name, listed, kinds.get(name), source.missing)
            else:
                columns[name] = profile_column(name, column, kinds.get(name), source.missing)
        except ShoalError as error:
            columns[name] = str(error)
    return overview(columns, wide, records)


def profile_column(name: str, column: pa.ChunkedArray, kind: Kind | None, missing: Collection[str]) -> ProfiledColumn:
    """A column that is not wide, with all of its values."""
    encoded = encode(name, column, kind, missing)
    return encoded.values, encoded.codes.astype(narrowest(len(encoded.values.texts)))


def overview(
    columns: Mapping[str, ProfiledColumn], wide: Collection[str], records: int, counts: Counts | None = None
) -> Overview:
    """The distinct rows of columns, wide ones last; with `counts`, a row that is given stands for so many records."""
    if not records:
        raise InputError("the table has no record")
    values = {name: column if isinstance(column, str) else column[0] for name, column in columns.items()}
    codes = {name: column[1] for name, column in columns.items() if not isinstance(column, str)}
    ordered = sorted(codes, key=lambda name: name in wide)
    if not ordered:
        return Overview(records, values, {}, np.array([records]))
    shifted = [codes[name] + np.int32(1) for name in ordered]
    grouped = group(shifted, [int(column.max()) + 1 for column in shifted], weights=counts)
    rows = {
        name: (key - np.int32(1)).astype(codes[name].dtype) for name, key in zip(ordered, grouped.keys, strict=True)
    }
    return Overview(records, values, {name: rows[name] for name in codes}, grouped.counts)


def _wide(name: str, listed: pa.DictionaryArray, kind: Kind | None, missing: Collection[str]) -> ProfiledColumn:
    """A column of very many values: some of them, and codes in the order of their hashes."""
    bare = without_blanks(listed.dictionary, missing)
    hashes = bare_hashes(bare)
    known = bare.is_valid().to_numpy(zero_copy_only=False)
    distinct, firsts = np.unique(hashes[known], return_index=True)
    translation = np.full(len(hashes) + 1, MISSING, np.int32)
    translation[:-1][known] = np.searchsorted(distinct, hashes[known])
    shown = bare.take(pa.array(np.flatnonzero(known)[firsts[:SHOWN]]))
    return shown_values(name, shown, kind, missing), look_up(translation, codes_of(listed))


def shown_values(name: str, shown: pa.Array, kind: Kind | None, missing: Collection[str]) -> Values:
    """Some values of a wide column, as all of a narrow one are told."""
    return encode(name, pa.chunked_array([shown]), kind, missing).values


def without_blanks(values: pa.Array, missing: Collection[str]) -> pa.Array:
    """Values without blanks around them; missing ones, and numbers that are none, as null."""
    if pa.types.is_floating(values.type):
        return pc.if_else(pc.is_nan(values), None, values)
    if not is_text(values.type):
        return values
    bare = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.is_in(bare, value_set=pa.array(["", *missing], bare.type)), None, bare)


def ranks(hashes: pa.ChunkedArray) -> Codes:
    """The place of each hash, which may be signed, among the different ones; negative: none."""
    known = hashes.is_valid().to_numpy()
    codes = np.full(len(hashes), MISSING, np.int32)
    codes[known] = np.unique(hashes.drop_null().to_numpy().view(np.uint64), return_inverse=True)[1]
    return codes


def bare_hashes(values: pa.Array) -> Hashes:
    """By which the values of a wide column are known, whatever the column is called."""
    return row_hashes([("", values)])
