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
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from shoal.errors import ExistingOutputError, InputError, OutputError
from shoal.notices import tell
from shoal.storage.exchange import DIGITS, HIDDEN, Exchange, exchanging
from shoal.storage.private import PrivateFolder
from shoal.storage.write_marks import interrupted, left_behind, own_names

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
    match = _ADDRESS.match(str(path))
    return None if match is None else f"{match[1]}://{str(path)[match.end() :]}"


def names_table(source: Any) -> bool:
    """Whether a path or an address names a table of a database, and not a file.

    Example:
        >>> names_table("base.duckdb::people"), names_table(Path("postgres://clerk@server/base::people"))
        (True, True)
        >>> names_table("people.csv")
        False
    """
    return isinstance(source, (str, os.PathLike)) and "::" in Path(source).name


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


def check_outputs(outputs: Sequence[Path], inputs: Iterable[Path] = (), *, overwrite: bool = True) -> None:
    """Refuses, before any work is done, outputs that cannot be written, meet in one file, overwrite an input, or,
    without `overwrite`, any other file that is there."""
    for path in outputs:
        check_target(path)
    for one, other in combinations(outputs, 2):
        if _same(one, other):
            raise OutputError(f"{one.name} and {other.name} are the same file; each output needs a file of its own")
    read = [path for path in inputs if path.exists()]
    for path in outputs:
        if path.exists() and any(path.samefile(place) for source in read for place in (source, *source.parents[:-1])):
            raise OutputError(f"{path.name}: this would overwrite a file that is read; name another one")
    existing = [] if overwrite else [path.name for path in outputs if os.path.lexists(path)]
    if existing:
        raise ExistingOutputError(existing)


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
        with exchanging(paths) as exchange:
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
    targets: list[Path] = []
    try:
        for mark in left_behind():
            exchange = Exchange(mark.targets, mark.name, mark, mark.placings)
            if there is None or there in exchange.parents:
                exchange.undo()
                targets += mark.targets
            elif mark.placings is None and not any(parent.exists() for parent in exchange.parents):
                mark.remove()  # the folder is gone, with all that was written there
    except OSError as error:
        raise OutputError(
            "a run that was stopped left its files half replaced, and the old ones cannot be put back "
            f"({error.strerror or type(error).__name__}); try again where writing is allowed"
        ) from None
    return targets


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
