"""Publishing: a plan carried out as joins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.contracts import Sheet
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.recoding import Plan, Recoding
from shoal.core.schema import Schema
from shoal.engines.duckdb.encoding import as_came
from shoal.engines.duckdb.hashing import cell_hash
from shoal.engines.duckdb.published import DuckDBPublished, PublishedColumn
from shoal.engines.duckdb.session import Session, Stored, quoted
from shoal.engines.duckdb.table import DuckDBTable
from shoal.engines.embedded.encoding import dictionary
from shoal.engines.embedded.hashing import row_hashes
from shoal.engines.embedded.table import changed_values, published_values, tokens
from shoal.errors import InputError


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
    def _session(self) -> Session:
        return self.table.source.session

    @cached_property
    def _owners(self) -> tuple[Stored, ...]:
        """The class of each tuple; of a plan by record, where the records of a tuple begin and the class of each."""
        plan = self.recoding.plan
        assert plan is not None
        session, kept = self._session, np.flatnonzero(~plan.withheld & (plan.classes >= 0))
        keys = {f"k{at}": codes for at, codes in enumerate(plan.keys)}
        if not plan.by_record:
            return (session.load(pa.table({"owner": plan.classes, **keys}).take(pa.array(kept))),)
        sizes = self.table.group(self.schema.quasi, ()).sizes
        starts = session.load(pa.table({"start": np.cumsum(sizes) - sizes, **keys}))
        return starts, session.load(pa.table({"place": kept, "owner": plan.classes[kept]}))

    def _owned(self, rows: str, plan: Plan) -> str:
        """Records `b`, each with its class `p.owner`; those that are withheld have none."""
        places = [f"k{self.table.places[name]}" for name in self.schema.quasi]
        matched = " AND ".join(f"{{}}.k{at} = b.{place}" for at, place in enumerate(places))
        if not plan.by_record:
            (owners,) = self._owners
            return f"{rows} AS b JOIN {owners} AS p ON {matched.replace('{}', 'p')}"
        starts, owners = self._owners
        ranked = f"(SELECT *, row_number() OVER (PARTITION BY {', '.join(places)} ORDER BY hash) AS rank FROM {rows})"
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
        kinds = {name: "DOUBLE" if pa.types.is_floating(array.type) else "BIGINT" for name, array in values.items()}
        columns = {f"x{at}": array for at, array in enumerate(values.values())}
        return self._session.load(pa.table({"place": np.arange(self.table.records), **columns})), kinds

    def sheet(self, sheet: Sheet) -> DuckDBPublished:
        """One published table."""
        made = self._rows({column.name: column.what for column in sheet.columns if column.what != "count"})
        return made if sheet.counted is None else made.counted(sheet.counted)

    def _rows(self, shown: dict[str, Any]) -> DuckDBPublished:
        """A published table of a row a record."""
        table, plan, changed = self.table, self.recoding.plan, self.recoding.changed
        source, session = table.source, self._session
        raw = [name for name in shown if name in table.columns and shown[name] in ("raw", "changed")]
        plain = [name for name in shown if name in source.names and name not in table.columns]
        ranked = bool(changed) or (plan is not None and plan.by_record)
        quasi = () if plan is None else self.schema.quasi
        rows = table.rows([*quasi, *raw], plain, seed=self.seed if ranked else None)
        stored: dict[str, str] = {}
        joins: dict[str, tuple[Stored, str]] = {}
        columns: list[PublishedColumn] = []
        hashes: list[str] = []
        by_class: dict[str, tuple[str, pa.Array]] = {}
        books: dict[str, pa.Array] = {}
        kinds: dict[str, str] = {}
        drawn: dict[str, Stored] = {}
        if plan is not None:
            origin = self._owned(rows, plan)
        elif changed:
            origin = (
                f"(SELECT *, row_number() OVER (ORDER BY hash) - 1 AS place FROM {rows}) AS b "
                f"JOIN {self._changed[0]} AS h USING (place)"
            )
        else:
            origin = f"{rows} AS b"
        for at, (name, what) in enumerate(shown.items()):
            here, came = f"x{at}", source.came(name) if name in source.names else None
            if what == "cell" or what == "group":
                assert plan is not None
                if what == "cell":
                    place = self.schema.quasi.index(name)
                    book = plan.codebooks[place]
                    books[name] = published_values(book, table.columns[name].raw)
                    by_class[here] = name, books[name].take(pa.array(plan.cells[place]))
                    came = came if book.raw else None
                    if book.raw:
                        kinds[here] = source.kinds[name]
                else:
                    by_class[here] = name, pa.array(np.arange(plan.count, dtype=np.int32))
                columns.append(PublishedColumn(name, "owner", f"owner.{here}", came))
                continue
            if name in changed:
                kind = self._changed[1][name]
                stored[here] = f"h.x{list(changed).index(name)}"
                came = came if kind == "BIGINT" else None
            elif name in raw:
                held = table.columns[name]
                leaves = pa.table(
                    {"code": np.arange(len(held.raw), dtype=np.int32), "value": held.raw,
                     "hash": row_hashes([(name, held.raw)])}
                )  # fmt: skip
                cast = f"code, CAST(value AS {source.kinds[name]}) AS value, hash"
                stored[here], joins[here] = f"b.k{table.places[name]}", (session.load(leaves, cast), "code")
                columns.append(PublishedColumn(name, here, f"{here}.value", came))
                hashes.append(f"{here}.hash")
                continue
            elif what == "pseudonym":
                kind, came, drawn[here] = "VARCHAR", None, self._tokens(name)
                origin += (
                    f" JOIN {drawn[here]} AS t{here} "
                    f"ON t{here}.value IS NOT DISTINCT FROM b.c{source.names.index(name)}"
                )
                stored[here] = f"t{here}.token"
            else:
                kind = source.kinds[name]
                stored[here] = f"b.c{source.names.index(name)}"
            columns.append(PublishedColumn(name, here, f"r.{here}", came))
            hashes.append(cell_hash(name, f"r.{here}", kind))
        if plan is not None:
            stored["owner"] = "p.owner"
            joins["owner"] = self._dictionary(plan, by_class, kinds), "owner"
            hashes.append("owner.hash")
        selected = ", ".join(f"{value} AS {here}" for here, value in stored.items())
        made = session.create(f"SELECT {selected} FROM {origin}", what=source.label)
        published = DuckDBPublished(
            session, str(made), tuple(columns), tuple(hashes), joins, held=(made,), opened=source.opened, books=books
        )
        if published.records != self._expected:
            raise InputError(f"{source.label}: the table changed while it was being read; read it again")
        return published

    @cached_property
    def _expected(self) -> int:
        """How many records the release has."""
        plan = self.recoding.plan
        if plan is None:
            return self.table.records
        kept = ~plan.withheld & (plan.classes >= 0)
        return int(kept.sum() if plan.by_record else self.table.group(self.schema.quasi, ()).sizes[kept].sum())

    def _dictionary(self, plan: Plan, by_class: dict[str, tuple[str, pa.Array]], kinds: dict[str, str]) -> Stored:
        """What each class that has a published record is published as."""
        arrays = {here: array for here, (_, array) in by_class.items()}
        hashes = row_hashes(by_class.values()) if by_class else np.zeros(plan.count, np.uint64)
        dictionary = pa.table({"owner": np.arange(plan.count, dtype=np.int32), **arrays, "hash": hashes})
        cast = [f"CAST({here} AS {kinds[here]}) AS {here}" if here in kinds else here for here in arrays]
        shown = dictionary.take(pa.array(np.flatnonzero(plan.published)))
        return self._session.load(shown, ", ".join(("owner", *cast, "hash")))

    def _tokens(self, name: str) -> Stored:
        """The pseudonym of each identifier; the distinct ones pass through Python, batch by batch."""
        assert self.pseudonyms is not None
        source, session = self.table.source, self._session
        numbered = session.create(
            f"SELECT value, row_number() OVER () - 1 AS id FROM (SELECT DISTINCT s.{quoted(name)} AS value "
            f"FROM {source.relation})",
            what=source.label,
        )
        empty = pa.table({"id": pa.array([], pa.int64()), "token": pa.array([], pa.string())})
        drawn = session.load(empty)
        for batch in session.batches(f"SELECT id, value FROM {numbered}"):
            values = dictionary(name, as_came(pa.chunked_array([batch.column(1)]), source.came(name)))
            made = pa.DictionaryArray.from_arrays(values.indices, tokens(name, values.dictionary, self.pseudonyms))
            session.append(drawn, pa.table({"id": batch.column(0), "token": made.dictionary_decode()}))
        return session.create(f"SELECT value, token FROM {numbered} JOIN {drawn} USING (id)")
