"""What values say, however they are spelled: only those that are spelled otherwise come to Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.engines.common.column_types import cast_back, is_text
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.common.encoding import Encoded
from shoal.engines.common.identity import identifier_texts, spelled_otherwise
from shoal.engines.duckdb.encoding import Distinct
from shoal.engines.duckdb.session import DatabaseSession, Stored, literal, quoted
from shoal.engines.duckdb.source import DuckDBSource
from shoal.parsing.identity import MOST_ZEROS, PLAIN_NUMBER, PLAIN_TEXT

_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER")
_PLAIN = (
    f"regexp_full_match(value, {literal(PLAIN_TEXT)}) AND (NOT regexp_full_match(value, '[-+.0-9]+') "
    f"OR (regexp_full_match(value, {literal(PLAIN_NUMBER)}) AND value <> '-0' AND length(value) <= {MOST_ZEROS}))"
)
"""A condition that holds for texts that say what they spell."""


def respelled(session: DatabaseSession, distinct: Distinct, encoded: Encoded) -> Stored | None:
    """The texts of a column that are published in another spelling, or as missing, which is `said` beside them; None
    where there is none."""
    if not is_text(encoded.raw.type):
        return None
    values = one_chunk(distinct.values)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    codes = encoded.codes
    published = encoded.raw.take(pa.array(codes, mask=codes < 0))
    places = np.flatnonzero(spelled_otherwise(values, published).to_numpy(zero_copy_only=False))
    return _beside(session, distinct.table, places, published.take(pa.array(places))) if len(places) else None


def _beside(session: DatabaseSession, numbered: Stored, ids: NDArray[Any], texts: pa.Array) -> Stored:
    """The values of a numbered table that have some numbers, each with what it says."""
    loaded = session.load(pa.table({"id": ids, "said": texts}))
    return session.create(f"SELECT value, said FROM {numbered} JOIN {loaded} USING (id)")


def published_value(value: str, kind: str, other: str | None) -> str:
    """A value of a column with a role as it is published; `other` is the alias of a table of `respelled` ones."""
    if other is not None:
        return f"CASE WHEN {other}.value IS NULL THEN {value} ELSE {other}.said END"
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN {is_nan(value)} THEN NULL WHEN {value} = 0 THEN 0 ELSE {value} END"
    return value


def is_nan(value: str) -> str:
    """Whether a float is not a number. DuckDB thinks that it knows by the statistics of Parquet files, which leave such
    values out, unless it has to look into the text; a comparison of texts it takes for one of numbers."""
    return f"contains(printf('%g', {value}), 'nan')"


def identifiers(source: DuckDBSource, name: str) -> Stored:
    """A table of the distinct identifiers of a column, and what each `said`; null where it says nothing."""
    session, kind = source.session, source.kinds[name]
    distinct = f"(SELECT DISTINCT s.{quoted(name)} AS value FROM {source.relation})"
    if _WHOLE.fullmatch(kind):
        return session.create(f"SELECT value, CAST(value AS VARCHAR) AS said FROM {distinct}", what=source.label)
    odd = f"NOT ({_PLAIN})" if kind == "VARCHAR" else "true"
    numbered = session.create(
        f"SELECT value, row_number() OVER () - 1 AS id FROM {distinct} WHERE value IS NOT NULL AND {odd}",
        what=source.label,
    )
    values = session.fetch(f"SELECT value FROM {numbered} ORDER BY id")["value"]
    texts = identifier_texts(one_chunk(cast_back(values, source.type_of(name))))
    beside = _beside(session, numbered, np.arange(len(texts)), pa.array(texts, pa.string()))
    return session.create(
        f"SELECT d.value, CASE WHEN o.value IS NULL THEN CAST(d.value AS VARCHAR) ELSE o.said END AS said "
        f"FROM {distinct} AS d LEFT JOIN {beside} AS o ON o.value = d.value",
        what=source.label,
    )
