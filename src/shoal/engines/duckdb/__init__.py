"""The DuckDB engine: queries where the data live, within a memory limit, spilling to disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from shoal.core.contracts.engine import Engine
from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.core.run import Run
from shoal.core.schema import ENCODED, Kind, Missing, Schema, refused, with_roles
from shoal.core.survey import Overview
from shoal.engines.common.encoding import MISSING, Encoded, bind, encode
from shoal.engines.common.published_table import format_of
from shoal.engines.duckdb.databases import check_spot, storing
from shoal.engines.duckdb.encoding import Distinct, Tally, distinct, joined, translation
from shoal.engines.duckdb.identity import respelled
from shoal.engines.duckdb.profiling import looked_at
from shoal.engines.duckdb.published_table import DuckDBPublished, open_published
from shoal.engines.duckdb.reading_checkpoint import NOWHERE, Kept, keep
from shoal.engines.duckdb.session import Session, quoted
from shoal.engines.duckdb.source import Source, changed, open_source
from shoal.engines.duckdb.table import CodedColumn, DuckDBTable
from shoal.errors import InputError, ParameterError
from shoal.storage.checkpoint import Checkpoint
from shoal.storage.files import replacing_all

COUNTED = 0.4
"""The share of reading that is done once the values of all columns are counted; the rest is counting the rows."""

_SIZE = re.compile(r"\d+(\.\d+)? ?([KMGT]i?B)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class DuckDB(Engine):
    """DuckDB does the work on rows; the table itself does not enter Python, only its distinct values, its classes and
    what is made of them do. Four exceptions: algorithms that look at single records get the encoded columns,
    pseudonyms are made from the distinct identifiers, batch by batch, where a person column is named, people come as
    numbers, with the classes that they are in, and detection and dependencies get the distinct rows as small numbers.

    Reads a table of a database (`file.duckdb::table`, `file.sqlite::table`, `postgres://user@host/base::table`) and
    whatever the embedded engine reads; Parquet and tables of DuckDB are queried where they lie. A release can go to
    such a table, too, in one transaction: it is there and verified, or nothing changed.

    What does not fit into the memory limit is spilled, not encrypted, into a private folder inside `temporary` and
    removed at the end.

    Does not protect against: whoever can read the temporary folder as the same user, while the work is done.

    Reference: M. Raasveldt and H. Mühleisen, DuckDB: an embeddable analytical database, SIGMOD 2019.

    Example:
        >>> import polars, shoal
        >>> table = polars.DataFrame({"age": [21, 22, 21, 22]})
        >>> data = shoal.read(table, quasi=["age"], engine="duckdb:memory_limit=1GB,threads=2")
        >>> shoal.diagnose(data)["k"].value
        2
    """

    memory_limit: Annotated[
        str | None, Doc("how much memory DuckDB may take, such as 8GB; by default four fifths of what there is")
    ] = None
    threads: Annotated[int | None, Ge(1), Doc("how many threads DuckDB uses; by default one for each core")] = None
    temporary: Annotated[
        Path | None, Doc("the folder for what does not fit into memory; by default the system's temporary folder")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory_limit is not None and not _SIZE.fullmatch(self.memory_limit):
            raise ParameterError("DuckDB: memory_limit: a size is a number with a unit, such as 8GB or 500MB")

    @cached_property
    def session(self) -> Session:
        """The database in which everything of this engine is done, so that the limits hold for all of it together."""
        given = {"memory_limit": self.memory_limit, "threads": self.threads}
        settings = {name: value for name, value in given.items() if value is not None}
        return Session(settings, None if self.temporary is None else str(self.temporary))

    def open(self, source: Any, opening: Opening = AS_IT_IS) -> Source:
        return replace(open_source(self.session, source, opening), neutralize=opening.neutralize)

    def read(
        self,
        source: Source,  # type: ignore[override]
        description: Description,
        *,
        run: Run | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> tuple[DuckDBTable, Schema]:
        """The table and its schema: the distinct rows of the columns with a role are counted and encoded now."""
        wanted = description if source.opened is None else source.opened.described(description)
        named = with_roles(source.names, wanted.roles)
        session, origin = source.session, source.relation
        before = Kept.found(checkpoint, source, named)
        watch = run or Run()
        found = _distinct(source, named, origin, watch) if before is None else before.distinct
        if not int(next(iter(found.values())).counts.sum()):
            raise InputError("the table has no record")
        encoded = {
            name: encode(name, each.values, wanted.kinds.get(name), source.missing, wanted.formats.get(name))
            for name, each in found.items()
        }
        dropping = _dropping(found, encoded, wanted)
        kept = _kept(source, dropping, found, encoded) if before is None else before.counts
        columns, held, leaf = {}, {}, {}
        for name, each in encoded.items():
            counts = kept[name]
            there = counts > 0
            leaves, hierarchy, raw = bind(
                Encoded(each.codes[there], each.values, each.raw), wanted.hierarchy(each.values), counts[there]
            )
            leaf[name] = np.full(len(there), NOWHERE, np.int32)
            leaf[name][there] = leaves
            codes = translation(session, found[name], leaf[name], there)
            held[name] = CodedColumn(hierarchy, raw, codes, respelled(session, found[name], each))
            columns[name] = wanted.column(each.values, hierarchy)
        # Quasi-identifiers first, in their order, then sensitive ones: as classes are asked for.
        ordered = [name for role in ENCODED for name, its in wanted.roles.items() if its is role and name in held]
        if before is not None:
            tally = before.tally(session, {name: held[name].hierarchy.size for name in ordered}, leaf)
        else:
            coded = {name: (f"s.{quoted(name)}", held[name].codes, held[name].hierarchy.size) for name in ordered}
            with session.stopped_by(watch, "reading", (COUNTED, 1.0)):
                tally = Tally.of(session, origin, coded, what=source.label)
        if tally.records != int(next(iter(kept.values())).sum()):
            raise changed(source.label)
        if checkpoint is not None and before is None:
            keep(checkpoint, found, kept, leaf, tally)
        table = DuckDBTable(source, held, tally, frozenset(dropping))
        return table, wanted.schema(source.names, columns)

    def profile(self, source: Source) -> Overview:  # type: ignore[override]
        return looked_at(source)

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        return self.session.stopped_by(run, doing, several=True)

    def open_published(self, path: Path, kinds: Mapping[str, Kind] | None = None) -> DuckDBPublished:
        return open_published(self.session, path, kinds)

    def check_format(self, path: Path) -> None:
        if self.in_database(path):
            check_spot(self.session, str(path))
        else:
            format_of(path)

    def in_database(self, path: Path) -> bool:
        return "::" in path.name

    @contextmanager
    def staging(self, *paths: Path) -> Iterator[tuple[Path, ...]]:
        files = [path for path in paths if not self.in_database(path)]
        with replacing_all(*files) as places, ExitStack() as stack:
            beside = dict(zip(files, places, strict=True))
            for path in paths:
                if self.in_database(path):
                    stack.enter_context(storing(self.session, str(path)))
            yield tuple(beside.get(path, path) for path in paths)

    def digest(self, path: Path) -> str:
        return self.open_published(path).digest() if self.in_database(path) else super().digest(path)

    def exists(self, path: Path) -> bool:
        return self.in_database(path) or super().exists(path)


def _dropping(found: Mapping[str, Distinct], encoded: Mapping[str, Encoded], wanted: Description) -> list[str]:
    """The columns whose missing values leave records out; a rule that refuses missing values is kept."""
    lacking = [name for name, column in encoded.items() if column.has_missing]
    for name in lacking:
        if wanted.rule(name) is Missing.REFUSE:
            counts = found[name].counts
            absent = int(counts[encoded[name].codes == MISSING].sum())
            raise refused(name, wanted.roles[name], absent, int(counts.sum()))
    return [name for name in lacking if wanted.rule(name) is Missing.DROP]


def _distinct(source: Source, names: Sequence[str], origin: str, run: Run) -> dict[str, Distinct]:
    """The distinct values of columns of a source, counted in a relation that has it as `s`."""
    found, each = {}, COUNTED / len(names)
    for place, name in enumerate(names):
        with source.session.stopped_by(run, "reading", (place * each, (place + 1) * each)):
            found[name] = distinct(
                source.session, f"s.{quoted(name)}", origin, came=source.came(name), what=source.label
            )
    if len({int(each.counts.sum()) for each in found.values()}) > 1:
        raise changed(source.label)
    return found


def _kept(
    source: Source, dropping: Sequence[str], found: Mapping[str, Distinct], encoded: Mapping[str, Encoded]
) -> dict[str, NDArray[np.int64]]:
    """How many records each distinct value of each column has when those are left out that lack a value in one of the
    columns `dropping`."""
    if not dropping:
        return {name: each.counts for name, each in found.items()}
    present = {
        f"l{at}": (f"s.{quoted(name)}", translation(source.session, found[name], column.codes, column.codes != MISSING))
        for at, (name, column) in enumerate(encoded.items())
        if name in dropping
    }
    rest = joined(source.relation, present)
    kept = {}
    for name, each in found.items():
        left = source.session.fetch(
            f"SELECT v.id, t.n FROM (SELECT s.{quoted(name)} AS value, count(*) AS n FROM {rest} GROUP BY 1) AS t "
            f"JOIN {each.table} AS v ON v.value IS NOT DISTINCT FROM t.value",
            what=source.label,
        )
        kept[name] = np.zeros(len(each.counts), np.int64)
        kept[name][left["id"].to_numpy()] = left["n"].to_numpy()
    if not int(next(iter(kept.values())).sum()):
        raise InputError("the missing-value rules leave no record")
    return kept
