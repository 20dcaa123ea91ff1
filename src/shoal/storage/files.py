"""Writing files so that whatever goes wrong, a kill too, leaves the old ones as they were.

New files are written into a hidden folder beside their targets. Before the first of them takes its place, what stands
there is kept in that folder as well, and a mark in the user's own folder says so; once the mark says no more, the new
files are valid. The old files are put back by the process itself when something fails, and by the next one that writes
there when it was killed. Whoever only reads says that a write was interrupted, and changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from shoal.errors import InputError, OutputError
from shoal.notices import tell
from shoal.storage.private import PrivateFolder, flush, is_ours
from shoal.storage.write_marks import Mark, Placing, interrupted, left_behind, own_names

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


def check_inside(*paths: Path) -> None:
    """Refuses what a release must not have: links that lead out of its folder, and pipes, which nobody ever fills.
    A folder that somebody sent is read, and no path in it is followed to a place outside."""
    for path in paths:
        folder = path.parent.resolve()
        for each in (path, *(path.rglob("*") if path.is_dir() else ())):
            try:
                place = each.resolve(strict=True)
            except (OSError, RuntimeError):
                continue  # whoever opens it says that it is not there
            if not place.is_relative_to(folder):
                raise InputError(
                    f"{each.name}: this is a link that leads out of the folder of the release, so it is not followed; "
                    "name the file that it leads to, or copy that here"
                )
            if not place.is_file() and not place.is_dir():
                raise InputError(f"{each.name}: this is no file, but a device or a pipe")


def received(source: Any) -> Any:
    """A source as it is; where it says so, what comes from the standard input, as a file that can be read twice."""
    if not isinstance(source, (str, Path)) or str(source) != STANDARD:
        return source
    return _standard_input().path / "stdin"


@cache
def _standard_input() -> PrivateFolder:
    """A folder with a copy of the standard input. It is wiped when the process ends; after a kill, by the next one."""
    folder = PrivateFolder()
    try:
        with (folder.path / "stdin").open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    except OSError as error:
        folder.wipe()
        raise InputError(
            f"the standard input cannot be kept in the temporary folder ({error.strerror}); set TMPDIR to one with "
            "more room, or name a file"
        ) from None
    return folder


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


def recover(folder: Path | None = None) -> list[Path]:
    """Puts back what killed processes of this user were about to replace in a folder, or anywhere, and removes what
    they left there. Gives the files that the writes were about.

    Whoever writes into a folder calls this first. It follows the marks in the user's own folder alone: what a live
    process is writing, and what lies in the folder without such a mark, is left alone.
    """
    there = None if folder is None else folder.resolve()
    found: list[Path] = []
    try:
        for mark in left_behind():
            exchange = _Exchange(mark.targets, mark.name, mark, mark.placings)
            if there is None or there in exchange.parents:
                exchange.undo()
                found += mark.targets
            elif mark.placings is None and not any(parent.exists() for parent in exchange.parents):
                mark.remove()  # the folder is gone, with all that was written there
    except OSError as error:
        raise OutputError(
            "a run that was stopped left its files half replaced, and the old ones cannot be put back "
            f"({error.strerror or type(error).__name__}); try again where writing is allowed"
        ) from None
    return found


def check_whole(*paths: Path) -> None:
    """Refuses files of which a killed process of this user may have replaced some and not the others. Nothing is
    changed: whoever reads a folder leaves it as it is."""
    mark = interrupted(*paths)
    if mark is not None:
        raise InputError(
            f"{paths[0].name}: a run was stopped while its files took their places here, so these may be of two runs. "
            f"To put the earlier files back: shoal recover {shlex.quote(str(mark.targets[0].parent))}; the next run "
            "that writes here does it too"
        )
    left = {path.name for path in paths[0].parent.glob(HIDDEN + "[0-9a-f]" * DIGITS)} - own_names()
    if left:
        tell(
            f"beside {paths[0].name} lies {min(left)}: somebody else writes there now, or was stopped when they did. "
            "It is left alone; if the release does not verify, ask for it again"
        )


@dataclass
class _Exchange:
    """Targets, and beside each a hidden folder of one name, with the new file and the old one. The `placings` say how
    each takes its place, while they do. The mark keeps that in the user's own folder; where there is none, nobody can
    put things right after a kill."""

    targets: tuple[Path, ...]
    name: str
    mark: Mark | None
    placings: Sequence[Placing] | None = None

    @property
    def parents(self) -> list[Path]:
        return list(dict.fromkeys(target.parent for target in self.targets))

    @property
    def news(self) -> tuple[Path, ...]:
        return tuple(target.parent / self.name / "new" / target.name for target in self.targets)

    @property
    def _olds(self) -> tuple[Path, ...]:
        return tuple(target.parent / self.name / "old" / target.name for target in self.targets)

    def prepare(self) -> None:
        """Makes the hidden folders."""
        for parent in self.parents:
            (parent / self.name).mkdir(mode=0o700)
            for name in ("new", "old"):
                (parent / self.name / name).mkdir()

    def carry_out(self) -> None:
        """Puts all new files in their places; until all are there, `undo` brings the old ones back."""
        fresh = [not _there(target) for target in self.targets]
        for new, old, target, is_fresh in zip(self.news, self._olds, self.targets, fresh, strict=True):
            if not is_fresh:
                if target.exists():
                    shutil.copymode(target, new)
                if not _is_folder(target):  # a folder is moved away when its turn comes
                    _keep(target, old)
            flush_all(new)
        for parent in self.parents:
            for inner in ("new", "old", ""):
                flush(parent / self.name / inner)
        self._note(
            [
                Placing(is_fresh, _identity(new), _identity(new.parents[1]))
                for new, is_fresh in zip(self.news, fresh, strict=True)
            ]
        )
        for new, old, target in zip(self.news, self._olds, self.targets, strict=True):
            if _is_folder(target):
                target.replace(old)
            new.replace(target)
        for parent in self.parents:
            flush(parent)
        self._note(None)  # from here on the new files are valid

    def _note(self, placings: Sequence[Placing] | None) -> None:
        if self.mark is not None:
            self.mark.keep(placings)
        self.placings = placings

    def undo(self) -> None:
        """Brings the old files back where the new ones are not valid, and removes the hidden folders and the mark."""
        if self.placings is not None:
            self._put_back(self.placings)
            self._note(None)
        for parent in self.parents:
            hidden = parent / self.name
            if _there(hidden) and is_ours(hidden):
                shutil.rmtree(hidden, ignore_errors=True)
        if self.mark is not None:
            self.mark.remove()

    def _put_back(self, placings: Sequence[Placing]) -> None:
        """Brings old files back: those whose hidden folder is the one that was made for them, in the place of new ones
        that nobody has replaced since."""
        for new, old, target, placing in zip(self.news, self._olds, self.targets, placings, strict=True):
            if _identity(new.parents[1]) != placing.hidden:
                continue
            if _there(new):  # its turn had not come; a folder may have been moved away
                if _is_folder(old) and not _there(target):
                    old.replace(target)
            elif _identity(target) == placing.new or not _there(target):
                if _is_folder(target):
                    shutil.rmtree(target)
                if _there(old):
                    old.replace(target)
                elif placing.fresh and _there(target):
                    target.unlink()


@contextmanager
def _exchange(paths: Sequence[Path]) -> Iterator[_Exchange]:
    """An exchange to carry out; when it was not, or not to its end, everything is as it was before."""
    targets = tuple(path.parent.resolve() / path.name for path in paths)
    name = HIDDEN + secrets.token_hex(DIGITS // 2)
    try:
        mark = Mark.made(name, targets)
    except OSError as error:
        mark = None
        if len(targets) > 1:
            tell(
                "Shoal's own folder cannot be used, which is $XDG_STATE_HOME/shoal or ~/.local/state/shoal "
                f"({error.strerror or type(error).__name__}). Files still take their places together; but when a run "
                "is killed in that moment, nobody can put it right, and the files may then be of two runs"
            )
    exchange = _Exchange(targets, name, mark)
    try:
        exchange.prepare()
        yield exchange
    finally:
        try:
            exchange.undo()
        finally:
            if mark is not None:
                mark.release()


def _there(path: Path) -> bool:
    """Whether there is anything at a path, be it a link that leads nowhere."""
    return os.path.lexists(path)


def _is_folder(path: Path) -> bool:
    """Whether there is a folder at a path, and not a link to one."""
    return path.is_dir() and not path.is_symlink()


def _identity(path: Path) -> tuple[int, int]:
    """What tells a file or folder from any other that lies at the same path later; zeros where there is none."""
    try:
        status = path.lstat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _keep(path: Path, kept: Path) -> None:
    """Keeps a file, or a link as such, whatever becomes of the path."""
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:  # some file systems have no links
        shutil.copy2(path, kept, follow_symlinks=False)
        if not kept.is_symlink():
            flush(kept)


def flush_all(path: Path) -> None:
    """Makes sure that a file, or a folder with all that is in it, survives a loss of power."""
    for inner in (*sorted(path.iterdir()), path) if path.is_dir() else (path,):
        flush(inner)


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
