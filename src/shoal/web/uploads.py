"""Tables that somebody brings: they lie in a private folder, which is wiped when the server stops."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

from shoal import samples
from shoal.errors import InputError
from shoal.web.packages import file_name
from shoal.web.session import PageSession

LARGEST = 4 << 30
"""Bytes of a table that is brought through the browser."""


def check_length(stated: str | None) -> None:
    """Refuses, before it is received, what is too large or does not say how large it is."""
    if stated is None or not stated.isdigit():
        raise InputError("the browser did not say how large the file is; try another browser")
    if int(stated) > LARGEST:
        raise InputError(
            f"the file is larger than {LARGEST >> 30} GB, which is too much to send through a browser; "
            "start the page with it instead: shoal serve FILE"
        )


def open_table(session: PageSession, name: str, file: IO[bytes]) -> None:
    """Takes a table that was sent."""
    session.open(_store(session, name, file), uploaded=True)


def open_register(session: PageSession, name: str, file: IO[bytes]) -> None:
    """Takes a register that an attacker might have."""
    session.give_attacker(_store(session, name, file))


def _store(session: PageSession, name: str, file: IO[bytes]) -> Path:
    """A copy of what was sent. Its name says the format, so it is kept as far as it is harmless."""
    safe = file_name(Path(name.replace("\\", "/")).name)
    place = Path(mkdtemp(prefix="table-", dir=session.folder)) / safe
    try:
        with place.open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
    except OSError:
        shutil.rmtree(place.parent, ignore_errors=True)
        raise
    return place


def open_sample(session: PageSession, form: object = None) -> None:
    """Takes the sample table, with its hierarchies."""
    place = Path(mkdtemp(prefix="table-", dir=session.folder)) / "adult.csv"
    samples.adult.write_csv(place)
    session.open(place, uploaded=True, hierarchies=samples.hierarchies("adult"))
