"""Databases: tables of DuckDB, SQLite and PostgreSQL that are read, and that a release is written to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from shoal.engines.common.source import file_stamp
from shoal.engines.duckdb.causes import cause_of
from shoal.engines.duckdb.session import BATCH, DatabaseSession, quoted
from shoal.errors import InputError, MissingExtraError, OutputError, ShoalError
from shoal.storage.database_files import check_beside

LISTED = 20
"""Tables of a database that a message names."""

_SERVER = re.compile(r"postgres(?:ql)?(?:\+\w+)?:/+")
_TABLES = {
    "duckdb": "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_database() "
    "ORDER BY 1, 2",
    "sqlite": "SELECT 'main', name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 2",
    "postgres": "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, 2",
}

Kind = Literal["duckdb", "sqlite", "postgres"]


@dataclass(frozen=True)
class Spot:
    """A table of a database, which need not exist: `file.duckdb::table`, `file.sqlite::table`,
    `postgres://user@host/base::table`. The `label` is what messages call the database; it holds no password."""

    kind: Kind
    target: str
    table: str

    @property
    def label(self) -> str:
        return "the PostgreSQL database" if self.kind == "postgres" else Path(self.target).name

    @property
    def path(self) -> Path | None:
        """The file of the database, where it is one."""
        return None if self.kind == "postgres" else Path(self.target)


def spot(text: str, *, new: bool = False) -> Spot | None:
    """What a text names as a table of a database; None where it names none. Only a `new` one may lie in a file that is
    not there, whose ending then says what it will be."""
    database, separator, table = text.rpartition("::")
    if not separator:
        return None
    server = _SERVER.match(database)
    if server:
        return Spot("postgres", "postgresql://" + database[server.end() :], table)
    path = Path(database)
    check_beside(path)
    if new and (not path.exists() or not path.stat().st_size):
        return Spot("duckdb" if path.suffix in (".duckdb", ".ddb") else "sqlite", str(path), table)
    file_stamp(path)
    return Spot(_kind(path), str(path), table)


def _kind(path: Path) -> Kind:
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"SQLite format 3"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    raise InputError(f"{path.name}: this is neither a DuckDB nor a SQLite database")


def chosen(spot: Spot, known: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The schema and the name of a table among those of its database; refused where it is not one of them."""
    listed = list(known)
    fitting = [(schema, name) for schema, name in listed if spot.table in (name, f"{schema}.{name}")]
    if len(fitting) == 1:
        return fitting[0]
    there = [f"{schema}.{name}" for schema, name in listed]
    shown = ", ".join(there[:LISTED]) + (f" and {len(there) - LISTED} more" if len(there) > LISTED else "")
    many = "more than one" if fitting else "no"
    raise InputError(f"{spot.label}: {many} table {spot.table!r}; there are {shown or 'none'}")


