"""Folders that are the user's alone: one for what Shoal notes between runs, and temporary ones for raw values.

Nobody else can write to them, and no archive brings one when it is unpacked, so what lies there is believed.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

PREFIX = "shoal-private-"
"""How the names of temporary folders begin."""
OTHERS = 0o022
"""Permissions to write for anybody else."""
EVERYBODY_ELSE = 0o077
"""All permissions of anybody else."""


def state_folder(*, make: bool = True) -> Path:
    """The folder for what one run notes and a later one believes: `$XDG_STATE_HOME/shoal`, by default
    `~/.local/state/shoal`. Raises `OSError` where it is not there, cannot be made, or is not the user's alone."""
    given = os.environ.get("XDG_STATE_HOME" if os.name != "nt" else "LOCALAPPDATA", "")
    try:
        base = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        raise FileNotFoundError(errno.ENOENT, "the user has no home folder") from None
    folder = base / "shoal"
    if make and not folder.exists():
        there = next(path for path in folder.parents if path.exists())
        if not is_ours(there):  # the home of somebody else, whose rights we have
            raise PermissionError(errno.EPERM, "it would lie in a folder of somebody else")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or not is_ours(folder) or (os.name != "nt" and status.st_mode & OTHERS):
        raise PermissionError(errno.EPERM, "it is not a folder to which only the user can write")
    return folder


def write_private(path: Path, text: str) -> None:
    """Writes a new file that only its owner can read, from the first byte on."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def is_ours(path: Path) -> bool:
    """Whether a file or folder itself, not what a link leads to, belongs to whoever runs this process."""
    return not hasattr(os, "geteuid") or path.lstat().st_uid == os.geteuid()


def locked(path: Path, *, wait: bool) -> int | None:
    """A lock on a file or a folder, held until it is closed or the process ends.

    None where somebody else holds it, and where there are no locks: then nobody can tell that a process ended, and
    what it left stays.
    """
    try:
        import fcntl

        lock = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # network disks lock no file to read
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(lock)
        return None
    return lock


def is_at(lock: int, path: Path) -> bool:
    """Whether a lock is on what lies at a path now: somebody may have removed it before it was locked."""
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except OSError:
        return False


def make_locked(make: Callable[[], Path]) -> tuple[Path, int | None]:
    """What `make` makes, and a lock on it, which is None where there are no locks.

    It is made again when, before it was locked, another process took it for one that was left behind and removed it.
    """
    while True:
        path = make()
        lock = locked(path, wait=True)
        if path.exists() if lock is None else is_at(lock, path):
            return path, lock
        if lock is not None:
            os.close(lock)


def flush(path: Path) -> None:
    """Makes sure that a file or a folder survives a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError) if path.is_dir() else nullcontext():  # some file systems cannot do that for folders
            os.fsync(handle)
    finally:
        os.close(handle)


class PrivateFolder:
    """A temporary folder that only its owner can read. It is wiped at the end of the process at the latest; what a
    killed process left is wiped by the next one that makes such a folder.

    Example:
        >>> folder = PrivateFolder()
        >>> folder.path.is_dir()
        True
        >>> folder.wipe()
        >>> folder.path.exists()
        False
    """

    def __init__(self, parent: Path | None = None) -> None:
        wipe_left_behind(parent)
        self.path, lock = make_locked(lambda: Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)))
        self._wipe = weakref.finalize(self, _wiped, self.path, lock, os.getpid())

    def wipe(self) -> None:
        self._wipe()


def _wiped(folder: Path, lock: int | None, process: int) -> None:
    if os.getpid() == process:  # and not one that was forked from it
        shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def wipe_left_behind(parent: Path | None = None) -> None:
    """Removes the temporary folders of processes that were killed; those of live ones are locked."""
    try:
        folders = sorted(Path(parent or tempfile.gettempdir()).glob(f"{PREFIX}*"))
    except OSError:  # there is no temporary folder
        return
    for left in folders:
        with suppress(OSError):  # it went meanwhile
            lock = locked(left, wait=False) if is_ours(left) and not left.is_symlink() else None
            if lock is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)
