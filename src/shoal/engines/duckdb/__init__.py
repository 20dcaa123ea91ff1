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

from shoal.core.grouping import Counts
from shoal.core.read_request import Description, Opening
from shoal.core.run import Run
from shoal.core.schema import ENCODED, Column, Notation
from shoal.core.survey import Overview
from shoal.engines.common.encoding import Encoded, bind
from shoal.engines.common.engine import CommonEngine, check_some_left, check_some_there, encode_column, required_values
from shoal.engines.common.source import changed
from shoal.engines.duckdb.apply_plan import DuckDBApplication
from shoal.engines.duckdb.databases import check_spot, occupied, storing
from shoal.engines.duckdb.encoding import Distinct, DuckDBTally, distinct, join_codes, translation
from shoal.engines.duckdb.expressions import lives_in_duckdb
from shoal.engines.duckdb.identity import respelled
from shoal.engines.duckdb.profiling import profile
from shoal.engines.duckdb.published_table import DuckDBPublished, open_published
from shoal.engines.duckdb.reading_checkpoint import NOWHERE, ReadingCheckpoint, keep
from shoal.engines.duckdb.session import DatabaseSession, quoted
from shoal.engines.duckdb.source import DuckDBSource, open_source
from shoal.engines.duckdb.table import DuckDBColumn, DuckDBTable
from shoal.errors import ParameterError
from shoal.storage.checkpoint import Checkpoint
from shoal.storage.files import names_table, replacing_all

COUNTED = 0.4
"""The share of reading that is done once the values of all columns are counted; the rest is counting the rows."""

