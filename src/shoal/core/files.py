"""Writing files so that whatever goes wrong leaves the old ones as they were."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import OutputError


def check_target(path: Path) -> None:
    """Refuses, before any work is done, a place where nothing can be written."""
    if path.is_dir():
        raise OutputError(f"{path.name}: this is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path.name}: its folder does not exist")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise OutputError(f"{path.name}: no permission to write there")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside the target to write to; it takes the target's place only when all went well."""
    check_target(path)
    beside = path.with_name(f".{secrets.token_hex(6)}-{path.name}")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise OutputError(f"{path.name}: could not be written ({error.strerror or type(error).__name__})") from None
    finally:
        beside.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
