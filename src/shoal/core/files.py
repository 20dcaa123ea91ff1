"""Writing files so that whatever goes wrong, a kill too, leaves the old ones as they were.

New files are written into a hidden folder beside their targets. Before the first of them takes its place, what stands
there is kept in that folder as well and a mark is set; removing the mark makes the new files valid. Whoever finds the
mark puts the old files back: the process itself when something fails, the next one when it was killed. The hidden
folder is locked while its process lives.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from shoal.errors import OutputError

HIDDEN, DIGITS = ".shoal-", 16
"""How the names of hidden folders begin, and how many hexadecimal digits follow."""

STANDARD = "-"
"""Stands for the standard input in the place of a file that is read, for the standard output where one is written."""
_WILD = re.compile(r"[*?\[]")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+")
_PASSWORD = re.compile(r"(?<=:/)(/*[^:@/]*):[^/]*@")
"""What stands between a user's name and a server in an address."""

PIECE = re.compile(r"part-\d{5}\.parquet")
"""The files of a release that is a folder. They are numbered: a name says nothing about what is in a file."""


def shown(place: Any) -> str:
    """A path or an address as it may be printed and logged: without the password that an address may hold.

    Example:
        >>> shown("postgres://clerk:secret@server/base::people")
        'postgres://clerk@server/base::people'
    """
    return _PASSWORD.sub(r"\1@", str(place))


def address(path: str | Path) -> str | None:
    """The address of a table on a server, of whose slashes a path keeps one; None of the path of a file.

    Example:
        >>> address(Path("postgres://clerk@server/base::people")), address("folder/base.duckdb::people")
        ('postgres://clerk@server/base::people', None)
    """
    found = _ADDRESS.match(str(path))
    return None if found is None else f"{found[1]}://{str(path)[found.end() :]}"


def in_folder(path: Path) -> bool:
    """Whether a release at a path is a folder of Parquet files: where the name has no ending."""
    return not path.suffix


def piece(folder: Path, number: int) -> Path:
    """The file of such a number in a release that is a folder."""
    return folder / f"part-{number:05d}.parquet"


def files_at(path: Path) -> list[Path]:
    """The files that a path stands for: the Parquet files in a folder, what fits a pattern, or the one file."""
    if path.is_dir():
        return sorted(path.rglob("*.parquet"))
    if _WILD.search(path.name) and not path.exists():
        return sorted(path.parent.glob(path.name))
    return [path]


def received(source: Any) -> Any:
    """A source as it is; where it says so, what comes from the standard input, as a file that can be read twice."""
    return _standard_input() if isinstance(source, (str, Path)) and str(source) == STANDARD else source


@cache
def _standard_input() -> Path:
    """A private copy of the standard input, which is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with (folder / "stdin").open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return folder / "stdin"


def check_target(path: Path) -> None:
    """Refuses, before any work is done, a place where nothing can be written."""
    try:
        there = path.exists()
    except OSError as error:
        raise OutputError(f"{path.name}: this cannot be the name of a file ({error.strerror})") from None
    if path.is_dir() and not (in_folder(path) and all(PIECE.fullmatch(each.name) for each in path.iterdir())):
        raise OutputError(f"{path.name}: this is a folder with other files in it; name a file, or a folder of its own")
    if there and not path.is_file() and not path.is_dir():
        raise OutputError(f"{path.name}: this is a device or a pipe; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path.name}: its folder does not exist")
    if not os.access(path.parent, os.W_OK) or (there and not os.access(path, os.W_OK)):
        raise OutputError(f"{path.name}: no permission to write there")


def check_outputs(outputs: Sequence[Path], inputs: Iterable[Path] = ()) -> None:
    """Refuses, before any work is done, outputs that cannot be written, meet in one file, or overwrite an input."""
    for path in outputs:
        check_target(path)
    for one, other in combinations(outputs, 2):
        if _same(one, other):
            raise OutputError(f"{one.name} and {other.name} are the same file; each output needs a file of its own")
    read = [path for path in inputs if path.exists()]
    for path in outputs:
        if path.exists() and any(path.samefile(place) for source in read for place in (source, *source.parents[:-1])):
            raise OutputError(f"{path.name}: this would overwrite a file that is read; name another one")


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, which need not exist; some disks do not tell upper from lower case."""
    if one.exists() and other.exists() and one.samefile(other):
        return True
    alike = one.resolve().name.casefold() == other.resolve().name.casefold()
    return alike and one.resolve().parent.samefile(other.resolve().parent)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside the target to write to; it takes the target's place only when all went well."""
    with replacing_all(path) as (beside,):
        yield beside


