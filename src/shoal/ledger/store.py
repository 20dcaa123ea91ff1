"""The ledger's file: an SQLite database, and beside it a key that only its owner can read."""

from __future__ import annotations

import io
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.seen import Promise, Seen, Spread
from shoal.errors import InputError, OutputError

APPLICATION = 0x53484F4C
"""What marks a database as a ledger of Shoal."""
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE releases (
  number INTEGER PRIMARY KEY, made TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
  place TEXT, sha256 TEXT, manifest TEXT NOT NULL, seen BLOB, obstacle TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE sessions (number INTEGER PRIMARY KEY, made TEXT NOT NULL, figures TEXT NOT NULL) STRICT;
"""
UPGRADES: tuple[str, ...] = ()
"""What brings a ledger of each version to the next one."""
KEY_BYTES = 32
PENDING, PUBLISHED = "pending", "published"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One release as the file has it; `place` is where its file lies, seen from the ledger's folder."""

    number: int
    made: str
    name: str
    state: str
    place: str | None
    sha256: str | None
    manifest: dict[str, Any]
    obstacle: str
    seen: bytes | None


@dataclass(frozen=True)
class Store:
    """The database at a path. Every method opens it, does one thing whole, and closes it."""

    path: Path

    @property
    def key_path(self) -> Path:
        return self.path.with_name(self.path.name + ".key")

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def create(self) -> None:
        """Makes the file and its key unless they are there; nobody sees a half-made one."""
        if self.exists:
            return
        if not self.path.parent.is_dir():
            raise OutputError(f"{self.path.name}: its folder does not exist")
        beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            if not self.key_path.exists():
                fresh = beside.with_name(beside.name + ".key")
                fresh.touch(mode=0o600)
                fresh.write_text(secrets.token_hex(KEY_BYTES) + "\n", encoding="ascii")
                _first(fresh, self.key_path)
            beside.touch(mode=0o600)
            with closing(sqlite3.connect(beside, isolation_level=None)) as database:
                database.executescript(f"BEGIN;{TABLES}COMMIT;")
                database.execute(f"PRAGMA application_id = {APPLICATION}")
                database.execute(f"PRAGMA user_version = {len(UPGRADES) + 1}")
            _first(beside, self.path)
        except (OSError, sqlite3.Error) as error:
            raise self._unwritable(error) from None
        finally:
            for left in (beside, beside.with_name(beside.name + ".key"), beside.with_name(beside.name + "-journal")):
                left.unlink(missing_ok=True)

    def key(self) -> int:
        """What people are hashed with."""
        try:
            return int(self.key_path.read_text(encoding="ascii").strip(), 16)
        except (OSError, ValueError):
            raise InputError(
                f"{self.key_path.name}: the key of the ledger is not there or is none; without it nobody can say who "
                "was in which release, so put the file back beside the ledger"
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Whoever publishes holds this, from the look at what there is to the entry; it ends with the process."""
        try:
            import fcntl
        except ImportError:  # there are no such locks here; SQLite's own keep the file whole
            yield
            return
        try:
            lock = os.open(self.key_path, os.O_RDONLY)
        except OSError:
            self.key()
            raise
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _opened(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        if not self.exists:
            raise InputError(f"{self.path.name}: there is no such ledger")
        mode = "rw" if write else "ro"
        try:
            with closing(
                sqlite3.connect(f"{self.path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60)
            ) as database:
                self._check(database, write)
                with database:
                    yield database
        except sqlite3.OperationalError as error:
            if "readonly" in str(error) or "unable to open" in str(error) or "disk" in str(error):
                raise self._unwritable(error) from None
            raise InputError(f"{self.path.name}: the ledger cannot be used ({error})") from None
        except sqlite3.DatabaseError:
            raise InputError(f"{self.path.name}: this is not a ledger of Shoal, or it is damaged") from None

    def _check(self, database: sqlite3.Connection, write: bool) -> None:
        marked = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if marked != APPLICATION:
            raise InputError(f"{self.path.name}: this database is not a ledger of Shoal; name another file")
        newest = len(UPGRADES) + 1
        if version > newest:
            raise InputError(
                f"{self.path.name}: a newer version of Shoal wrote this ledger (format {version}; this one knows "
                f"{newest}); update Shoal"
            )
        if version < newest and not write:
            raise InputError(
                f"{self.path.name}: this ledger has the older format {version}; write to it once to upgrade"
            )
        for at in range(version, newest):
            database.executescript(f"BEGIN IMMEDIATE;{UPGRADES[at - 1]};PRAGMA user_version = {at + 1};COMMIT;")

    def _unwritable(self, error: Exception) -> OutputError:
        reason = getattr(error, "strerror", None) or str(error)
        return OutputError(f"{self.path.name}: the ledger cannot be written ({reason}); nothing was published")

    def check_writable(self) -> None:
        """Raises, before any work is done, where no entry could be made."""
        with self._opened(write=True) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT OR REPLACE INTO facts VALUES ('tried', '')")
            database.execute("DELETE FROM facts WHERE name = 'tried'")

    def damage(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        with self._opened(write=False) as database:
            found = [str(row[0]) for row in database.execute("PRAGMA quick_check").fetchall()]
        return [] if found == ["ok"] else found

    def fact(self, name: str) -> Any:
        with self._opened(write=False) as database:
            found = database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def keep_fact(self, name: str, value: Any) -> None:
        with self._opened(write=True) as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def rows(self) -> list[Row]:
        columns = "number, made, name, state, place, sha256, manifest, obstacle, seen"
        with self._opened(write=False) as database:
            found = database.execute(f"SELECT {columns} FROM releases ORDER BY number").fetchall()
        return [
            Row(
                number=number, made=made, name=name, state=state, place=place, sha256=sha256,
                manifest=json.loads(manifest), obstacle=obstacle, seen=seen,
            )
            for number, made, name, state, place, sha256, manifest, obstacle, seen in found
        ]  # fmt: skip

    def add(self, row: Row) -> int:
        with self._opened(write=True) as database:
            made = database.execute(
                "INSERT INTO releases (made, name, state, place, sha256, manifest, obstacle, seen) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row.made,
                    row.name,
                    row.state,
                    row.place,
                    row.sha256,
                    json.dumps(row.manifest),
                    row.obstacle,
                    row.seen,
                ),
            )
            return int(made.lastrowid or 0)

    def publish(self, number: int) -> None:
        with self._opened(write=True) as database:
            database.execute("UPDATE releases SET state = ? WHERE number = ?", (PUBLISHED, number))

    def remove(self, number: int) -> None:
        with self._opened(write=True) as database:
            database.execute("DELETE FROM releases WHERE number = ?", (number,))

    def add_session(self, made: str, figures: dict[str, Any]) -> None:
        with self._opened(write=True) as database:
            database.execute("INSERT INTO sessions (made, figures) VALUES (?, ?)", (made, json.dumps(figures)))

    def sessions(self) -> list[dict[str, Any]]:
        with self._opened(write=False) as database:
            found = database.execute("SELECT made, figures FROM sessions ORDER BY number").fetchall()
        return [{"made": made, **json.loads(figures)} for made, figures in found]


def _first(made: Path, target: Path) -> None:
    """Puts a new file in its place, unless somebody else was faster."""
    try:
        target.hardlink_to(made)
    except FileExistsError:
        pass
    except OSError:  # some file systems have no links
        if not target.exists():
            made.replace(target)


def packed(seen: Seen) -> bytes:
    """Who is where in a release and what was published of it, in the order of the hashes, which tells nothing."""
    order = np.argsort(seen.ids, kind="stable")
    arrays: dict[str, Any] = {"ids": seen.ids[order], "groups": seen.groups[order]}
    if seen.classes is not None and seen.classes is not seen.groups:
        arrays["classes"] = seen.classes[order]
    for at, spread in enumerate(seen.values.values()):
        arrays |= {f"owners{at}": spread.owners, f"values{at}": spread.values, f"counts{at}": spread.counts}
    stated = {
        "name": seen.name, "linking": seen.linking, "several": seen.several, "k": seen.promise.k, "l": seen.promise.l,
        "identity": seen.classes is not None, "texts": {name: each.texts for name, each in seen.values.items()},
    }  # fmt: skip
    arrays["stated"] = np.frombuffer(json.dumps(stated).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def unpacked(content: bytes, name: str) -> Seen:
    """What `packed` made, under another name."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        stated = json.loads(held["stated"].tobytes())
        values = {
            column: Spread(tuple(texts), held[f"owners{at}"], held[f"values{at}"], held[f"counts{at}"])
            for at, (column, texts) in enumerate(stated["texts"].items())
        }
        groups = held["groups"]
        classes = held["classes"] if "classes" in held else groups if stated["identity"] else None
        return Seen(
            name=name, ids=held["ids"], classes=classes, groups=groups, values=values,
            linking=tuple(stated["linking"]), promise=Promise(k=stated["k"], l=stated["l"]), several=stated["several"],
        )  # fmt: skip
