"""The DuckDB table: rows stay in the database, or at their source, and are joined with codes and plans there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.contracts.table import Published, Sheet
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Floats, Hierarchy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Recoding
from shoal.core.run import Run
from shoal.core.schema import Schema
from shoal.core.survey import Survey, spaced
from shoal.engines.common.encoding import as_came, glanced
from shoal.engines.common.hashing import row_hashes
from shoal.engines.duckdb.encoding import Tally, joined
from shoal.engines.duckdb.hashing import cell_hash, row_hash
from shoal.engines.duckdb.identity import published, said
from shoal.engines.duckdb.session import Session, Stored, quoted
from shoal.engines.duckdb.source import Source
from shoal.errors import unknown_columns
from shoal.parsing.identifiers import one_spelling
from shoal.parsing.identity import identifiers


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """The leaves of a column: `codes` is the table of its values and their leaves, `raw` has the published value of
    each leaf that occurs, `respelled` those values of the source that are spelled otherwise, where there are some."""

    hierarchy: Hierarchy
    raw: pa.Array
    codes: Stored
    respelled: Stored | None = None


@dataclass(frozen=True, eq=False)
class DuckDBTable:
    """A source and the codes of its columns with a role.

    The `tally` counts the combinations of codes; everything that is about classes comes from it, and so do releases of
    nothing but such columns. Records that lack a value in one of the `dropping` columns are no part of the table, nor
    are those whose leaves are not `between` the given ones.
    """

    source: Source
    columns: Mapping[str, CodedColumn]
    tally: Tally
    dropping: frozenset[str] = frozenset()
    between: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    _said: dict[str, Stored] = field(default_factory=dict)

    @property
    def _session(self) -> Session:
        return self.source.session

    @property
    def records(self) -> int:
        return self.tally.records

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each encoded column among them."""
        return {name: at for at, name in enumerate(name for name in self.source.names if name in self.columns)}

    def group(self, attributes: Sequence[str], sensitive: Sequence[str], *, person: str | None = None) -> Classes:
        trees = {name: column.hierarchy for name, column in self.columns.items()}
        beside = [(name, trees[name]) for name in sensitive]
        return self.tally.classes(attributes, beside, [trees[name] for name in attributes], person)

    def count_repeats(self, name: str) -> int:
        rows = f"{self.rows([], [name])} AS b {self.joined_said(name, 't')}"
        return int(self._session.value(f"SELECT count(t.said) - count(DISTINCT t.said) FROM {rows}"))

    def said(self, name: str) -> Stored:
        """The distinct values of a column with what they `said`, whatever their type and however they are spelled."""
        if name not in self._said:
            held = self.columns.get(name)
            if held is None:
                self._said[name] = said(self.source, name)
            else:
                labels = pa.array(identifiers(held.hierarchy.labels[0].tolist()), pa.string())
                loaded = self._session.load(pa.table({"code": np.arange(len(labels), dtype=np.int32), "said": labels}))
                self._said[name] = self._session.create(
                    f"SELECT value, said FROM {held.codes} JOIN {loaded} USING (code)"
                )
        return self._said[name]

    def joined_said(self, name: str, alias: str) -> str:
        """A join of records `b` with what a column of theirs said."""
        value = f"b.c{self.source.names.index(name)}"
        return f"JOIN {self.said(name)} AS {alias} ON {alias}.value IS NOT DISTINCT FROM {value}"

    def codes(self, name: str) -> Codes:
        if name not in self.columns:
            raise unknown_columns([name], self.columns)
        return self._fetched([name], self.rows([name]))[0]

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        chosen = list(dict.fromkeys((*quasi, *names)))
        order = ", ".join((*(f"k{self.places[name]}" for name in quasi), "hash"))
        return tuple(self._fetched(names, f"{self.rows(chosen, seed=seed)} ORDER BY {order}"))

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        return tuple(self._fetched(names, f"{self.rows(names, seed=seed)} ORDER BY hash LIMIT {int(records)}"))

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> DuckDBTable:
        between = {name: (int(least), int(most)) for name, least, most in zip(quasi, low, high, strict=True)}
        inside = " AND ".join(f"{self.tally.code(name)} BETWEEN {a} AND {b}" for name, (a, b) in between.items())
        stored = self._session.create(f"SELECT * FROM {self.tally.table} WHERE {inside}")
        return replace(self, tally=replace(self.tally, table=stored), between=between)

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        order = ", ".join((*(f"k{self.places[name]}" for name in quasi), "hash"))
        texts = ", ".join(f"t{at}.said AS s{at}" for at in range(len(names)))
        beside = " ".join(self.joined_said(name, f"t{at}") for at, name in enumerate(names))
        rows = f"{self.rows(quasi, names, seed=seed)} AS b {beside}"
        found = self._session.fetch(f"SELECT {texts} FROM {rows} ORDER BY {order}")
        return row_hashes(zip(names, found.columns, strict=True), key, one_spelling)

    def numbers(self, names: Sequence[str], seed: int) -> dict[str, Floats]:
        ordered = self._fetched(names, f"{self.rows(names, seed=seed)} ORDER BY hash")
        found = {}
        for name, codes in zip(names, ordered, strict=True):
            values = self.columns[name].hierarchy.values
            assert values is not None
            found[name] = values[codes]
        return found

    def _fetched(self, names: Sequence[str], rows: str) -> list[Codes]:
        """Encoded columns of a query over rows, in its order."""
        if not names:
            return []
        selected = ", ".join(f"k{self.places[name]} AS x{at}" for at, name in enumerate(names))
        found = self._session.fetch(f"SELECT {selected} FROM {rows}", what=self.source.label)
        return [column.to_numpy() for column in found.columns]

    def rows(self, encoded: Sequence[str], plain: Sequence[str] = (), *, seed: int | None = None) -> str:
        """The records: leaves as `k0`, `k1` and so on, by the place of the column, values as they are at the source as
        `c0`, `c1`, and, with a seed, the keyed hash of the whole record as `hash`."""
        needed = {*encoded, *self.dropping, *self.between}
        names = [name for name in self.columns if name in needed]
        codes = {f"l{self.places[name]}": (f"s.{quoted(name)}", self.columns[name].codes) for name in names}
        selected = [f"l{self.places[name]}.code AS k{self.places[name]}" for name in names]
        selected += [f"s.{quoted(name)} AS c{self.source.names.index(name)}" for name in plain]
        origin = joined(self.source.relation, codes)
        if seed is not None:
            hashes = [
                cell_hash(name, self._published(name), self.source.kinds[name], self.source.came(name), seed)
                for name in self.source.names
            ]
            selected.append(f"{row_hash(hashes)} AS hash")
            for name, held in self.columns.items():
                if held.respelled is not None:
                    other = f"r{self.places[name]}"
                    origin += f" LEFT JOIN {held.respelled} AS {other} ON {other}.value = s.{quoted(name)}"
        bounds = [f"l{self.places[name]}.code BETWEEN {a} AND {b}" for name, (a, b) in self.between.items()]
        where = f" WHERE {' AND '.join(bounds)}" if bounds else ""
        return f"(SELECT {', '.join(selected)} FROM {origin}{where})"

    def _published(self, name: str) -> str:
        """A value of a record as it is published, where the column has a role."""
        value, held = f"s.{quoted(name)}", self.columns.get(name)
        if held is None:
            return value
        other = None if held.respelled is None else f"r{self.places[name]}"
        return published(value, self.source.kinds[name], other)

    def survey(self, names: Sequence[str], counted: Sequence[str], *, records: int, values: int, run: Run) -> Survey:
        """Only the records that are looked at come to Python; the others are counted in the database."""
        with self._session.stopped_by(run, "looking at the plain columns", several=True):
            return self._surveyed(names, counted, records, values)

    def _surveyed(self, names: Sequence[str], counted: Sequence[str], records: int, values: int) -> Survey:
        named = {name: f"c{self.source.names.index(name)}" for name in names}
        rows = self.rows([], names)
        places = self._session.load(pa.table({"place": spaced(self.records, records)}))
        found = self._session.fetch(
            f"SELECT {', '.join(named.values())} FROM (SELECT *, row_number() OVER () - 1 AS place FROM {rows}) "
            f"JOIN {places} USING (place) ORDER BY place",
            what=self.source.label,
        )
        looks = {
            name: glanced(name, as_came(found[column], self.source.came(name)), self.source.missing, values)
            for name, column in named.items()
        }
        present, distinct = {}, {}
        chosen = [name for name in counted if not isinstance(looks[name], str)]
        for name in chosen:
            tallied = f"(SELECT {named[name]} AS value, count(*) AS n FROM {rows} GROUP BY 1) WHERE value IS NOT NULL"
            present[name] = int(self._session.value(f"SELECT coalesce(sum(n), 0) FROM {tallied}"))
            distinct[name] = int(self._session.value(f"SELECT count(*) FROM {tallied}"))
        alone = 0
        if chosen:
            by = ", ".join(named[name] for name in chosen)
            alone = self._session.value(
                f"SELECT count(*) FROM (SELECT 1 FROM {rows} GROUP BY {by} HAVING count(*) = 1)"
            )
        return Survey(self.records, looks, present, distinct, int(alone))

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
        from shoal.engines.duckdb.apply_plan import Publishing

        publishing = Publishing(self, schema, recoding, seed, pseudonyms)
        with self._session.stopped_by(run, "publishing", several=True):
            return {sheet.part: publishing.sheet(sheet) for sheet in sheets}