class Connection:
    """A connection to a database, in a transaction that ends with it: what was stored stays only after `commit`.

    Errors of the drivers quote cells and passwords: none of their texts is passed on.
    """

    def __init__(self, spot: Spot, *, write: bool = True, opened: Any = None) -> None:
        """A connection of its own, or one of DuckDB that is `opened` already."""
        self.spot = spot
        with self._plain_errors():
            self._driver = _connect(spot, write) if opened is None else opened
            if spot.kind == "duckdb":
                self._driver.execute("BEGIN TRANSACTION")

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except (ShoalError, MemoryError):
            raise
        except Exception as error:  # each driver has a family of its own
            raise InputError(
                f"{self.spot.label}: the connection failed or was lost, or the table cannot be read or written: "
                f"{cause_of(error)}"
            ) from None

    @contextmanager
    def _executed(self, sql: str) -> Iterator[Any]:
        """A cursor that has executed a statement; a connection of DuckDB is its own cursor."""
        with nullcontext(self._driver) if self.spot.kind == "duckdb" else self._driver.cursor() as cursor:
            cursor.execute(sql)
            yield cursor

    def tables(self) -> list[tuple[str, str]]:
        """The schemas and the names of the tables that there are."""
        with self._plain_errors(), self._executed(_TABLES[self.spot.kind]) as cursor:
            return [(str(schema), str(name)) for schema, name in cursor.fetchall()]

    def existing(self) -> list[tuple[str, str]]:
        """The tables that there are of this name."""
        return [place for place in self.tables() if self.spot.table in (place[1], ".".join(place))]

    @cached_property
    def place(self) -> tuple[str, str]:
        """The schema and the name of the table."""
        return chosen(self.spot, self.tables())

    @cached_property
    def _qualified(self) -> str:
        return ".".join(map(quoted, self.place))

    def names(self) -> tuple[str, ...]:
        """The columns of the table."""
        with self._plain_errors(), self._executed(f"SELECT * FROM {self._qualified} LIMIT 0") as cursor:
            return tuple(column[0] for column in cursor.description)

    def batches(self) -> Iterator[pa.Table]:
        """The rows of the table, batch by batch; there is always one, and it may be empty."""
        sql = f"SELECT * FROM {self._qualified}"
        with self._plain_errors():
            if self.spot.kind == "duckdb":  # whose cursors copy the rows once more
                yield from _tables(self._driver.sql(sql).to_arrow_reader(BATCH))
                return
            with self._executed(sql) as cursor:
                yield from _tables(cursor.fetch_record_batch())

    def store(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Makes the table anew from rows; the one that was there is gone when that is committed."""
        within, dot, name = self.spot.table.rpartition(".")
        named = f"{quoted(within)}.{quoted(name)}" if dot else quoted(name)
        with self._plain_errors(), self._executed(f"DROP TABLE IF EXISTS {named}") as cursor:
            reader = pa.RecordBatchReader.from_batches(schema, batches)
            if self.spot.kind == "duckdb":
                cursor.register("loaded", reader)
                cursor.execute(f"CREATE TABLE {named} AS FROM loaded")
                cursor.unregister("loaded")
            else:
                cursor.adbc_ingest(name, reader, mode="create", db_schema_name=within or None)

    def commit(self) -> None:
        with self._plain_errors():
            self._driver.commit()

    def close(self) -> None:
        """Ends the connection, and undoes what was not committed."""
        with suppress(Exception):  # it may be lost already, which undoes it too
            self._driver.rollback()
        with suppress(Exception):
            self._driver.close()


def _connect(spot: Spot, write: bool) -> Any:
    """A connection of the driver, in a transaction; unless it is to `write`, the file cannot be changed by it, nor by
    what somebody laid beside it for the database to go on with."""
    if spot.kind == "duckdb":
        import duckdb

        return duckdb.connect(spot.target, read_only=not write)
    named = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[spot.kind]
    try:
        driver = import_module(f"adbc_driver_{named.lower()}.dbapi")
    except ImportError:
        raise MissingExtraError(f"a table of {named}", "databases") from None
    if spot.kind == "sqlite" and not write:
        return driver.connect(f"{Path(spot.target).resolve().as_uri()}?mode=ro")
    return driver.connect(spot.target)


def _tables(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Batches as tables, types of a driver's own resolved into what they are stored as."""
    yield _storage(reader.schema.empty_table())
    for batch in reader:
        yield _storage(pa.table(batch))


def _storage(table: pa.Table) -> pa.Table:
    columns = [
        pa.chunked_array([part.storage for part in column.chunks], column.type.storage_type)
        if isinstance(column.type, pa.BaseExtensionType)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


@contextmanager
def reading(place: Spot, writer: Connection | None) -> Iterator[Connection]:
    """A connection to read a table with: that of its `writer`, which stays, where it is being written."""
    if writer is not None:
        yield writer
        return
    with closing(Connection(place, write=False)) as connection:
        yield connection


@contextmanager
def storing(session: DatabaseSession, text: str) -> Iterator[None]:
    """Meanwhile, a release can be written to the table and read from it again, through the one connection in
    `session.writers`; all of it stays when all went well, and is undone otherwise."""
    target = spot(text, new=True)
    assert target is not None
    path = target.path
    fresh = path is not None and not path.exists()
    try:
        with _writing(session, target) as connection:
            check_unread(session, connection)
            session.writers[text] = connection
            yield
            connection.commit()
    except BaseException:
        if fresh and path is not None:
            path.unlink(missing_ok=True)
        raise
    finally:
        session.writers.pop(text, None)


@contextmanager
def _writing(session: DatabaseSession, target: Spot) -> Iterator[Connection]:
    """A connection that writes: one of the session, where that reads from the same file."""
    if target.kind != "duckdb" or not session.is_attached(target.target):
        with closing(Connection(target)) as connection:
            yield connection
        return
    with session.writing(target.target) as opened, closing(Connection(target, opened=opened)) as connection:
        yield connection


def check_unread(session: DatabaseSession, connection: Connection) -> None:
    """Refuses to replace a table that is read."""
    spot = connection.spot
    if any((spot.target, *place) in session.read_tables for place in connection.existing()):
        raise OutputError(
            f"{spot.label}: this would overwrite the table {spot.table!r}, which is read; name another one"
        )


def occupied(session: DatabaseSession, text: str) -> bool:
    """Whether a text names a table that is there."""
    target = spot(text, new=True)
    path = None if target is None else target.path
    if target is None or (path is not None and not (path.exists() and path.stat().st_size)):
        return False
    with _writing(session, target) as connection:
        return bool(connection.existing())


def check_spot(session: DatabaseSession, text: str) -> None:
    """Refuses, before any work is done, a table of a database that cannot be written."""
    target = spot(text, new=True)
    if target is None:
        return
    if not target.table:
        raise OutputError(f"{target.label}: name the table after '::'")
    path = target.path
    if path is not None and not path.parent.is_dir():
        raise OutputError(f"{path.name}: its folder does not exist")
    fresh = path is not None and not path.exists()
    try:
        with _writing(session, target) as connection:
            check_unread(session, connection)
    except InputError as error:
        raise OutputError(str(error)) from None
    if fresh and path is not None:
        path.unlink(missing_ok=True)
