"""The ledger's file: an SQLite database, and beside it a key that only its owner can read.

Every entry has a code (HMAC) of its content and of the code before it, and a seal over the last codes and their number
stands beside them. Whoever lacks the key can change, take out, reorder or cut off nothing without being noticed.
"""

from __future__ import annotations

import hmac
import io
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.release_history import LocatedRelease, Promise, PublishedValues
from shoal.errors import InputError, OutputError

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
ENTRIES = {
    "releases": "number, made, name, state, place, sha256, manifest, seen, unjudged",
    "sessions": "number, made, figures",
}
"""The columns of an entry that its code covers."""
SEAL = "seal"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One release as the file has it; `place` is where its file lies, seen from the ledger's folder, and `unjudged` has
    what could not be judged of it and was allowed: what was named, and the reason."""

    number: int
    made: str
    name: str
    state: str
    place: str | None
    sha256: str | None
    manifest: dict[str, Any]
    seen: bytes | None
    unjudged: tuple[tuple[str, str], ...] = ()


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
        with _waiting(self.path.parent):  # whoever makes a ledger makes the key first
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
            with _waiting(self.path.parent):
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
        with _waiting(self.key_path):
            yield

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

    @contextmanager
    def _chained(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """The database once every entry has proven to be as it was entered; what is written is sealed."""
        with self._opened(write=write) as database:
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

    def check_writable(self) -> None:
        """Raises, before any work is done, where no entry could be made."""
        with self._chained(write=True) as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES ('tried', '')")
            database.execute("DELETE FROM facts WHERE name = 'tried'")

    def damage(self) -> list[str]:
        """What is wrong with the file: what SQLite finds, and entries that are not as they were entered."""
        with self._opened(write=False) as database:
            found = [str(row[0]) for row in database.execute("PRAGMA quick_check").fetchall()]
            return found if found != ["ok"] else Chain(database, self._key()).faults()

    def fact(self, name: str) -> Any:
        with self._chained(write=False) as database:
            found = database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def keep_fact(self, name: str, value: Any) -> None:
        with self._chained(write=True) as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def rows(self) -> list[Row]:
        with self._chained(write=False) as database:
            found = database.execute(f"SELECT {ENTRIES['releases']} FROM releases ORDER BY number").fetchall()
        return [
            Row(
                number=number, made=made, name=name, state=state, place=place, sha256=sha256,
                manifest=json.loads(manifest), seen=seen,
                unjudged=tuple((what, reason) for what, reason in json.loads(unjudged)),
            )
            for number, made, name, state, place, sha256, manifest, seen, unjudged in found
        ]  # fmt: skip

    def add(self, row: Row) -> int:
        content = (row.made, row.name, row.state, row.place, row.sha256, json.dumps(row.manifest), row.seen)
        with self._chained(write=True) as database:
            made = database.execute(
                "INSERT INTO releases (made, name, state, place, sha256, manifest, seen, unjudged, code) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')",
                (*content, json.dumps(row.unjudged)),
            )
            return int(made.lastrowid or 0)

    def publish(self, number: int) -> None:
        with self._chained(write=True) as database:
            database.execute("UPDATE releases SET state = ? WHERE number = ?", (PUBLISHED, number))

    def remove(self, number: int) -> None:
        with self._chained(write=True) as database:
            database.execute("DELETE FROM releases WHERE number = ?", (number,))

    def add_session(self, made: str, figures: dict[str, Any]) -> None:
        with self._chained(write=True) as database:
            database.execute(
                "INSERT INTO sessions (made, figures, code) VALUES (?, ?, '')", (made, json.dumps(figures))
            )

    def sessions(self) -> list[dict[str, Any]]:
        with self._chained(write=False) as database:
            found = database.execute("SELECT made, figures FROM sessions ORDER BY number").fetchall()
        return [{"made": made, **json.loads(figures)} for made, figures in found]


@dataclass(frozen=True)
class Chain:
    """The codes of the entries of a ledger: each of an entry and of the code before it, and a seal over everything."""

    database: sqlite3.Connection
    secret: bytes

    def _code(self, *parts: Any) -> str:
        """A keyed code of texts, numbers and bytes, each with its kind and length, so that nothing runs together."""
        code = hmac.new(self.secret, b"shoal ledger", "sha256")
        for part in parts:
            content = part if isinstance(part, bytes) else json.dumps(part).encode()
            code.update(f"{type(part).__name__} {len(content)} ".encode() + content)
        return code.hexdigest()

    def _codes(self, table: str) -> list[tuple[int, str, str]]:
        """The number of each entry of a table, the code that it should have, and the one that it has."""
        found: list[tuple[int, str, str]] = []
        for *content, held in self.database.execute(f"SELECT {ENTRIES[table]}, code FROM {table} ORDER BY number"):
            found.append((content[0], self._code(table, found[-1][1] if found else "", *content), held))
        return found

    def _seal(self, codes: Mapping[str, list[tuple[int, str, str]]]) -> str:
        ends = [(table, len(entries), entries[-1][1] if entries else "") for table, entries in codes.items()]
        facts = self.database.execute("SELECT name, value FROM facts WHERE name <> ? ORDER BY name", (SEAL,)).fetchall()
        return self._code("seal", ends, facts)

    def faults(self) -> list[str]:
        """What is not as it was entered."""
        codes = {table: self._codes(table) for table in ENTRIES}
        for table, entries in codes.items():
            what = table.removesuffix("s")
            for place, (number, code, held) in enumerate(entries, start=1):
                if number != place:
                    return [f"{what} {place} is missing"]
                if not hmac.compare_digest(code, held):
                    return [f"{what} {number} was changed"]
        found = self.database.execute("SELECT value FROM facts WHERE name = ?", (SEAL,)).fetchone()
        if found is None or not hmac.compare_digest(self._seal(codes), found[0]):
            return ["the last entries are missing, or how people are told apart was changed"]
        return []

    def close(self) -> None:
        """Writes the codes of entries that changed, and the seal."""
        codes = {table: self._codes(table) for table in ENTRIES}
        for table, entries in codes.items():
            changed = [(code, number) for number, code, held in entries if code != held]
            self.database.executemany(f"UPDATE {table} SET code = ? WHERE number = ?", changed)
        self.database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (SEAL, self._seal(codes)))


def _secret(path: Path) -> bytes:
    """The key in a file."""
    return int(path.read_text(encoding="ascii").strip(), 16).to_bytes(KEY_BYTES, "big")


@contextmanager
def _waiting(path: Path) -> Iterator[None]:
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


def _first(made: Path, target: Path) -> None:
    """Puts a new file in its place, unless somebody else was faster."""
    try:
        target.hardlink_to(made)
    except FileExistsError:
        pass
    except OSError:  # some file systems have no links
        if not target.exists():
            made.replace(target)


def packed(seen: LocatedRelease) -> bytes:
    """Who is where in a release and what was published of it, in the order of the hashes, which tells nothing."""
    order = np.lexsort([*([] if seen.records is None else [seen.records]), seen.ids])
    arrays: dict[str, Any] = {"ids": seen.ids[order], "groups": seen.groups[order]}
    if seen.classes is not None and seen.classes is not seen.groups:
        arrays["classes"] = seen.classes[order]
    if seen.records is not None:
        arrays["records"] = seen.records[order]
    for at, spread in enumerate(seen.values.values()):
        arrays |= {f"owners{at}": spread.owners, f"values{at}": spread.values, f"counts{at}": spread.counts}
    stated = {
        "linking": seen.linking, "shown": seen.shown, "several": seen.several, "promise": vars(seen.promise),
        "identity": seen.classes is not None, "texts": {name: each.texts for name, each in seen.values.items()},
    }  # fmt: skip
    arrays["stated"] = np.frombuffer(json.dumps(stated).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def unpacked(content: bytes, name: str) -> LocatedRelease:
    """What `packed` made, under another name."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        stated = json.loads(held["stated"].tobytes())
        values = {
            column: PublishedValues(tuple(texts), held[f"owners{at}"], held[f"values{at}"], held[f"counts{at}"])
            for at, (column, texts) in enumerate(stated["texts"].items())
        }
        groups = held["groups"]
        records = held["records"] if stated["several"] else None
        classes = held["classes"] if "classes" in held else groups if stated["identity"] else None
        return LocatedRelease(
            name=name, ids=held["ids"], records=records, classes=classes, groups=groups,
            values=values, linking=tuple(stated["linking"]), shown=tuple(stated["shown"]),
            promise=Promise(**stated["promise"]), several=stated["several"],
        )  # fmt: skip
