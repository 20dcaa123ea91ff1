"""What lies beside a database does not lead it to other files."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, ShoalError
from shoal.storage.database_files import MAGIC, check_beside

PAGE, SECTOR = 4096, 512
TABLE = pl.DataFrame({"name": [f"p{at}" for at in range(8)], "age": [20, 21, 22, 23] * 2, "ill": [*"abab"] * 2})


def journal(database: Path, named: Path | None) -> None:
    """What a crash leaves in the middle of a transaction; of one over several databases, with a file to remove."""
    pages = database.stat().st_size // PAGE
    content = (MAGIC + struct.pack(">5I", 0, 1, pages, SECTOR, PAGE)).ljust(SECTOR, b"\0")
    if named is not None:
        text = str(named).encode()
        content += struct.pack(">I", (1 << 30) // PAGE + 1) + text + struct.pack(">2I", len(text), sum(text)) + MAGIC
    database.with_name(database.name + "-journal").write_bytes(content)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "secret.csv"
    path.write_text("the only copy")
    return path


def publish(ledger: Path) -> shoal.Release:
    data = shoal.read(TABLE, quasi=["age"], sensitive=["ill"], identifiers=["name"])
    return shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian", ledger=ledger)


def write_ledger(path: Path) -> None:
    publish(path).write(path.with_name("second.csv"))


def list_ledger(path: Path) -> None:
    shoal.Ledger(path).entries()


def write_table(path: Path) -> None:
    data = shoal.read(TABLE, quasi=["age"], sensitive=["ill"], identifiers=["name"], engine="duckdb")
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian")
    release.write(f"{path}::release", manifest=path.with_name("m.json"))


def read_table(path: Path) -> None:
    shoal.read(f"{path}::t", quasi=["age"], engine="duckdb")


WAYS = [write_ledger, list_ledger, write_table, read_table]


def database(folder: Path, way: Callable[[Path], None]) -> Path:
    folder.mkdir()
    if way in (write_ledger, list_ledger):
        path = folder / "people.ledger"
        publish(path).write(folder / "first.csv")
    else:
        path = folder / "tables.sqlite"
        with closing(sqlite3.connect(path)) as made:
            made.execute("CREATE TABLE t (age)")
            made.commit()
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_journal_removes_no_file(way: Callable[[Path], None], tmp_path: Path, victim: Path) -> None:
    path = database(tmp_path / "archive", way)
    journal(path, victim)
    with pytest.raises(InputError, match="leads to another file"):
        way(path)
    assert victim.read_text() == "the only copy"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ending", ["-journal", "-wal"])
def test_a_link_is_not_followed(way: Callable[[Path], None], ending: str, tmp_path: Path, victim: Path) -> None:
    path = database(tmp_path / "archive", way)
    if ending == "-wal":
        with closing(sqlite3.connect(path)) as made:
            made.execute("PRAGMA journal_mode = wal")
    for target in (victim, victim.with_name("fresh")):
        link = path.with_name(path.name + ending)
        link.symlink_to(target)
        with pytest.raises(InputError, match="leads to another file"):
            way(path)
        link.unlink()
    assert victim.read_text() == "the only copy" and not victim.with_name("fresh").exists()


def test_what_a_crash_of_its_own_left_is_gone_on_with(tmp_path: Path) -> None:
    path = database(tmp_path / "archive", write_ledger)
    journal(path, None)
    check_beside(path)
    with pytest.raises(InputError, match=r"interrupted.*puts it right"):
        list_ledger(path)
    write_ledger(path)
    assert len(shoal.Ledger(path).entries()) == 2


def test_a_database_that_is_not_there_yet(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "new.sqlite-journal").symlink_to(victim.with_name("fresh"))
    with pytest.raises(ShoalError, match="leads to another file"):
        write_table(tmp_path / "new.sqlite")
    assert not victim.with_name("fresh").exists()