_SIZE = re.compile(r"\d+(\.\d+)? ?([KMGT]i?B)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class DuckDB(CommonEngine):
    """DuckDB does the work on rows; the table itself does not enter Python, only its distinct values, its classes and
    what is made of them do. Four exceptions: algorithms that look at single records get the encoded columns,
    pseudonyms are made from the distinct identifiers, batch by batch, where a person column is named, people come as
    numbers, with the classes that they are in, and detection and dependencies get the distinct rows as small numbers.

    Reads a table of a database (`file.duckdb::table`, `file.sqlite::table`, `postgres://user@host/base::table`), a
    table expression of Ibis in the DuckDB where it lives, and whatever the embedded engine reads; Parquet and tables of
    DuckDB are queried where they lie. A release can go to such a table, too, in one transaction: it is there and
    verified, or nothing changed.

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
    def session(self) -> DatabaseSession:
        """The database in which everything of this engine is done, so that the limits hold for all of it together."""
        given = {"memory_limit": self.memory_limit, "threads": self.threads}
        settings = {name: value for name, value in given.items() if value is not None}
        return DatabaseSession(settings, None if self.temporary is None else str(self.temporary))

    @classmethod
    def takes(cls, source: Any) -> bool:
        return names_table(source) or lives_in_duckdb(source)

    def _open(self, source: Any, opening: Opening) -> DuckDBSource:
        return open_source(self.session, source, opening)

    def _encode(
        self, source: DuckDBSource, names: Sequence[str], request: Description, run: Run, checkpoint: Checkpoint | None
    ) -> tuple[DuckDBTable, Mapping[str, Column]]:
        """The distinct rows of the columns are counted and encoded now."""
        session = source.session
        before = ReadingCheckpoint.load(checkpoint, source, names)
        listed = _distinct(source, names, run) if before is None else before.distinct
        records = int(listed[names[0]].counts.sum())
        check_some_there(records)
        encoded = {name: encode_column(name, each.values, source, request, records) for name, each in listed.items()}
        required = required_values(encoded, request, {name: each.counts for name, each in listed.items()})
        counts = _counts_left(source, listed, encoded, required) if before is None else before.counts
        columns, coded, leaves = {}, {}, {}
        for name, each in encoded.items():
            left = counts[name] > 0
            own, hierarchy, raw = bind(
                replace(each, indices=each.indices[left]), request.hierarchy(each.values), counts[name][left]
            )
            leaves[name] = np.full(len(left), NOWHERE, np.int32)
            leaves[name][left] = own
            codes = translation(session, listed[name], leaves[name], left)
            coded[name] = DuckDBColumn(hierarchy, raw, codes, respelled(session, listed[name], each))
            columns[name] = request.column(each.values, hierarchy)
        # Quasi-identifiers first, in their order, then sensitive ones: as classes are asked for.
        ordered = [name for role in ENCODED for name, its in request.roles.items() if its is role and name in coded]
        sizes = {name: coded[name].hierarchy.size for name in ordered}
        if before is not None:
            tally = before.tally(session, sizes, leaves)
        else:
            tallied = {name: (f"s.{quoted(name)}", coded[name].codes, size) for name, size in sizes.items()}
            with session.stopped_by(run, "reading", (COUNTED, 1.0)):
                tally = DuckDBTally.of(session, source.relation, tallied, what=source.label)
        if tally.records != int(counts[names[0]].sum()):
            raise changed(source.label)
        if checkpoint is not None and before is None:
            keep(checkpoint, listed, counts, leaves, tally)
        table = DuckDBTable(source, coded, DuckDBApplication, frozenset(required), known=request.known, tally=tally)
        return table, columns

    def profile(self, source: DuckDBSource) -> Overview:  # type: ignore[override]
        return profile(source)

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        return self.session.stopped_by(run, doing, several=True)

    def open_published(self, path: Path, notations: Mapping[str, Notation] | None = None) -> DuckDBPublished:
        return open_published(self.session, path, notations)

    def check_format(self, path: Path) -> None:
        if self.in_database(path):
            check_spot(self.session, str(path))
        else:
            super().check_format(path)

    def in_database(self, path: Path) -> bool:
        return names_table(path)

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

    def occupied(self, path: Path) -> bool:
        return occupied(self.session, str(path)) if self.in_database(path) else super().occupied(path)

    def exists(self, path: Path) -> bool:
        return self.in_database(path) or super().exists(path)


def _distinct(source: DuckDBSource, names: Sequence[str], run: Run) -> dict[str, Distinct]:
    """The distinct values of columns of a source, counted."""
    listed, share = {}, COUNTED / len(names)
    for place, name in enumerate(names):
        column, kind = f"s.{quoted(name)}", source.type_of(name)
        with source.session.stopped_by(run, "reading", (place * share, (place + 1) * share)):
            listed[name] = distinct(source.session, column, source.relation, source_type=kind, what=source.label)
    if len({int(each.counts.sum()) for each in listed.values()}) > 1:
        raise changed(source.label)
    return listed


def _counts_left(
    source: DuckDBSource,
    listed: Mapping[str, Distinct],
    encoded: Mapping[str, Encoded],
    required: Mapping[str, NDArray[np.bool_]],
) -> dict[str, Counts]:
    """How many records each distinct value of each column has, without those that lack a required value."""
    if not required:
        return {name: each.counts for name, each in listed.items()}
    present = {
        f"l{at}": (f"s.{quoted(name)}", translation(source.session, listed[name], encoded[name].codes, filled))
        for at, (name, filled) in enumerate(required.items())
    }
    rest = join_codes(source.relation, present)
    counts = {}
    for name, each in listed.items():
        left = source.session.fetch(
            f"SELECT v.id, t.n FROM (SELECT s.{quoted(name)} AS value, count(*) AS n FROM {rest} GROUP BY 1) AS t "
            f"JOIN {each.table} AS v ON v.value IS NOT DISTINCT FROM t.value",
            what=source.label,
        )
        counts[name] = np.zeros(len(each.counts), np.int64)
        counts[name][left["id"].to_numpy()] = left["n"].to_numpy()
    check_some_left(int(next(iter(counts.values())).sum()))
    return counts
