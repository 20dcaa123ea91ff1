"""Publishing: a plan carried out as joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.contracts.table import Sheet
from shoal.core.grouping import packed_codes
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Counterfeits, Plan, Recoding
from shoal.core.schema import Schema
from shoal.engines.common.hashing import row_hashes
from shoal.engines.common.table import changed_values, published_values, tokens, with_labels
from shoal.engines.duckdb.encoding import loadable, packed
from shoal.engines.duckdb.hashing import cell_hash
from shoal.engines.duckdb.plain import numbered, repeating
from shoal.engines.duckdb.published_table import DuckDBPublished, PublishedColumn
from shoal.engines.duckdb.session import Session, Stored
from shoal.engines.duckdb.source import Source, changed
from shoal.engines.duckdb.table import DuckDBTable


@dataclass(eq=False)
class _Draft:
    """A published table in the making: where its rows come from, and whether each is `repeated` `n` times; what is
    stored of them, what is looked up in which dictionary, and what their hashes are made of. `by_class` has the
    name, the values and the type of columns that follow from the class."""

    origin: str
    repeated: bool
    stored: dict[str, str] = field(default_factory=dict)
    joins: dict[str, tuple[Stored, str]] = field(default_factory=dict)
    columns: list[PublishedColumn] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    by_class: dict[str, tuple[str, pa.Array, str | None]] = field(default_factory=dict)
    books: dict[str, pa.Array] = field(default_factory=dict)
    held: list[Stored] = field(default_factory=list)

    def add(self, here: str, name: str, value: str, kind: str, came: pa.DataType | None = None) -> None:
        """A column that is stored as it is published."""
        self.stored[here] = value
        self.hashes.append(cell_hash(name, f"r.{here}", kind, came))
        self.columns.append(PublishedColumn(name, here, f"r.{here}", came))


@dataclass(frozen=True, eq=False)
class Publishing:
    """One release of a table.

    The rows of a published table are stored as numbers where they can be: that of the class, and the leaves of columns
    that are published as they are. Dictionaries say what the numbers are published as, and what they add to the hash
    of the row; they are joined whenever the published values are read.
    """

    table: DuckDBTable
    schema: Schema
    recoding: Recoding
    seed: int
    pseudonyms: Pseudonyms | None

    @property
    def _source(self) -> Source:
        return self.table.source

    @property
    def _session(self) -> Session:
        return self.table.source.session

    @property
    def _plan(self) -> Plan:
        plan = self.recoding.plan
        assert plan is not None
        return plan

    @cached_property
    def _owners(self) -> tuple[Stored, ...]:
        """The class of each tuple; of a plan by record, where the records of a tuple begin and the class of each."""
        plan, session = self._plan, self._session
        kept = np.flatnonzero(~plan.withheld & (plan.classes >= 0))
        sizes = [self.table.tally.sizes[name] for name in self.schema.quasi]
        keys = {f"k{at}": key for at, key in enumerate(packed_codes(list(plan.keys), sizes))}
        if not plan.by_record:
            return (session.load(pa.table({"owner": plan.classes, **keys}).take(pa.array(kept))),)
        sizes_of = self.table.group(self.schema.quasi, ()).sizes if plan.sizes is None else plan.sizes
        starts = session.load(pa.table({"start": np.cumsum(sizes_of) - sizes_of, **keys}))
        return starts, session.load(pa.table({"place": kept, "owner": plan.classes[kept]}))

    def _owned(self, rows: str, plan: Plan, keys: Sequence[str]) -> str:
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
    def _changed(self) -> tuple[Stored, dict[str, str]]:
        """What a perturbation changed, by the place of the record in the order of the keyed hashes."""
        values = {
            name: changed_values(changed, self.table.columns[name].raw.type)
            for name, changed in self.recoding.changed.items()
        }
        named = {pa.float64(): "DOUBLE", pa.string(): "VARCHAR"}
        kinds = {name: named.get(array.type, "BIGINT") for name, array in values.items()}
        columns = {f"x{at}": array for at, array in enumerate(values.values())}
        return self._session.load(pa.table({"place": np.arange(self.table.records), **columns})), kinds

    def sheet(self, sheet: Sheet) -> DuckDBPublished:
        """One published table."""
        shown = {column.name: column.what for column in sheet.columns if column.what != "count"}
        repeated = self._tells_all(shown)
        draft = _Draft(self._counted(shown) if repeated else self._origin(shown), repeated)
        for at, (name, what) in enumerate(shown.items()):
            here = f"x{at}"
            if what == "cell":
                self._add_cell(draft, here, name)
            elif what == "group":
                self._add_by_class(draft, here, name, np.arange(self._plan.count, dtype=np.int32))
            elif what == "pseudonym":
                self._add_pseudonym(draft, here, name)
            elif name in self.recoding.changed:
                self._add_changed(draft, here, name)
            elif name in self.table.columns:
                self._add_leaves(draft, here, name)
            elif name in self._repeating:
                self._add_repeating(draft, here, name)
            else:
                kind, came = self._source.kinds[name], self._source.came(name)
                draft.add(here, name, f"b.c{self._source.names.index(name)}", kind, came)
        fakes = self.recoding.counterfeits if sheet.count_name is not None else None
        made = self._made(draft, fakes)
        return made if sheet.count_name is None else made.counted(sheet.count_name)

    def _tells_all(self, shown: Mapping[str, str]) -> bool:
        """Whether the tally of the table says all that is published, so that nobody looks at the records again."""
        plan, held = self.recoding.plan, self.table.columns
        told = all(
            what in ("cell", "group") or (what == "raw" and name in held and name != self.schema.person)
            for name, what in shown.items()
        )
        return told and not self.recoding.changed and (plan is None or not plan.by_record)

    def _counted(self, shown: Mapping[str, str]) -> str:
        """The combinations of codes `b` that a table is made from, `n` records each, and their classes `p`."""
        tally, plan = self.table.tally, self.recoding.plan
        raw = [name for name, what in shown.items() if what == "raw"]
        keys = [] if plan is None else tally.keys(self.schema.quasi)
        selected = [f"{tally.code(name)} AS k{self.table.places[name]}" for name in raw]
        selected += [f"{key} AS q{at}" for at, key in enumerate(keys)]
        rows = f"(SELECT {', '.join((*selected, 'n'))} FROM {tally.table})"
        if plan is None:
            return f"{rows} AS b"
        return self._owned(rows, plan, [f"b.q{at}" for at in range(len(keys))])

    def _origin(self, shown: Mapping[str, str]) -> str:
        """The records `b` that a table is made from, and beside them their classes `p` or what was changed `h`."""
        table, plan, changed = self.table, self.recoding.plan, self.recoding.changed
        raw = [name for name, what in shown.items() if name in table.columns and what in ("raw", "changed")]
        # Whose a record is is encoded, and pseudonyms are made of what stands at the source.
        held = [name for name in table.columns if name != self.schema.person]
        plain = [name for name in shown if name in self._source.names and name not in held]
        quasi = () if plan is None else self.schema.quasi
        ranked = bool(changed) or (plan is not None and plan.by_record)
        rows = table.rows([*quasi, *raw], plain, seed=self.seed if ranked else None)
        if plan is not None:
            codes = [f"b.k{table.places[name]}" for name in quasi]
            return self._owned(rows, plan, packed(codes, [table.tally.sizes[name] for name in quasi]))
        if not changed:
            return f"{rows} AS b"
        placed = f"(SELECT *, row_number() OVER (ORDER BY hash) - 1 AS place FROM {rows})"
        return f"{placed} AS b JOIN {self._changed[0]} AS h USING (place)"

    def _add_cell(self, draft: _Draft, here: str, name: str) -> None:
        """What a quasi-identifier is published as."""
        place = self.schema.quasi.index(name)
        book, cells = self._plan.codebooks[place], self._plan.cells[place]
        draft.books[name] = published_values(book, self.table.columns[name].raw)
        kind = self._source.kinds[name] if book.raw else None
        came = self._source.came(name) if book.raw else None
        self._add_by_class(draft, here, name, draft.books[name].take(pa.array(cells)), kind, came)

    def _add_by_class(
        self, draft: _Draft, here: str, name: str, values: Any, kind: str | None = None, came: Any = None
    ) -> None:
        """A column that follows from the class of a record."""
        draft.by_class[here] = name, pa.array(values), kind
        draft.columns.append(PublishedColumn(name, "owner", f"owner.{here}", came))

    def _add_leaves(self, draft: _Draft, here: str, name: str) -> None:
        """A column with a role that is published as it is: one spelling of each value."""
        held, fakes = self.table.columns[name], self.recoding.counterfeits
        if fakes is None or name not in self.schema.sensitive:
            raw = held.raw
        else:
            raw = with_labels(held.raw, held.hierarchy, fakes.leaves)
        codes = np.arange(len(raw), dtype=np.int32)
        leaves = pa.table({"code": codes, "value": loadable(raw), "hash": row_hashes([(name, raw)])})
        cast = f"code, CAST(value AS {self._source.kinds[name]}) AS value, hash"
        draft.joins[here] = self._session.load(leaves, cast), "code"
        draft.stored[here] = f"b.k{self.table.places[name]}"
        draft.hashes.append(f"{here}.hash")
        draft.columns.append(PublishedColumn(name, here, f"{here}.value", self._source.came(name)))

    @cached_property
    def _repeating(self) -> frozenset[str]:
        """The plain columns that are stored as numbers of their values."""
        return repeating(self._source, [name for name in self._source.names if name not in self.table.columns])

    def _add_repeating(self, draft: _Draft, here: str, name: str) -> None:
        """A plain column by numbers of its values."""
        source = self._source
        listed = numbered(source, name)
        draft.origin += f" JOIN {listed} AS d{here} ON d{here}.value IS NOT DISTINCT FROM b.c{source.names.index(name)}"
        draft.joins[here] = listed, "code"
        draft.stored[here] = f"d{here}.code"
        draft.hashes.append(f"{here}.hash")
        draft.columns.append(PublishedColumn(name, here, f"{here}.value", source.came(name)))

    def _add_changed(self, draft: _Draft, here: str, name: str) -> None:
        """What a perturbation made of a column."""
        kind = self._changed[1][name]
        came = None if kind == "DOUBLE" else self._source.came(name)
        draft.add(here, name, f"h.x{list(self.recoding.changed).index(name)}", kind, came)

    def _add_pseudonym(self, draft: _Draft, here: str, name: str) -> None:
        """What stands in the place of an identifier."""
        tokens = self._tokens(name)
        draft.held.append(tokens)
        place = self._source.names.index(name)
        draft.origin += f" JOIN {tokens} AS t{here} ON t{here}.value IS NOT DISTINCT FROM b.c{place}"
        draft.add(here, name, f"t{here}.token", "VARCHAR")

    def _made(self, draft: _Draft, fakes: Counterfeits | None = None) -> DuckDBPublished:
        """The table, when as many records are in it as there should be."""
        source, session = self._source, self._session
        if self.recoding.plan is not None:
            draft.stored["owner"] = "p.owner"
            draft.joins["owner"] = self._dictionary(draft), "owner"
            draft.hashes.append("owner.hash")
        stored = dict(draft.stored) | ({"n": "b.n"} if draft.repeated else {})
        query = f"SELECT {', '.join(f'{value} AS {here}' for here, value in stored.items())} FROM {draft.origin}"
        if fakes is not None:  # a row for each, with the class and the one column beside it
            below = {here: fakes.groups if here == "owner" else fakes.leaves for here in draft.stored}
            loaded = session.load(pa.table(below))
            query += f" UNION ALL SELECT {', '.join((*below, *(['1'] if draft.repeated else [])))} FROM {loaded}"
        if draft.repeated:
            query = f"SELECT {', '.join((*draft.stored, 'CAST(sum(n) AS BIGINT) AS n'))} FROM ({query}) GROUP BY ALL"
        made = session.create(query, what=source.label)
        published = DuckDBPublished(
            session, str(made), tuple(draft.columns), tuple(draft.hashes), draft.joins, held=(made,),
            opened=source.opened, books=draft.books, repeated=draft.repeated, kinds=self.schema.kinds,
        )  # fmt: skip
        if published.records != self._expected + (0 if fakes is None else len(fakes)):
            raise changed(source.label)
        return published

    @cached_property
    def _expected(self) -> int:
        """How many records the release has."""
        plan = self.recoding.plan
        if plan is None:
            return self.table.records
        if plan.by_record:
            return int((~plan.withheld & (plan.classes >= 0)).sum())
        tally = self.table.tally
        matched = (f"p.k{at} = {key}" for at, key in enumerate(tally.keys(self.schema.quasi)))
        joined = f"{tally.table} AS t JOIN {self._owners[0]} AS p ON {' AND '.join(matched)}"
        return int(self._session.value(f"SELECT coalesce(sum(t.n), 0) FROM {joined}"))

    def _dictionary(self, draft: _Draft) -> Stored:
        """What each class that has a published record is published as."""
        plan = self._plan
        named = [(name, array) for name, array, _ in draft.by_class.values()]
        hashes = row_hashes(named) if named else np.zeros(plan.count, np.uint64)
        arrays = {here: loadable(array) for here, (_, array, _) in draft.by_class.items()}
        dictionary = pa.table({"owner": np.arange(plan.count, dtype=np.int32), **arrays, "hash": hashes})
        cast = [f"CAST({here} AS {kind}) AS {here}" if kind else here for here, (*_, kind) in draft.by_class.items()]
        shown = dictionary.take(pa.array(np.flatnonzero(plan.published)))
        return self._session.load(shown, ", ".join(("owner", *cast, "hash")))

    def _tokens(self, name: str) -> Stored:
        """The pseudonym of each identifier; what the distinct ones say passes through Python, batch by batch."""
        assert self.pseudonyms is not None
        session, said = self._session, self.table.said(name)
        numbered = session.create(
            f"SELECT said, row_number() OVER () - 1 AS id FROM (SELECT DISTINCT said FROM {said})",
            what=self._source.label,
        )
        empty = pa.table({"id": pa.array([], pa.int64()), "token": pa.array([], pa.string())})
        drawn = session.load(empty)
        for batch in session.batches(f"SELECT id, said FROM {numbered}"):
            made = tokens(name, batch.column(1), self.pseudonyms)
            session.append(drawn, pa.table({"id": batch.column(0), "token": made}))
        return session.create(
            f"SELECT s.value, d.token FROM {said} AS s JOIN {numbered} AS n ON n.said IS NOT DISTINCT FROM s.said "
            f"JOIN {drawn} AS d USING (id)"
        )
