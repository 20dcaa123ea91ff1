"""Columns that repeat few values: hashes of these are made once and looked up, and those of plain columns are numbered,
so that their numbers are stored, sorted and looked up.

Sorting and writing numbers is several times faster than doing it with texts, and hashing a value takes thirty times as
long as looking its hash up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.engines.duckdb.hashing import cell_hash
from shoal.engines.duckdb.session import Stored, quoted
from shoal.engines.duckdb.source import DuckDBSource

FEW = 1 << 18
"""Different values of a column up to which they are numbered, or their hashes looked up."""
MANY = 1 << 12
"""Records from which on it pays to look hashes up."""

_SPELLED_ALIKE = re.compile(
    r"VARCHAR|BOOLEAN|DATE|TIMESTAMP|U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|DECIMAL.*|FLOAT|DOUBLE"
)
"""Types whose equal values are the same to publish, but for a negative zero; those of intervals are not."""


def spelled_alike(kind: str) -> bool:
    """Whether a DuckDB type is one of those."""
    return _SPELLED_ALIKE.fullmatch(kind) is not None


def repeating_columns(source: DuckDBSource, names: Sequence[str]) -> frozenset[str]:
    """The columns of some whose values can be numbered. About how many there are is enough to know: what is published
    does not depend on it."""
    chosen = [name for name in names if spelled_alike(source.kinds[name])]
    if not chosen:
        return frozenset()
    counts = ", ".join(f"approx_count_distinct(s.{quoted(name)}), {_has_signed_zero(source, name)}" for name in chosen)
    answers = source.session.row(f"SELECT {counts} FROM {source.relation}", what=source.label)
    counted = zip(chosen, answers[::2], answers[1::2], strict=True)
    return frozenset(name for name, count, signed in counted if count <= FEW and not signed)


def numbered_values(source: DuckDBSource, name: str, seed: int | None = None) -> Stored:
    """The values of a column, each with its number as `code`, and its hash."""
    return source.session.create(
        f"SELECT value, CAST(row_number() OVER () AS INTEGER) AS code, "
        f"{cell_hash(name, 'value', source.kinds[name], source.type_of(name), seed)} AS hash "
        f"FROM (SELECT DISTINCT s.{quoted(name)} AS value FROM {source.relation})",
        what=source.label,
    )


def _has_signed_zero(source: DuckDBSource, name: str) -> str:
    """Whether a column has a zero with a sign, which equals the one without, and is another value to publish."""
    if source.kinds[name] not in ("FLOAT", "DOUBLE"):
        return "false"
    column = f"s.{quoted(name)}"
    return f"bool_or(CASE WHEN {column} = 0 THEN CAST({column} AS VARCHAR) LIKE '-%' ELSE false END)"
