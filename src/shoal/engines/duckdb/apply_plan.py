"""Publishing: a plan carried out as joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.contracts.table import Published, Sheet
from shoal.core.grouping import Codes, packed_codes
from shoal.core.hierarchy import TOP
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Plan
from shoal.engines.common.apply_plan import QueriedApplication, ghost_texts, tokens
from shoal.engines.common.column_types import cast_back
from shoal.engines.common.dictionaries import one_chunk
from shoal.engines.common.hashing import row_hashes
from shoal.engines.duckdb.encoding import loadable, pack
from shoal.engines.duckdb.hashing import cell_hash
from shoal.engines.duckdb.plain import numbered_values
from shoal.engines.duckdb.published_table import DuckDBPublished, ExpressedColumn
from shoal.engines.duckdb.session import DatabaseSession, Stored, quoted
from shoal.engines.duckdb.table import DuckDBTable


@dataclass(eq=False)
class _DuckDBDraft:
    """A published table in the making: where its rows come from, and whether each is `repeated` `n` times; what is
    stored of them, what is looked up in which dictionary, and what their hashes are made of. `by_class` has the
    name, the values and the type of columns that follow from the class, `joined` the tables that must not be dropped
    before the rows are stored."""

    origin: str
    repeated: bool
    stored: dict[str, str] = field(default_factory=dict)
    joins: dict[str, tuple[Stored, str]] = field(default_factory=dict)
    columns: list[ExpressedColumn] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    by_class: dict[str, tuple[str, pa.Array, str | None]] = field(default_factory=dict)
    books: dict[str, pa.Array] = field(default_factory=dict)
    joined: list[Stored] = field(default_factory=list)

    def add(self, key: str, name: str, value: str, kind: str, source_type: pa.DataType | None = None) -> None:
        """A column that is stored as it is published."""
        self.stored[key] = value
        self.hashes.append(cell_hash(name, f"r.{key}", kind, source_type))
        self.columns.append(ExpressedColumn(name, key, source_type, f"r.{key}"))

    def add_coded(self, key: str, name: str, code: str, values: Stored, source_type: pa.DataType | None) -> None:
        """A column that is stored as numbers of its values, which a table has with their hashes."""
        self.stored[key] = code
        self.joins[key] = values, "code"
        self.hashes.append(f"{key}.hash")
        self.columns.append(ExpressedColumn(name, key, source_type, f"{key}.value"))


@dataclass(frozen=True, eq=False)
class DuckDBApplication(QueriedApplication[_DuckDBDraft]):
    """One release of a table.

    The rows of a published table are stored as numbers where they can be: that of the class, and the leaves of columns
    that are published as they are. Dictionaries say what the numbers are published as, and what they add to the hash
    of the row; they are joined whenever the published values are read.
    """

    table: DuckDBTable

    @property
    def _session(self) -> DatabaseSession:
        return self.table.source.session

    @cached_property
    def _owners(self) -> tuple[Stored, ...]:
        """The class of each tuple; of a plan by record, where the records of a tuple begin and the class of each."""
        plan, session = self._plan, self._session
        shown = np.flatnonzero(plan.owners >= 0)
        sizes = [self.table.tally.sizes[name] for name in self.schema.quasi]
        keys = {f"k{at}": key for at, key in enumerate(packed_codes(list(plan.keys), sizes))}
        if not plan.by_record:
            return (session.load(pa.table({"owner": plan.classes, **keys}).take(pa.array(shown))),)
        counts = self.table.group(self.schema.quasi, ()).sizes if plan.sizes is None else plan.sizes
        starts = session.load(pa.table({"start": np.cumsum(counts) - counts, **keys}))
        return starts, session.load(pa.table({"place": shown, "owner": plan.classes[shown]}))

    def _with_owners(self, rows: str, plan: Plan, keys: Sequence[str]) -> str:
        """Records `b`, each with its class `p.owner`; those that are withheld have none. The `keys` are their
        quasi-identifiers, packed."""
        matched = " AND ".join(f"{{}}.k{at} = {key}" for at, key in enumerate(keys))
        if not plan.by_record:
            (owners,) = self._owners
            return f"{rows} AS b JOIN {owners} AS p ON {matched.replace('{}', 'p')}"
        starts, owners = self._owners
        places = ", ".join(f"k{self.table.places[name]}" for name in self.schema.quasi)
        ranked = f"(SELECT *, row_number() OVER (PARTITION BY {places} ORDER BY hash) AS rank FROM {rows})"
        return (
            f"{ranked} AS b JOIN {starts} AS t ON {matched.replace('{}', 't')} "
            f"JOIN {owners} AS p ON p.place = t.start + b.rank - 1"
        )

    @cached_property
    def _changed_records(self) -> Stored:
        """What a perturbation changed, as `x0`, `x1` and so on, by the `place` of the record."""
        columns = {f"x{at}": loadable(values) for at, values in enumerate(self._changes.values())}
        return self._session.load(pa.table({"place": np.arange(self.table.records), **columns}))

    def _draft(self, contents: Mapping[str, str]) -> _DuckDBDraft:
        repeated = self._follows_from_codes(contents)
        return _DuckDBDraft(self._combinations(contents) if repeated else self._records(contents), repeated)

    def _combinations(self, contents: Mapping[str, str]) -> str:
        """The combinations of codes `b` that a table is made from, `n` records each, and their classes `p`."""
        tally = self.table.tally
        keys = tally.keys(self.schema.quasi)
        raw = [name for name, what in contents.items() if what == "raw"]
        selected = [f"{tally.code(name)} AS k{self.table.places[name]}" for name in raw]
        selected += [f"{key} AS q{at}" for at, key in enumerate(keys)]
        rows = f"(SELECT {', '.join((*selected, 'n'))} FROM {tally.table})"
        return self._with_owners(rows, self._plan, [f"b.q{at}" for at in range(len(keys))])

    def _records(self, contents: Mapping[str, str]) -> str:
        """The records `b` that a table is made from, and beside them their classes `p` or what was changed `h`."""
        table, plan, changed = self.table, self.recoding.plan, self.recoding.changed
        raw = [name for name, what in contents.items() if name in table.columns and what in ("raw", "changed")]
        # Whose a record is is encoded, and pseudonyms are made of what stands at the source.
        coded = set(table.columns) - set(self.schema.owners)
        plain = [name for name in contents if name in self.table.source.names and name not in coded]
        quasi = () if plan is None else self.schema.quasi
        ranked = bool(changed) or (plan is not None and plan.by_record)
        rows = table.rows([*quasi, *raw], plain, seed=self.seed if ranked else None)
        if plan is not None:
            codes = [f"b.k{table.places[name]}" for name in quasi]
            return self._with_owners(rows, plan, pack(codes, [table.tally.sizes[name] for name in quasi]))
        if not changed:
            return f"{rows} AS b"
        numbered = f"(SELECT *, row_number() OVER (ORDER BY hash) - 1 AS place FROM {rows})"
        return f"{numbered} AS b JOIN {self._changed_records} AS h USING (place)"

    def _add_cells(
        self, draft: _DuckDBDraft, key: str, name: str, values: pa.Array, cells: Codes, *, raw: bool
    ) -> None:
        draft.books[name] = values
        kind = self.table.source.kinds[name] if raw else None
        source_type = self.table.source.type_of(name) if raw else None
        self._add_by_class(draft, key, name, values.take(pa.array(cells)), kind, source_type)

    def _add_groups(self, draft: _DuckDBDraft, key: str, name: str) -> None:
        self._add_by_class(draft, key, name, pa.array(np.arange(self._plan.count, dtype=np.int32)))

    def _add_by_class(
        self,
        draft: _DuckDBDraft,
        key: str,
        name: str,
        values: pa.Array,
        kind: str | None = None,
        source_type: Any = None,
    ) -> None:
        """A column that follows from the class of a record."""
        draft.by_class[key] = name, values, kind
        draft.columns.append(ExpressedColumn(name, "owner", source_type, f"owner.{key}"))

    def _add_leaves(self, draft: _DuckDBDraft, key: str, name: str) -> None:
        raw = self._leaf_values(name)
        codes = np.arange(len(raw), dtype=np.int32)
        leaves = pa.table({"code": codes, "value": loadable(raw), "hash": row_hashes([(name, raw)])})
        cast = f"code, CAST(value AS {self.table.source.kinds[name]}) AS value, hash"
        values = self._session.load(leaves, cast)
        draft.add_coded(key, name, f"b.k{self.table.places[name]}", values, self.table.source.type_of(name))

    def _add_plain(self, draft: _DuckDBDraft, key: str, name: str) -> None:
        source, value = self.table.source, f"b.c{self.table.source.names.index(name)}"
        if name not in self.table.repeating:
            draft.add(key, name, value, source.kinds[name], source.type_of(name))
            return
        values = numbered_values(source, name)
        draft.origin += f" JOIN {values} AS d{key} ON d{key}.value IS NOT DISTINCT FROM {value}"
        draft.add_coded(key, name, f"d{key}.code", values, source.type_of(name))

    def _add_changes(self, draft: _DuckDBDraft, key: str, name: str) -> None:
        value, source = f"h.x{list(self._changes).index(name)}", self.table.source
        if self._changes[name].type == pa.float64():
            draft.add(key, name, value, "DOUBLE")
        else:
            draft.add(key, name, f"CAST({value} AS {source.kinds[name]})", source.kinds[name], source.type_of(name))

    def _add_pseudonyms(self, draft: _DuckDBDraft, key: str, name: str, pseudonyms: Pseudonyms) -> None:
        drawn, value = self._tokens(name, pseudonyms), f"b.c{self.table.source.names.index(name)}"
        draft.origin += f" JOIN {drawn} AS t{key} ON t{key}.value IS NOT DISTINCT FROM {value}"
        draft.joined.append(drawn)
        draft.add(key, name, f"t{key}.token", "VARCHAR")

    def _add_ghost(self, draft: _DuckDBDraft, key: str, name: str, hidden: NDArray[np.bool_]) -> None:
        owners = pa.table({"owner": np.arange(len(hidden), dtype=np.int32), "hidden": hidden})
        texts, flags = self._ghost_texts(name), self._session.load(owners)
        value = f"b.c{self.table.source.names.index(name)}"
        draft.origin += (
            f" JOIN {texts} AS t{key} ON t{key}.value IS NOT DISTINCT FROM {value}"
            f" JOIN {flags} AS f{key} ON f{key}.owner = p.owner"
        )
        draft.joined += [texts, flags]
        draft.add(key, name, f"CASE WHEN f{key}.hidden THEN '{TOP}' ELSE t{key}.text END", "VARCHAR")

    def _ghost_texts(self, name: str) -> Stored:
        """What each value of a column is published as; the distinct ones pass through Python, batch by batch."""
        session, source = self._session, self.table.source
        numbered = session.create(
            f"SELECT value, row_number() OVER () - 1 AS id "
            f"FROM (SELECT DISTINCT s.{quoted(name)} AS value FROM {source.relation})",
            what=source.label,
        )
        spelled = session.load(pa.table({"id": pa.array([], pa.int64()), "text": pa.array([], pa.string())}))
        for batch in session.batches(f"SELECT id, value FROM {numbered}"):
            values = one_chunk(cast_back(pa.chunked_array([batch.column(1)]), source.type_of(name)))
            session.append(spelled, pa.table({"id": batch.column(0), "text": ghost_texts(name, values, source.opened)}))
        return session.create(f"SELECT n.value, s.text FROM {numbered} AS n JOIN {spelled} AS s USING (id)")

    def _tokens(self, name: str, pseudonyms: Pseudonyms) -> Stored:
        """The pseudonym of each identifier; what the distinct ones say passes through Python, batch by batch."""
        session, identifiers = self._session, self.table.identifiers(name)
        numbered = session.create(
            f"SELECT said, row_number() OVER () - 1 AS id FROM (SELECT DISTINCT said FROM {identifiers})",
            what=self.table.source.label,
        )
        drawn = session.load(pa.table({"id": pa.array([], pa.int64()), "token": pa.array([], pa.string())}))
        for batch in session.batches(f"SELECT id, said FROM {numbered}"):
            texts = tokens(name, batch.column(1), pseudonyms)
            session.append(drawn, pa.table({"id": batch.column(0), "token": texts}))
        return session.create(
            f"SELECT s.value, d.token FROM {identifiers} AS s "
            f"JOIN {numbered} AS n ON n.said IS NOT DISTINCT FROM s.said JOIN {drawn} AS d USING (id)"
        )

    def _finish(self, draft: _DuckDBDraft, sheet: Sheet) -> Published:
        session, counterfeits = self._session, self._counterfeits(sheet)
        if self.recoding.plan is not None:
            draft.stored["owner"] = "p.owner"
            draft.joins["owner"] = self._dictionary(draft), "owner"
            draft.hashes.append("owner.hash")
        stored = dict(draft.stored) | ({"n": "b.n"} if draft.repeated else {})
        query = f"SELECT {', '.join(f'{value} AS {key}' for key, value in stored.items())} FROM {draft.origin}"
        if counterfeits is not None:  # a row for each, with the class and the one column beside it
            below = {key: counterfeits.groups if key == "owner" else counterfeits.leaves for key in draft.stored}
            loaded = session.load(pa.table(below))
            query += f" UNION ALL SELECT {', '.join((*below, *(['1'] if draft.repeated else [])))} FROM {loaded}"
        if draft.repeated:
            query = f"SELECT {', '.join((*draft.stored, 'CAST(sum(n) AS BIGINT) AS n'))} FROM ({query}) GROUP BY ALL"
        rows = session.create(query, what=self.table.source.label)
        published = DuckDBPublished(
            session,
            str(rows),
            tuple(draft.columns),
            self.table.source.opened,
            draft.books,
            notations=self.schema.notations,
            hashes=tuple(draft.hashes),
            joins=draft.joins,
            needed=rows,
            repeated=draft.repeated,
        )
        return self._check(published, sheet)

    def _dictionary(self, draft: _DuckDBDraft) -> Stored:
        """What each class that has a published record is published as."""
        plan = self._plan
        named = [(name, array) for name, array, _ in draft.by_class.values()]
        hashes = row_hashes(named) if named else np.zeros(plan.count, np.uint64)
        arrays = {key: loadable(array) for key, (_, array, _) in draft.by_class.items()}
        dictionary = pa.table({"owner": np.arange(plan.count, dtype=np.int32), **arrays, "hash": hashes})
        cast = [f"CAST({key} AS {kind}) AS {key}" if kind else key for key, (*_, kind) in draft.by_class.items()]
        shown = dictionary.take(pa.array(np.flatnonzero(plan.published)))
        return self._session.load(shown, ", ".join(("owner", *cast, "hash")))

    def _published_by_tuple(self) -> int:
        tally = self.table.tally
        matched = (f"p.k{at} = {key}" for at, key in enumerate(tally.keys(self.schema.quasi)))
        joined = f"{tally.table} AS t JOIN {self._owners[0]} AS p ON {' AND '.join(matched)}"
        return int(self._session.value(f"SELECT coalesce(sum(t.n), 0) FROM {joined}"))
