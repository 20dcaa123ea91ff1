"""The ledger's file: an SQLite database, and beside it a key that only its owner can read.

Every entry has a code (HMAC) of its content and of the code before it, and a seal over the last codes and their number
stands beside them. Whoever lacks the key can change, take out, reorder or cut off nothing without being noticed.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, OutputError
from shoal.ledger.chain import ENTRIES, Chain
from shoal.ledger.entry import Entry
from shoal.ledger.judgement import Unjudged
from shoal.storage.database_files import check_beside

APPLICATION = 0x53484F4C
"""What marks a database as a ledger of Shoal."""
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE releases (
  number INTEGER PRIMARY KEY, made TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
  place TEXT, sha256 TEXT, manifest TEXT NOT NULL, seen BLOB, unjudged TEXT NOT NULL, code TEXT NOT NULL
) STRICT;
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY, made TEXT NOT NULL, figures TEXT NOT NULL, code TEXT NOT NULL
) STRICT;
"""
OLDEST = 2
"""The first format whose entries are sealed; an older ledger could have lost entries unnoticed."""
UPGRADES: tuple[str, ...] = ()
"""What brings a ledger of each version, from the oldest on, to the next one."""
KEY_BYTES = 32
PENDING, PUBLISHED = "pending", "published"


@dataclass(frozen=True)
class Store:
    """The database at a path. Every method opens it, does one thing whole, and closes it."""

    path: Path

    @property
    def key_path(self) -> Path:
        return self.path.with_name(self.path.name + ".key")

    @property
    def exists(self) -> bool:
        """Whether the ledger is there; raises where its key is there without it."""
        if self.path.exists() or not self.key_path.exists():
            return self.path.exists()
        with _lock(self.path.parent):  # whoever makes a ledger makes the key first
            if not self.path.exists() and self.key_path.exists():
                raise InputError(
                    f"{self.key_path.name}: this key lies there without its ledger, so nobody can say what was "
                    "published before, and whoever put it there could tell who is in a new one; put the ledger back "
                    "beside its key. Remove the key only if no release was ever entered with it"
                )
        return self.path.exists()

    def create(self) -> None:
        """Makes the file and its key unless they are there; nobody sees a half-made one."""
        if self.exists:
            return
        if not self.path.parent.is_dir():
            raise OutputError(f"{self.path.name}: its folder does not exist")
        beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        fresh = beside.with_name(beside.name + ".key")
        try:
            with _lock(self.path.parent):
                if self.path.exists():
                    return
                for file in (fresh, beside):
                    file.touch(mode=0o600)
                fresh.write_text(secrets.token_hex(KEY_BYTES) + "\n", encoding="ascii")
                with closing(sqlite3.connect(beside, isolation_level=None)) as database:
                    database.executescript(f"BEGIN;{TABLES}COMMIT;")
                    database.execute(f"PRAGMA application_id = {APPLICATION}")
                    database.execute(f"PRAGMA user_version = {OLDEST + len(UPGRADES)}")
                    Chain(database, _secret(fresh)).close()
                _first(fresh, self.key_path)
                _first(beside, self.path)
        except (OSError, sqlite3.Error) as error:
            raise self._unwritable(error) from None
        finally:
            for left in (beside, fresh, beside.with_name(beside.name + "-journal")):
                left.unlink(missing_ok=True)

    def key(self) -> int:
        """What people are hashed with."""
        return int.from_bytes(self._key(), "big")

    def _key(self) -> bytes:
        try:
            return _secret(self.key_path)
        except (OSError, ValueError, OverflowError):
            raise InputError(
                f"{self.key_path.name}: the key of the ledger is not there or is none; without it nobody can say who "
                "was in which release, so put the file back beside the ledger"
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Whoever publishes holds this, from the look at what there is to the entry; it ends with the process."""
        self._key()
        with _lock(self.key_path):
            yield

    @contextmanager
    def _connection(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        if not self.exists:
            raise InputError(f"{self.path.name}: there is no such ledger")
        check_beside(self.path.resolve())
        mode = "rw" if write else "ro"
        try:
            with closing(
                sqlite3.connect(f"{self.path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60)
            ) as database:
                self._check(database, write)
                with database:
                    yield database
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname == "SQLITE_READONLY_ROLLBACK":
                raise InputError(
                    f"{self.path.name}: an entry was interrupted while it was written; the next release that is "
                    "published with this ledger puts it right"
                ) from None
            if "readonly" in str(error) or "unable to open" in str(error) or "disk" in str(error):
                raise self._unwritable(error) from None
            raise InputError(f"{self.path.name}: the ledger cannot be used ({error})") from None
        except sqlite3.DatabaseError:
            raise InputError(f"{self.path.name}: this is not a ledger of Shoal, or it is damaged") from None

    @contextmanager
    def _verified(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """The database once every entry has proven to be as it was entered; what is written is sealed."""
        with self._connection(write=write) as database:
            database.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            chain = Chain(database, self._key())
            if faults := chain.faults():
                raise InputError(
                    f"{self.path.name}: {'; '.join(faults)}. Something other than Shoal changed the ledger, or the key "
                    "beside it is that of another one, so nothing can be judged by it; put a copy of both files back"
                )
            yield database
            if write:
                chain.close()

    def _check(self, database: sqlite3.Connection, write: bool) -> None:
        marked = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if marked != APPLICATION:
            raise InputError(f"{self.path.name}: this database is not a ledger of Shoal; name another file")
        newest = OLDEST + len(UPGRADES)
        if version > newest:
            raise InputError(
                f"{self.path.name}: a newer version of Shoal wrote this ledger (format {version}; this one knows "
                f"{newest}); update Shoal"
            )
        if version < OLDEST:
            raise InputError(
                f"{self.path.name}: this ledger has format {version}, whose entries are not sealed, so nobody can say "
                "whether all of them are there; begin a new ledger"
            )
        if version < newest and not write:
            raise InputError(
                f"{self.path.name}: this ledger has the older format {version}; write to it once to upgrade"
            )
        for at in range(version, newest):
            database.executescript(f"BEGIN IMMEDIATE;{UPGRADES[at - OLDEST]};PRAGMA user_version = {at + 1};COMMIT;")

    def _unwritable(self, error: Exception) -> OutputError:
        reason = getattr(error, "strerror", None) or str(error)
        return OutputError(f"{self.path.name}: the ledger cannot be written ({reason}); nothing was published")

    def settle(self) -> None:
        """Lets SQLite undo what a process that was killed had half-written, which it cannot while it only reads."""
        if self.path.with_name(self.path.name + "-journal").exists():
            with self._connection(write=True):
                pass

    def check_writable(self) -> None:
        """Raises, before any work is done, where no entry could be made."""
        with self._verified(write=True) as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES ('tried', '')")
            database.execute("DELETE FROM facts WHERE name = 'tried'")

    def damage(self) -> list[str]:
        """What is wrong with the file: what SQLite finds, and entries that are not as they were entered."""
        with self._connection(write=False) as database:
            faults = [str(row[0]) for row in database.execute("PRAGMA quick_check").fetchall()]
            return faults if faults != ["ok"] else Chain(database, self._key()).faults()

    def fact(self, name: str) -> Any:
        with self._verified(write=False) as database:
            row = database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def keep_fact(self, name: str, value: Any) -> None:
        with self._verified(write=True) as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def entries(self) -> list[Entry]:
        with self._verified(write=False) as database:
            rows = database.execute(f"SELECT {ENTRIES['releases']} FROM releases ORDER BY number").fetchall()
        entries = []
        for number, date, name, state, place, sha256, manifest, located, unjudged in rows:
            reasons = tuple(Unjudged(*each) for each in json.loads(unjudged))
            entries.append(Entry(number, date, name, state, place, sha256, json.loads(manifest), located, reasons))
        return entries

    def add(self, entry: Entry) -> int:
        """Adds an entry, whose number is the next one."""
        unjudged = json.dumps([(each.name, each.reason) for each in entry.unjudged])
        content = (entry.date, entry.name, entry.state, entry.place, entry.sha256, json.dumps(entry.manifest))
        with self._verified(write=True) as database:
            cursor = database.execute(
                "INSERT INTO releases (made, name, state, place, sha256, manifest, seen, unjudged, code) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')",
                (*content, entry.located, unjudged),
            )
            return int(cursor.lastrowid or 0)

    def publish(self, number: int) -> None:
        with self._verified(write=True) as database:
            database.execute("UPDATE releases SET state = ? WHERE number = ?", (PUBLISHED, number))

    def remove(self, number: int) -> None:
        with self._verified(write=True) as database:
            database.execute("DELETE FROM releases WHERE number = ?", (number,))

    def add_session(self, date: str, figures: dict[str, Any]) -> None:
        content = date, json.dumps(figures)
        with self._verified(write=True) as database:
            database.execute("INSERT INTO sessions (made, figures, code) VALUES (?, ?, '')", content)

    def sessions(self) -> list[dict[str, Any]]:
        with self._verified(write=False) as database:
            rows = database.execute("SELECT made, figures FROM sessions ORDER BY number").fetchall()
        return [{"made": date, **json.loads(figures)} for date, figures in rows]


def _secret(path: Path) -> bytes:
    """The key in a file."""
    return int(path.read_text(encoding="ascii").strip(), 16).to_bytes(KEY_BYTES, "big")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Holds a lock on a file or a folder, once nobody else does; it ends with the process."""
    try:
        import fcntl
    except ImportError:  # there are no such locks here; SQLite's own keep the file whole
        yield
        return
    lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _first(fresh: Path, target: Path) -> None:
    """Puts a new file in its place, unless somebody else was faster."""
    try:
        target.hardlink_to(fresh)
    except FileExistsError:
        pass
    except OSError:  # some file systems have no links
        if not target.exists():
            fresh.replace(target)