@contextmanager
def replacing_all(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Files beside their targets to write to; they take the targets' places together, or none of them does.

    Each has the name of its target, so that its ending says what it is.
    """
    check_outputs(paths)
    names = " and ".join(path.name for path in paths)
    try:
        for folder in {path.parent for path in paths}:
            recover(folder)
        with _exchange(paths) as exchange:
            yield exchange.news
            exchange.carry_out()
    except OSError as error:
        raise OutputError(f"{names}: could not be written ({error.strerror or type(error).__name__})") from None


def recover(folder: Path) -> None:
    """Puts back what a killed process was about to replace in a folder, and removes what it left there.

    Whoever writes into a folder, or reads files from it that belong together, calls this first. What a live process is
    writing is left alone.
    """
    try:
        for hidden in sorted(folder.resolve().glob(HIDDEN + "[0-9a-f]" * DIGITS)):
            _recover(hidden)
    except OSError as error:
        raise OutputError(
            "a run that was stopped left its files half replaced, and the old ones cannot be put back "
            f"({error.strerror or type(error).__name__}); try again where writing is allowed"
        ) from None


def _recover(hidden: Path) -> None:
    lock = locked(hidden, wait=False)
    if lock is None:
        return
    try:
        if os.fstat(lock).st_uid != os.geteuid():  # nobody else says which of our files are put back or removed
            return
        exchange = _Exchange.read(hidden)
        if exchange is None or not exchange.home.exists():
            shutil.rmtree(hidden, ignore_errors=True)
        elif exchange.home != hidden:
            _recover(exchange.home)
        else:
            exchange.undo()
    finally:
        os.close(lock)


@dataclass(frozen=True)
class _Exchange:
    """Targets, and beside each a hidden folder of one name. That of the first target, `home`, has the mark.

    Each hidden folder has the plan, so that whoever finds one finds all; `home` is there before and after the others.
    """

    targets: tuple[Path, ...]
    name: str

    @classmethod
    def read(cls, hidden: Path) -> _Exchange | None:
        """The exchange that a hidden folder is part of; None when its process came to no writing."""
        try:
            return cls(tuple(map(Path, json.loads((hidden / "plan.json").read_bytes()))), hidden.name)
        except (OSError, ValueError):
            return None

    @property
    def folders(self) -> list[Path]:
        return list(dict.fromkeys(target.parent / self.name for target in self.targets))

    @property
    def home(self) -> Path:
        return self.folders[0]

    @property
    def _mark(self) -> Path:
        return self.home / "exchanging.json"

    @property
    def news(self) -> tuple[Path, ...]:
        return tuple(target.parent / self.name / "new" / target.name for target in self.targets)

    @property
    def _olds(self) -> tuple[Path, ...]:
        return tuple(target.parent / self.name / "old" / target.name for target in self.targets)

    def prepare(self, locks: list[int]) -> None:
        """Makes the hidden folders and adds their locks to the others."""
        plan = json.dumps(list(map(str, self.targets)))
        for folder in self.folders:
            while not folder.exists():  # somebody may take it for an abandoned one before it is locked
                folder.mkdir(mode=0o700)
                lock = locked(folder, wait=True)
                if lock is not None:
                    locks.append(lock)
            (folder / "plan.json").write_text(plan, encoding="utf-8")
            for name in ("new", "old"):
                (folder / name).mkdir()

    def carry_out(self) -> None:
        """Puts all new files in their places; until the mark is removed, `undo` brings the old ones back."""
        fresh = [place for place, target in enumerate(self.targets) if not target.exists()]
        for place, (new, old, target) in enumerate(zip(self.news, self._olds, self.targets, strict=True)):
            if place not in fresh:
                shutil.copymode(target, new)
                if not target.is_dir():  # a folder is moved away when its turn comes
                    _keep(target, old)
            flush_all(new)
        for folder in self.folders:
            for inner in (folder / "new", folder / "old", folder):
                flush(inner)
        written = self.home / "mark.json"
        written.write_text(json.dumps(fresh), encoding="utf-8")
        flush(written)
        written.replace(self._mark)
        flush(self.home)
        for new, old, target in zip(self.news, self._olds, self.targets, strict=True):
            if target.is_dir():
                target.replace(old)
            new.replace(target)
        for folder in {target.parent for target in self.targets}:
            flush(folder)
        self._mark.unlink()

    def undo(self) -> None:
        """Brings the old files back where the new ones are not valid, and removes the hidden folders."""
        if self._mark.exists():
            fresh = json.loads(self._mark.read_bytes())
            for place, (new, old, target) in enumerate(zip(self.news, self._olds, self.targets, strict=True)):
                if old.is_dir():
                    if not new.exists():
                        _remove(target)
                    old.replace(target)
                elif new.exists():
                    continue
                elif old.exists():
                    old.replace(target)
                elif place in fresh:
                    _remove(target)
            self._mark.unlink()
        for folder in reversed(self.folders):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _exchange(paths: Sequence[Path]) -> Iterator[_Exchange]:
    """An exchange to carry out; when it was not, or not to its end, everything is as it was before."""
    targets = tuple(path.parent.resolve() / path.name for path in paths)
    exchange = _Exchange(targets, HIDDEN + secrets.token_hex(DIGITS // 2))
    locks: list[int] = []
    try:
        exchange.prepare(locks)
        yield exchange
    finally:
        try:
            exchange.undo()
        finally:
            for lock in locks:
                os.close(lock)


def locked(folder: Path, *, wait: bool) -> int | None:
    """A lock on a folder, held until it is closed or the process ends.

    None where somebody else holds it, and where there are no locks: then nobody can tell that a process ended, and
    what it left stays.
    """
    try:
        import fcntl

        lock = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(lock)
        return None
    return lock


def _keep(path: Path, kept: Path) -> None:
    try:
        kept.hardlink_to(path)
    except OSError:  # some file systems have no links
        shutil.copy2(path, kept)
        flush(kept)


def _remove(path: Path) -> None:
    """Removes a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def flush_all(path: Path) -> None:
    """Makes sure that a file, or a folder with all that is in it, survives a loss of power."""
    for inner in (*sorted(path.iterdir()), path) if path.is_dir() else (path,):
        flush(inner)


def flush(path: Path) -> None:
    """Makes sure that a file or a folder survives a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError) if path.is_dir() else nullcontext():  # some file systems cannot do that for folders
            os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """The hash of a file's bytes; of a folder, that of what `sha256sum part-*.parquet` prints there."""
    if path.is_dir():
        lines = (f"{sha256(each)}  {each.name}\n" for each in sorted(path.iterdir()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> list[Any]:
    """What tells a file from any other, and from itself after it changed: its name and size, and of Parquet, which may
    be too large to be read once more, the time when it changed and the hash of its footer, which has the places, sizes
    and extremes of all its columns; of any other file the hash of all of it."""
    status = path.stat()
    with path.open("rb") as file:
        file.seek(-min(status.st_size, 8), os.SEEK_END)
        length, kind = file.read(4), file.read(4)
        footer = int.from_bytes(length, "little") + 8
        if kind != b"PAR1" or footer > status.st_size:
            return [path.name, status.st_size, sha256(path)]
        file.seek(-footer, os.SEEK_END)
        return [path.name, status.st_size, status.st_mtime_ns, hashlib.sha256(file.read()).hexdigest()]
