"""Encoding: columns as integers, in the database; only their distinct values come to Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.core.classes import Classes, summarize
from shoal.core.grouping import Codes, Counts
from shoal.core.hierarchy import Hierarchy
from shoal.engines.duckdb.session import Session, Stored
from shoal.engines.embedded.encoding import as_came


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column, how many records have each, and the numbered table of them."""

    table: Stored
    values: pa.ChunkedArray
    counts: Counts


def tally(session: Session, selected: Iterable[str], origin: str, *, weight: str = "count(*)", what: str) -> Stored:
    """The distinct rows of a query, as columns `v0`, `v1` and so on, and how many records have each, as `n`."""
    named = (f"{value} AS v{at}" for at, value in enumerate(selected))
    chosen = ", ".join((*named, f"CAST({weight} AS BIGINT) AS n"))
    return session.create(f"SELECT {chosen} FROM {origin} GROUP BY ALL", what=what)


def distinct(session: Session, tallied: Stored, column: str, came: pa.DataType | None = None) -> Distinct:
    """The distinct values of a column of a tally, shorter ones first; `came` is the type that they had at the source.

    The order settles which of several spellings of one value stands for it.
    """
    table = session.create(
        "SELECT value, n, row_number() OVER (ORDER BY length(CAST(value AS VARCHAR)), value) - 1 AS id "
        f"FROM (SELECT {column} AS value, CAST(sum(n) AS BIGINT) AS n FROM {tallied} GROUP BY 1)"
    )
    found = session.fetch(f"SELECT value, n FROM {table} ORDER BY id")
    return Distinct(table, as_came(found["value"], came), found["n"].to_numpy())


def loadable(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column that DuckDB can hold: dictionaries resolved, durations as numbers, narrow floats wider; `as_came` undoes
    it."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_duration(column.type):
        return column.cast(pa.int64())
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def translation(session: Session, found: Distinct, codes: Codes, kept: np.ndarray | None = None) -> Stored:
    """The code of each value, as a table to join; values that are not `kept` are not in it."""
    places = np.arange(len(codes)) if kept is None else np.flatnonzero(kept)
    numbered = session.load(pa.table({"id": places, "code": codes[places].astype(np.int32)}))
    return session.create(f"SELECT value, code FROM {found.table} JOIN {numbered} USING (id)")


def joined(origin: str, columns: Mapping[str, tuple[str, Stored]]) -> str:
    """A relation joined with the codes of its columns: for each alias the column's expression and its codes."""
    joins = [
        f"JOIN {codes} AS {alias} ON {alias}.value IS NOT DISTINCT FROM {column}"
        for alias, (column, codes) in columns.items()
    ]
    return " ".join((origin, *joins))


def classes(
    session: Session,
    coded: str,
    width: int,
    attributes: Sequence[tuple[str, str, int]],
    sensitive: Sequence[tuple[str, str, int, Hierarchy | None]],
    hierarchies: Sequence[Hierarchy] = (),
    person: tuple[str, str, int] | None = None,
) -> Classes:
    """The classes of a relation of codes with counts `n`: attributes, sensitive ones and the person as name,
    expression, size.

    The relation has `width` columns of codes, and hardly a row twice: nothing is grouped when all of them are taken.
    """

    def grouped(*chosen: tuple[str, str, int, Hierarchy | None]) -> Classes:
        whose = [] if person is None else [person[1]]
        expressions = [*(expression for _, expression, _ in attributes), *(each[1] for each in chosen), *whose]
        selected = ", ".join(f"{expression} AS k{at}" for at, expression in enumerate(expressions))
        sums, by = ("n", "") if len(expressions) == width else ("CAST(sum(n) AS BIGINT) AS n", " GROUP BY ALL")
        found = session.fetch(f"SELECT {selected}, {sums} FROM {coded}{by}")
        *columns, counts = (found[at].to_numpy() for at in range(found.num_columns))
        return summarize(
            [name for name, *_ in attributes],
            columns[: len(attributes)],
            [size for *_, size in attributes],
            [(name, columns[len(attributes)], size, tree) for name, _, size, tree in chosen],
            hierarchies,
            weights=counts,
            person=None if person is None else (person[0], columns[-1], person[2]),
        )

    if not sensitive:
        return grouped()
    first, *others = (grouped(each) for each in sensitive)
    return replace(first, sensitive=(first.sensitive[0], *(other.sensitive[0] for other in others)))
