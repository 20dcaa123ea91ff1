"""A DuckDB database of one engine: where its queries run, and what becomes of their errors."""

from __future__ import annotations

import gc
import itertools
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from numpy.typing import NDArray

from shoal.core.forks import check_same
from shoal.core.run import Run, polled
from shoal.engines.duckdb.causes import cause_of
from shoal.errors import CancelledError, InputError, MissingExtraError, OutputError, ShoalError
from shoal.storage.private import PrivateFolder

if TYPE_CHECKING:
    import duckdb

BATCH = 1 << 17
"""Rows that pass through Python at a time, where rows have to."""

SEVERAL = 8
"""Queries after which half of a stage is done, where nobody knows how many there will be."""

WATCHED = ("SET enable_progress_bar = true", "SET enable_progress_bar_print = false")
"""What makes a cursor tell how far its query is."""

INTERRUPTED = "Query interrupted"
"""What a query of DuckDB ends with, in Python, when somebody presses Ctrl-C."""


def quoted(name: str) -> str:
    """A name as SQL spells it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"


class Stored:
    """A table in the database; it is dropped with whatever holds it."""

    def __init__(self, session: DatabaseSession, name: str) -> None:
        self.name = name
        weakref.finalize(self, session.drop, name).atexit = False

    def __str__(self) -> str:
        return self.name


class DatabaseSession:
    """A database in memory that spills into a private temporary folder, which goes with it.

    Every call has a cursor for itself, so that any number of threads may call; the next call takes it over, unless it
    failed or was left in another state. DuckDB's error messages quote cells of the table: none of them is passed on.
    """

    def __init__(self, settings: Mapping[str, str | int], folder: str | None = None) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("the duckdb engine", "duckdb") from None
        try:
            self._folder = PrivateFolder(None if folder is None else Path(folder))
        except OSError:
            raise OutputError("the temporary folder does not exist, or nothing can be written there") from None
        fixed = {
            "temp_directory": self.folder,
            "autoinstall_known_extensions": "false",  # nothing is fetched from anywhere unless the holder does it
            "python_enable_replacements": "false",  # no variable of a program is taken for a table
        }
        with _plain_errors("the database"):
            self._begin(duckdb.connect(":memory:", config={**settings, **fixed}))

    def _begin(self, connection: duckdb.DuckDBPyConnection, prepared: Sequence[str] = ()) -> None:
        """Works through a connection; every cursor is `prepared` by statements."""
        self._connection, self._prepared = connection, prepared
        self._numbers = itertools.count()
        self._attached: dict[str, str] = {}
        self.read_tables: set[tuple[str, str, str]] = set()
        """Tables of databases that are read: the database, the schema and the name."""
        self.writers: dict[str, Any] = {}
        """Connections to tables that are being written, by what names them: nobody else sees yet what is in them, and
        nobody else may open the file of a SQLite database meanwhile, which would end its locks."""
        self._idle: dict[bool, list[duckdb.DuckDBPyConnection]] = {False: [], True: []}
        """Cursors for the next queries: those that tell how far a query is, and others."""
        self._running: dict[int, list[duckdb.DuckDBPyConnection]] = {}
        self._queries: dict[int, int] = {}
        """How many queries threads have done whose progress somebody watches."""
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def folder(self) -> str:
        """Where it spills to."""
        return str(self._folder.path)

    @contextmanager
    def cursor(self, what: str = "the table", *, reusable: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for one query; `what` is named when it fails. After a `reusable` one nothing stays of it."""
        check_same(self._process, "the DuckDB session, or what was read with it,")
        thread = get_ident()
        with self._lock:
            watched = thread in self._queries
            idle = self._idle[watched]
            fresh = not idle
            cursor = self._connection.cursor() if fresh else idle.pop()
            running = self._running.setdefault(thread, [])
            running.append(cursor)
        sound = False
        try:
            with _plain_errors(what):
                if fresh:
                    for statement in (*self._prepared, *(WATCHED if watched else ())):
                        cursor.execute(statement)
                yield cursor
            sound = reusable
        finally:
            with self._lock:
                running.remove(cursor)
                if not running:
                    self._running.pop(thread, None)
                if thread in self._queries:
                    self._queries[thread] += 1
                if sound:
                    idle.append(cursor)
            if not sound:
                cursor.close()

    @contextmanager
    def stopped_by(
        self, run: Run, doing: str = "", between: tuple[float, float] = (0.0, 1.0), *, several: bool = False
    ) -> Iterator[None]:
        """Meanwhile, the queries of this thread stop when the run is cancelled. Where it is said what they are `doing`,
        the run is told how far they are, `between` two shares of it: one query, or `several`, of which nobody knows how
        many there will be."""
        thread, (begin, end) = get_ident(), between

        def look() -> None:
            share = self._progress(thread, run.cancelled, several)
            if doing and share is not None:
                with suppress(CancelledError):
                    run.report(begin + share * (end - begin), doing)

        before = self._queries.get(thread)
        if doing:
            self._queries[thread] = 0
        try:
            with polled(look):
                yield
        finally:
            if before is not None:
                self._queries[thread] = before
            else:
                self._queries.pop(thread, None)
        if doing:
            run.report(end, doing)

    def _progress(self, thread: int, cancelled: bool, several: bool) -> float | None:
        """How far the queries of a thread are, where there are some; those of a run that was cancelled are stopped."""
        with self._lock:
            running = self._running.get(thread, ())
            if cancelled:
                for cursor in running:
                    cursor.interrupt()
            if not running:
                return None
            now = max(0.0, running[-1].query_progress() / 100)
            done = self._queries.get(thread, 0) + now
            return done / (done + SEVERAL) if several else now

    def execute(self, sql: str, *, what: str = "the table") -> None:
        with self.cursor(what, reusable=True) as cursor:
            cursor.execute(sql)

    def fetch(self, sql: str, *, what: str = "the table") -> pa.Table:
        """A result as a whole."""
        with self.cursor(what, reusable=True) as cursor:
            return cursor.sql(sql).to_arrow_table()

    def columns(self, sql: str, *, what: str = "the table") -> list[NDArray[Any]]:
        """The columns of a result as arrays; nothing else of it stays in memory."""
        return [column.to_numpy() for column in self.fetch(sql, what=what).columns]

    def batches(self, sql: str, *, what: str = "the table") -> Iterator[pa.RecordBatch]:
        """A result in batches, of which one at a time is in Python."""
        with self.cursor(what) as cursor:
            yield from cursor.sql(sql).to_arrow_reader(BATCH)

    def row(self, sql: str, *, what: str = "the table") -> tuple[Any, ...]:
        """A result of one row."""
        with self.cursor(what, reusable=True) as cursor:
            (row,) = cursor.execute(sql).fetchall()
        found: tuple[Any, ...] = row
        return found

    def value(self, sql: str, *, what: str = "the table") -> Any:
        """A result of one row and one column."""
        return self.row(sql, what=what)[0]

    def create(self, sql: str, *, what: str = "the table") -> Stored:
        """The result of a query, stored."""
        name = f"t{next(self._numbers)}"
        self.execute(f"CREATE TABLE {name} AS {sql}", what=what)
        return Stored(self, name)

    def load(self, table: pa.Table, selected: str = "*") -> Stored:
        """A small table from Python, stored; `selected` may cast its columns."""
        name = f"t{next(self._numbers)}"
        with self.cursor() as cursor:
            cursor.register("loaded", table)
            cursor.execute(f"CREATE TABLE {name} AS SELECT {selected} FROM loaded")
        return Stored(self, name)

    def append(self, stored: Stored, batch: pa.Table | pa.RecordBatch) -> None:
        """More rows for a stored table."""
        with self.cursor() as cursor:
            cursor.register("loaded", batch if isinstance(batch, pa.Table) else pa.table(batch))
            cursor.execute(f"INSERT INTO {stored} SELECT * FROM loaded")

    def drop(self, name: str) -> None:
        with self.cursor(reusable=True) as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")

    def catalog(self, target: str) -> str:
        """The name that a database has here."""
        with self._lock:
            return self._attached.setdefault(target, f"d{len(self._attached)}")

    def is_attached(self, target: str) -> bool:
        """Whether a table is read from a database."""
        return target in self._attached

    def attach(self, target: str, *, write: bool = False) -> str:
        """The name that a database has here once tables can be read from it, or written to it."""
        catalog, mode = self.catalog(target), "" if write else " (READ_ONLY)"
        self.execute(f"ATTACH IF NOT EXISTS {literal(target)} AS {quoted(catalog)}{mode}", what=Path(target).name)
        return catalog

    @contextmanager
    def writing(self, target: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that writes to a database from which tables are read: one process has a database open either to
        read or to write, so it is opened anew for that time."""
        what, catalog = Path(target).name, self.catalog(target)
        gc.collect()  # sessions that nobody uses keep their databases open until then
        self.execute(f"DETACH {quoted(catalog)}", what=what)
        try:
            self.attach(target, write=True)
            with self.cursor(what) as cursor:
                cursor.execute(f"USE {quoted(catalog)}")
                yield cursor
        finally:
            self.execute(f"DETACH DATABASE IF EXISTS {quoted(catalog)}", what=what)
            self.attach(target)

    def types_of(self, relation: str, *, what: str = "the table") -> dict[str, str]:
        """The columns of a relation and their types."""
        with self.cursor(what, reusable=True) as cursor:
            return {row[0]: row[1] for row in cursor.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}


class GuestSession(DatabaseSession):
    """The same in a database that somebody else has opened. What is made goes to a catalog of its own in memory, which
    goes with the session: nothing of the database changes, and its own limits and temporary folder hold."""

    def __init__(self, host: duckdb.DuckDBPyConnection) -> None:
        scratch = f"shoal_{uuid4().hex}"
        with _plain_errors("the database"):
            connection = host.cursor()
            connection.execute(f"ATTACH ':memory:' AS {scratch}")
        self._begin(connection, [f"USE {scratch}"])
        weakref.finalize(self, _detach, connection, scratch).atexit = False


def _detach(connection: duckdb.DuckDBPyConnection, catalog: str) -> None:
    with suppress(Exception):  # the database may have been closed meanwhile, and the catalog with it
        connection.execute(f"DETACH {catalog}")
        connection.close()


@contextmanager
def _plain_errors(what: str) -> Iterator[None]:
    """Errors of DuckDB as Shoal's own, without their texts."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise CancelledError("the query was stopped; nothing was written") from None
    except RuntimeError as error:
        if str(error) == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise
    except duckdb.OutOfMemoryException:
        raise ShoalError(
            "the memory limit of the duckdb engine is too low, or its temporary folder is full; raise memory_limit, "
            "or name a temporary folder with more room"
        ) from None
    except duckdb.Error as error:
        if type(error).__name__ in ("IOException", "ResourceInUseException"):  # the second is DuckDB 2's
            raise InputError(f"{what}: cannot be read or written: {cause_of(error)}") from None
        raise InputError(f"{what}: DuckDB cannot work on it ({type(error).__name__})") from None
