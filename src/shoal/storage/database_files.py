"""Files that a database keeps beside its own: what it goes on with after a crash, and would obey whoever wrote them."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import InputError

BESIDE = ("-journal", "-wal", "-shm", ".wal")
"""What SQLite and DuckDB add to the name of their file."""
MAGIC = bytes.fromhex("d9d505f920a163d7")
"""What a journal of SQLite begins with; one that names a file to remove ends with it, too."""


def check_beside(database: Path) -> None:
    """Refuses a database beside which lies what leads to other files: links, and a journal of SQLite that names a file,
    which SQLite would remove. Shoal makes none of them; whoever sent a folder could have put them there.

    Example:
        >>> check_beside(Path("people.ledger"))
    """
    for ending in BESIDE:
        file = database.with_name(database.name + ending)
        if file.is_symlink() or (ending == "-journal" and _names_a_file(file)):
            raise InputError(
                f"{database.name}: {file.name} beside it leads to another file, which the database would change; Shoal "
                "makes no such file, so find out who put it there, and remove it"
            )


def _names_a_file(journal: Path) -> bool:
    """Whether a journal of SQLite is part of a transaction of several databases, by its last bytes."""
    try:
        with journal.open("rb") as file:
            file.seek(-min(len(MAGIC), journal.stat().st_size), 2)
            return file.read() == MAGIC
    except FileNotFoundError:
        return False
