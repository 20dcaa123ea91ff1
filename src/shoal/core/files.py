"""Writing files so that whatever goes wrong leaves the old ones as they were."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from shoal.errors import OutputError


def check_target(path: Path) -> None:
    """Refuses, before any work is done, a place where nothing can be written."""
    try:
        there = path.exists()
    except OSError as error:
        raise OutputError(f"{path.name}: this cannot be the name of a file ({error.strerror})") from None
    if path.is_dir():
        raise OutputError(f"{path.name}: this is a folder; name a file")
    if there and not path.is_file():
        raise OutputError(f"{path.name}: this is a device or a pipe; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path.name}: its folder does not exist")
    if not os.access(path.parent, os.W_OK) or (there and not os.access(path, os.W_OK)):
        raise OutputError(f"{path.name}: no permission to write there")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside the target to write to; it takes the target's place only when all went well."""
    with replacing_all(path) as (beside,):
        yield beside


@contextmanager
def replacing_all(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Files beside their targets to write to; they take the targets' places together, or none of them does.

    Each lies in a hidden folder of its own under the target's name, so that its ending says what it is.
    """
    for path in paths:
        check_target(path)
    with ExitStack() as stack:
        try:
            folders = [
                Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=".", dir=path.parent))) for path in paths
            ]
            besides = tuple(folder / path.name for folder, path in zip(folders, paths, strict=True))
            yield besides
            for beside, path in zip(besides, paths, strict=True):
                with beside.open("rb") as file:
                    os.fsync(file.fileno())
                if path.exists():
                    shutil.copymode(path, beside)
            _exchange(besides, paths)
        except OSError as error:
            names = " and ".join(path.name for path in paths)
            raise OutputError(f"{names}: could not be written ({error.strerror or type(error).__name__})") from None


def _exchange(besides: tuple[Path, ...], paths: tuple[Path, ...]) -> None:
    """Puts all files in their places; what stood there comes back when one of them cannot be put."""
    old = [beside.with_name(beside.name + ".old") for beside in besides]
    try:
        for beside, path, kept in zip(besides, paths, old, strict=True):
            if path.exists():
                _keep(path, kept)
            beside.replace(path)
    except BaseException:
        for path, kept, beside in zip(paths, old, besides, strict=True):
            if kept.exists():
                kept.replace(path)
            elif not beside.exists():
                path.unlink(missing_ok=True)
        raise


def _keep(path: Path, kept: Path) -> None:
    try:
        kept.hardlink_to(path)
    except OSError:  # some file systems have no links
        shutil.copy2(path, kept)


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
