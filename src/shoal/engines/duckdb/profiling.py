"""A look at every column, for the detection of roles and of dependencies: distinct values, and distinct rows."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.grouping import Counts, words
from shoal.core.survey import SHOWN, WIDE, Overview
from shoal.core.values import Values
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.dictionaries import narrowest, one_chunk
from shoal.engines.common.encoding import encode
from shoal.engines.common.engine import check_some_there
from shoal.engines.common.profiling import ranks, shown_values
from shoal.engines.common.source import changed
from shoal.engines.duckdb.encoding import distinct, join_codes, pack, translation
from shoal.engines.duckdb.hashing import value_hash
from shoal.engines.duckdb.identity import is_nan
from shoal.engines.duckdb.session import Stored, literal, quoted
from shoal.engines.duckdb.source import DuckDBSource
from shoal.errors import ShoalError


def profile(source: DuckDBSource) -> Overview:
    """Every column. The distinct values of those that are not wide come to Python, and the distinct rows as packed
    codes, with 64 bits for each wide column."""
    session, relation = source.session, source.relation
    records = int(session.value(f"SELECT count(*) FROM {relation}", what=source.label))
    check_some_there(records)
    kinds = source.stated_kinds
    values: dict[str, Values | str] = {}
    narrow: dict[str, tuple[str, Stored, int]] = {}
    wide: dict[str, str] = {}
    for name in source.names:
        column = f"s.{quoted(name)}"
        count = int(session.value(f"SELECT count(DISTINCT {column}) FROM {relation}", what=source.label))
        try:
            if count > WIDE:
                bare = _bare(column, source.kinds[name], source.missing)
                hash = value_hash(bare, source.kinds[name], source.type_of(name))
                shown = one_chunk(cast_back(_first(source, bare, hash, count), source.type_of(name)))
                values[name], wide[name] = shown_values(name, shown, kinds.get(name), source.missing), hash
                continue
            listed = distinct(session, column, relation, source_type=source.type_of(name), what=source.label)
            encoded = encode(name, listed.values, kinds.get(name), source.missing)
        except ShoalError as error:
            values[name] = str(error)
        else:
            values[name], size = encoded.values, len(encoded.values.texts) + 1
            narrow[name] = column, translation(session, listed, encoded.codes + np.int32(1)), size
    if not narrow and not wide:
        return Overview(records, values, {}, np.array([records]))
    codes, counts = _rows(source, narrow, wide)
    if int(counts.sum()) != records:
        raise changed(source.label)
    return Overview(records, values, {name: codes[name] for name in source.names if name in codes}, counts)


def _rows(
    source: DuckDBSource, narrow: Mapping[str, tuple[str, Stored, int]], wide: Mapping[str, str]
) -> tuple[dict[str, NDArray[Any]], Counts]:
    """The codes of the distinct rows in their order, and how many records have each."""
    aliases = {f"l{at}": (column, codes) for at, (column, codes, _) in enumerate(narrow.values())}
    sizes = [size for *_, size in narrow.values()]
    chosen = [*pack([f"{alias}.code" for alias in aliases], sizes), *wide.values()]
    keys = [f"k{at}" for at in range(len(chosen))]
    selected = ", ".join(f"{expression} AS {key}" for expression, key in zip(chosen, keys, strict=True))
    ordered = ", ".join(f"{key} NULLS FIRST" for key in keys)
    counted = source.session.fetch(
        f"SELECT * FROM (SELECT {selected}, count(*) AS n FROM {join_codes(source.relation, aliases)} GROUP BY ALL) "
        f"ORDER BY {ordered}",
        what=source.label,
    )
    codes: dict[str, NDArray[Any]] = {}
    names = list(narrow)
    for key, word in zip(keys, words(sizes), strict=False):
        packed_codes = counted[key].to_numpy()
        for place, stride in word.items():
            code = packed_codes // stride % sizes[place] - 1
            codes[names[place]] = code.astype(narrowest(sizes[place]))
    for key, name in zip(keys[len(chosen) - len(wide) :], wide, strict=True):
        codes[name] = ranks(counted[key])
    return codes, counted["n"].to_numpy()


def _first(source: DuckDBSource, bare: str, hash: str, count: int) -> pa.ChunkedArray:
    """The values of a wide column whose hashes come first."""
    share = 1.5 * SHOWN / count  # of all hashes, within which there are almost surely enough
    while True:
        bound = min(int(share * 2**64), 2**64 - 1)
        values = source.session.fetch(
            f"SELECT DISTINCT {bare} AS value, {hash} AS hash FROM {source.relation} WHERE {hash} <= {bound}::UBIGINT "
            f"ORDER BY hash LIMIT {SHOWN}",
            what=source.label,
        )["value"]
        if len(values) == SHOWN or share >= 1:
            return values
        share *= 2


def _bare(column: str, kind: str, missing: Collection[str]) -> str:
    """A value without blanks around it; a missing one, and a number that is none, as null."""
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN {is_nan(column)} THEN NULL ELSE {column} END"
    if kind != "VARCHAR":
        return column
    plain = f"unicode({column}) BETWEEN 33 AND 126 AND unicode(right({column}, 1)) BETWEEN 33 AND 126"
    text = f"CASE WHEN {plain} THEN {column} ELSE trim({column}, {literal(_blanks())}) END"  # which takes long
    for spelling in ("", *missing):
        text = f"nullif({text}, {literal(spelling)})"
    return text


@cache
def _blanks() -> str:
    """Every sign that is a blank."""
    return "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))
