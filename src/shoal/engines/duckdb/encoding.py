"""Encoding: columns as integers, in the database; only their distinct values come to Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
import pyarrow as pa

from shoal.core.classes import Classes, summarize, unpacked
from shoal.core.contracts.table import Trees
from shoal.core.grouping import Codes, Counts, words
from shoal.core.hierarchy import Hierarchy
from shoal.engines.common.column_types import cast_back
from shoal.engines.duckdb.session import DatabaseSession, Stored


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column, how many records have each, and the numbered table of them."""

    table: Stored
    values: pa.ChunkedArray
    counts: Counts


def distinct(
    session: DatabaseSession,
    column: str,
    origin: str,
    *,
    weight: str = "count(*)",
    source_type: pa.DataType | None = None,
    what: str = "the table",
) -> Distinct:
    """The distinct values of a column, shorter ones first, with the type that they had at the source.

    The order settles which of several spellings of one value stands for it.
    """
    table = session.create(
        "SELECT value, n, row_number() OVER (ORDER BY length(CAST(value AS VARCHAR)), value) - 1 AS id "
        f"FROM (SELECT {column} AS value, CAST({weight} AS BIGINT) AS n FROM {origin} GROUP BY 1)",
        what=what,
    )
    listed = session.fetch(f"SELECT value, n FROM {table} ORDER BY id")
    return Distinct(table, cast_back(listed["value"], source_type), listed["n"].to_numpy())


def loadable(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column that DuckDB can hold: dictionaries resolved, durations as numbers, narrow floats wider; `cast_back`
    undoes it."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_duration(column.type):
        return column.cast(pa.int64())
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def translation(
    session: DatabaseSession, distinct: Distinct, codes: Codes, included: np.ndarray | None = None
) -> Stored:
    """The code of each value, as a table to join; values that are not `included` are not in it."""
    places = np.arange(len(codes)) if included is None else np.flatnonzero(included)
    numbered = session.load(pa.table({"id": places, "code": codes[places].astype(np.int32)}))
    return session.create(f"SELECT value, code FROM {distinct.table} JOIN {numbered} USING (id)")


def join_codes(origin: str, columns: Mapping[str, tuple[str, Stored]]) -> str:
    """A relation joined with the codes of its columns: for each alias the column's expression and its codes."""
    joins = [
        f"JOIN {codes} AS {alias} ON {alias}.value IS NOT DISTINCT FROM {column}"
        for alias, (column, codes) in columns.items()
    ]
    return " ".join((origin, *joins))


def pack(codes: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Expressions of codes as digits of a few whole numbers, as `packed_codes` has them."""
    return [
        " + ".join(f"CAST({codes[place]} AS BIGINT) * {stride}" for place, stride in word.items())
        for word in words(sizes)
    ]


@dataclass(frozen=True, eq=False)
class DuckDBTally:
    """How many records, as `n`, have each combination of the codes of some columns.

    The codes are digits of whole numbers `w0`, `w1` and so on: grouping by one number is several times faster than
    grouping by many columns, and takes a fraction of the room. `sizes` has how many codes each column can have.
    """

    session: DatabaseSession
    table: Stored
    sizes: Mapping[str, int]

    @classmethod
    def of(
        cls,
        session: DatabaseSession,
        origin: str,
        columns: Mapping[str, tuple[str, Stored, int]],
        *,
        weight: str = "count(*)",
        what: str,
    ) -> DuckDBTally:
        """The tally of a relation: for each column its expression, its codes, and how many there can be. Rows with a
        value that has no code are left out."""
        aliases = {f"l{at}": (column, codes) for at, (column, codes, _) in enumerate(columns.values())}
        sizes = {name: size for name, (*_, size) in columns.items()}
        chosen = pack([f"{alias}.code" for alias in aliases], list(sizes.values()))
        selected = ", ".join(f"{word} AS w{at}" for at, word in enumerate(chosen))
        by = f" GROUP BY {', '.join(f'w{at}' for at in range(len(chosen)))}" if chosen else ""
        table = session.create(
            f"SELECT {selected}, CAST({weight} AS BIGINT) AS n FROM {join_codes(origin, aliases)}{by}", what=what
        )
        return cls(session, table, sizes)

    @cached_property
    def records(self) -> int:
        return int(self.session.value(f"SELECT coalesce(sum(n), 0) FROM {self.table}"))

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """The word and the stride of each column."""
        names = list(self.sizes)
        return {
            names[place]: (at, stride)
            for at, word in enumerate(words(list(self.sizes.values())))
            for place, stride in word.items()
        }

    def code(self, name: str) -> str:
        """The code of a column, as an expression."""
        word, stride = self._places[name]
        return f"CAST(w{word} // {stride} % {self.sizes[name]} AS INTEGER)"

    def keys(self, names: Sequence[str]) -> list[str]:
        """The codes of some columns as digits, in this order; the columns that the tally begins with are not taken
        apart."""
        sizes = [self.sizes[name] for name in names]
        if list(names) == list(self.sizes)[: len(names)] and len(words(list(self.sizes.values()))) == 1:
            rest = prod(list(self.sizes.values())[len(names) :])
            return ["w0" if rest == 1 else f"w0 // {rest}"]
        return pack([self.code(name) for name in names], sizes)

    def classes(
        self,
        attributes: Sequence[str],
        sensitive: Trees,
        hierarchies: Sequence[Hierarchy] = (),
        person: str | None = None,
    ) -> Classes:
        """The classes of some columns, with the histograms of sensitive ones."""
        if not sensitive:
            return self._group(attributes, None, hierarchies, person)
        first, *others = (self._group(attributes, each, hierarchies, person) for each in sensitive)
        return replace(first, sensitive=(first.sensitive[0], *(other.sensitive[0] for other in others)))

    def _group(
        self,
        attributes: Sequence[str],
        chosen: tuple[str, Hierarchy | None] | None,
        hierarchies: Sequence[Hierarchy],
        person: str | None,
    ) -> Classes:
        names = [*attributes, *([] if chosen is None else [chosen[0]])]
        sizes = [self.sizes[name] for name in attributes]
        if attributes and person is None and len(words([self.sizes[name] for name in names])) == 1:
            (key,) = self.keys(names)
            whole = key == "w0"
            keys, counts = self.session.columns(
                f"SELECT {key} AS k, {'n' if whole else 'CAST(sum(n) AS BIGINT) AS n'} FROM {self.table}"
                f"{'' if whole else ' GROUP BY k'} ORDER BY k"
            )
            last = None if chosen is None else (chosen[0], self.sizes[chosen[0]], chosen[1])
            return unpacked(attributes, sizes, keys, counts, last, hierarchies)
        names += [] if person is None else [person]
        selected = ", ".join(f"{self.code(name)} AS k{at}" for at, name in enumerate(names))
        counted = self.session.fetch(f"SELECT {selected}, CAST(sum(n) AS BIGINT) AS n FROM {self.table} GROUP BY ALL")
        *columns, counts = (column.to_numpy() for column in counted.columns)
        beside = [] if chosen is None else [(chosen[0], columns[len(attributes)], self.sizes[chosen[0]], chosen[1])]
        people = None if person is None else (person, columns[-1], self.sizes[person])
        return summarize(attributes, columns[: len(attributes)], sizes, beside, hierarchies, counts, people)
