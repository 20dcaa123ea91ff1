"""The DuckDB table: rows stay in the database, or at their source, and are joined with codes and plans there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.classes import Classes
from shoal.core.grouping import Codes
from shoal.core.hierarchy import Hierarchy
from shoal.core.run import Run
from shoal.core.survey import spaced
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.identity import leaf_identifiers
from shoal.engines.common.table import QueriedTable
from shoal.engines.duckdb.encoding import DuckDBTally, join_codes
from shoal.engines.duckdb.hashing import cell_hash, row_hash
from shoal.engines.duckdb.identity import identifiers, published_value
from shoal.engines.duckdb.plain import FEW, MANY, numbered_values, repeating_columns, spelled_alike
from shoal.engines.duckdb.session import Stored, quoted
from shoal.engines.duckdb.source import DuckDBSource
from shoal.parsing.identifiers import one_spelling


@dataclass(frozen=True, eq=False)
class DuckDBColumn:
    """The leaves of a column: `codes` is the table of its values and their leaves, `raw` has the published value of
    each leaf that occurs, `respelled` those values of the source that are spelled otherwise, where there are some."""

    hierarchy: Hierarchy
    raw: pa.Array
    codes: Stored
    respelled: Stored | None = None


@dataclass(frozen=True, eq=False, repr=False)
class DuckDBTable(QueriedTable):
    """A source and the codes of its columns with a role.

    The `tally` counts the combinations of codes; everything that is about classes comes from it, and so do releases of
    nothing but such columns.
    """

    source: DuckDBSource
    columns: Mapping[str, DuckDBColumn]
    tally: DuckDBTally = field(kw_only=True)
    _identifiers: dict[str, Stored] = field(default_factory=dict)
    _hashes: dict[int, Mapping[str, Stored]] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return self.tally.records

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        return self.source.session.stopped_by(run, doing, several=True)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each encoded column among them."""
        return {name: at for at, name in enumerate(name for name in self.source.names if name in self.columns)}

    def group(self, attributes: Sequence[str], sensitive: Sequence[str], *, person: str | None = None) -> Classes:
        self.check_known(*attributes, *sensitive)
        trees = {name: column.hierarchy for name, column in self.columns.items()}
        beside = [(name, trees[name]) for name in sensitive]
        return self.tally.classes(attributes, beside, [trees[name] for name in attributes], person)

    def count_repeats(self, name: str) -> int:
        rows = f"{self.rows([], [name])} AS b {self._joined_identifiers(name, 't')}"
        return int(self.session.value(f"SELECT count(t.said) - count(DISTINCT t.said) FROM {rows}"))

    def identifiers(self, name: str) -> Stored:
        """The distinct values of a column with what they `said`, whatever their type and however they are spelled."""
        if name not in self._identifiers:
            # A table goes with whoever holds it, so the one of a thread that was faster stays: it may be in use.
            self._identifiers.setdefault(name, self._listed_identifiers(name))
        return self._identifiers[name]

    def _listed_identifiers(self, name: str) -> Stored:
        column = self.columns.get(name)
        if column is None:
            return identifiers(self.source, name)
        labels = leaf_identifiers(column.hierarchy)
        loaded = self.source.session.load(pa.table({"code": np.arange(len(labels), dtype=np.int32), "said": labels}))
        return self.source.session.create(f"SELECT value, said FROM {column.codes} JOIN {loaded} USING (code)")

    def _joined_identifiers(self, name: str, alias: str) -> str:
        """A join of records `b` with what a column of theirs said."""
        value = f"b.c{self.source.names.index(name)}"
        return f"JOIN {self.identifiers(name)} AS {alias} ON {alias}.value IS NOT DISTINCT FROM {value}"

    def codes(self, name: str) -> Codes:
        self.check_known(name)
        return self._fetch([name], self.rows([name]))[0]

    def listing(self, quasi: Sequence[str], names: Sequence[str], seed: int) -> tuple[Codes, ...]:
        chosen = list(dict.fromkeys((*quasi, *names)))
        return tuple(self._fetch(names, f"{self.rows(chosen, seed=seed)} ORDER BY {self._order(quasi)}"))

    def _order(self, quasi: Sequence[str]) -> str:
        return ", ".join((*(f"k{self.places[name]}" for name in quasi), "hash"))

    def sample(self, names: Sequence[str], records: int, seed: int) -> tuple[Codes, ...]:
        return tuple(self._fetch(names, f"{self.rows(names, seed=seed)} ORDER BY hash LIMIT {int(records)}"))

    def within(self, quasi: Sequence[str], low: Sequence[int], high: Sequence[int]) -> DuckDBTable:
        between = {
            name: (int(least), int(most))
            for name, least, most in zip(quasi, low, high, strict=True)
            if least > 0 or most < self.columns[name].hierarchy.size - 1
        }
        inside = " AND ".join(f"{self.tally.code(name)} BETWEEN {a} AND {b}" for name, (a, b) in between.items())
        stored = self.session.create(f"SELECT * FROM {self.tally.table} WHERE {inside or 'true'}")
        return replace(self, tally=replace(self.tally, table=stored), between=between)

    def digests(self, names: Sequence[str], key: int, quasi: Sequence[str], seed: int) -> NDArray[np.uint64]:
        selected = ", ".join(f"t{at}.said AS s{at}" for at in range(len(names)))
        beside = " ".join(self._joined_identifiers(name, f"t{at}") for at, name in enumerate(names))
        rows = f"{self.rows(quasi, names, seed=seed)} AS b {beside}"
        texts = self.session.fetch(f"SELECT {selected} FROM {rows} ORDER BY {self._order(quasi)}")
        return row_hashes(zip(names, texts.columns, strict=True), key, one_spelling)

    def _fetch(self, names: Sequence[str], rows: str) -> list[Codes]:
        """Encoded columns of a query over rows, in its order."""
        if not names:
            return []
        selected = ", ".join(f"k{self.places[name]} AS x{at}" for at, name in enumerate(names))
        coded = self.session.fetch(f"SELECT {selected} FROM {rows}", what=self.source.label)
        return [column.to_numpy() for column in coded.columns]

    def rows(self, encoded: Sequence[str], plain: Sequence[str] = (), *, seed: int | None = None) -> str:
        """The records: leaves as `k0`, `k1` and so on, by the place of the column, values as they are at the source as
        `c0`, `c1`, and, with a seed, the keyed hash of the whole record as `hash`."""
        needed = {*encoded, *self.dropping, *self.between}
        names = [name for name in self.columns if name in needed]
        codes = {f"l{self.places[name]}": (f"s.{quoted(name)}", self.columns[name].codes) for name in names}
        selected = [f"l{self.places[name]}.code AS k{self.places[name]}" for name in names]
        selected += [f"s.{quoted(name)} AS c{self.source.names.index(name)}" for name in plain]
        respelled = ""
        if seed is not None:
            hashes = []
            for at, name in enumerate(self.source.names):
                value, stored = f"s.{quoted(name)}", self._hashed(seed).get(name)
                alias = f"l{self.places[name]}" if name in self.columns else f"h{at}"
                if stored is not None:
                    codes[alias] = value, stored
                    hashes.append(f"{alias}.hash")
                    continue
                other = self._respelled(name, value, f"r{at}")
                respelled += other
                hashes.append(self._cell_hash(name, value, f"r{at}" if other else None, seed))
            selected.append(f"{row_hash(hashes)} AS hash")
        origin = join_codes(self.source.relation, codes) + respelled
        bounds = [f"l{self.places[name]}.code BETWEEN {a} AND {b}" for name, (a, b) in self.between.items()]
        where = f" WHERE {' AND '.join(bounds)}" if bounds else ""
        return f"(SELECT {', '.join(selected)} FROM {origin}{where})"

    def _cell_hash(self, name: str, value: str, other: str | None, seed: int) -> str:
        """The hash of a value, as it is published where the column has a role."""
        kind = self.source.kinds[name]
        if name in self.columns and name not in self.known:
            value = published_value(value, kind, other)
        return cell_hash(name, value, kind, self.source.type_of(name), seed)

    def _respelled(self, name: str, value: str, alias: str) -> str:
        """A join with the values of a column that are published in another spelling; empty where there are none."""
        column = self.columns.get(name)
        if column is None or column.respelled is None or name in self.known:
            return ""
        return f" LEFT JOIN {column.respelled} AS {alias} ON {alias}.value = {value}"

    @cached_property
    def repeating(self) -> frozenset[str]:
        """The plain columns whose values are numbered."""
        return repeating_columns(self.source, [name for name in self.source.names if name not in self.columns])

    def _hashed(self, seed: int) -> Mapping[str, Stored]:
        """The values of columns that repeat few, each with its hash, and with its code where the column has a role."""
        if seed not in self._hashes:
            made = {}
            if self.records >= MANY:
                made = {name: numbered_values(self.source, name, seed) for name in self.repeating}
                made |= {name: self._hashed_codes(name, seed) for name in self.columns if self._repeats(name)}
            self._hashes.setdefault(seed, made)  # those of a thread that was faster stay: they may be in use
        return self._hashes[seed]

    def _repeats(self, name: str) -> bool:
        """Whether a column with a role has few values, of which equal ones are hashed alike."""
        kind = self.source.kinds[name]
        if not spelled_alike(kind) or (name in self.known and kind in ("FLOAT", "DOUBLE")):
            return False
        return bool(self.session.value(f"SELECT count(*) <= {FEW} FROM {self.columns[name].codes}"))

    def _hashed_codes(self, name: str, seed: int) -> Stored:
        other = self._respelled(name, "c.value", "r")
        hashed = self._cell_hash(name, "c.value", "r" if other else None, seed)
        return self.source.session.create(f"SELECT c.*, {hashed} AS hash FROM {self.columns[name].codes} AS c{other}")

    def _sample_columns(self, names: Sequence[str], records: int) -> dict[str, pa.ChunkedArray]:
        places = self.session.load(pa.table({"place": spaced(self.records, records)}))
        numbered = f"(SELECT *, row_number() OVER () - 1 AS place FROM {self.rows([], names)})"
        shown = self.session.fetch(
            f"SELECT * EXCLUDE (place) FROM {numbered} JOIN {places} USING (place) ORDER BY place",
            what=self.source.label,
        )
        columns = {name: shown[f"c{self.source.names.index(name)}"] for name in names}
        return {name: cast_back(column, self.source.type_of(name)) for name, column in columns.items()}

    def _count_values(self, names: Sequence[str]) -> tuple[dict[str, int], dict[str, int], int]:
        here = {name: f"c{self.source.names.index(name)}" for name in names}
        rows, present, distinct = self.rows([], names), {}, {}
        for name, column in here.items():
            tallied = f"(SELECT {column} AS value, count(*) AS n FROM {rows} GROUP BY 1) WHERE value IS NOT NULL"
            present[name], distinct[name] = self.session.row(f"SELECT coalesce(sum(n), 0), count(*) FROM {tallied}")
        alone = f"(SELECT 1 FROM {rows} GROUP BY {', '.join(here.values())} HAVING count(*) = 1)"
        return present, distinct, self.session.value(f"SELECT count(*) FROM {alone}")
