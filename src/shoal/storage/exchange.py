"""An exchange of files: new ones take the places of old ones together, and until they do the old ones can come back."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.notices import tell
from shoal.storage.private import EVERYBODY_ELSE, flush, is_ours
from shoal.storage.write_marks import Mark, Placing

HIDDEN, DIGITS = ".shoal-", 16
"""How the names of hidden folders begin, and how many hexadecimal digits follow."""


@dataclass
class Exchange:
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
                if target.exists() and new.stat().st_mode & EVERYBODY_ELSE:  # what is its owner's alone stays so
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
def exchanging(paths: Sequence[Path]) -> Iterator[Exchange]:
    """An exchange to carry out; when it was not, or not to its end, everything is as it was before."""
    targets = tuple(path.parent.resolve() / path.name for path in paths)
    name = HIDDEN + secrets.token_hex(DIGITS // 2)
    try:
        mark = Mark.create(name, targets)
    except OSError as error:
        mark = None
        if len(targets) > 1:
            tell(
                "Shoal's own folder cannot be used, which is $XDG_STATE_HOME/shoal or ~/.local/state/shoal "
                f"({error.strerror or type(error).__name__}). Files still take their places together; but when a run "
                "is killed in that moment, nobody can put it right, and the files may then be of two runs"
            )
    exchange = Exchange(targets, name, mark)
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


def _keep(path: Path, copy: Path) -> None:
    """Keeps a file, or a link as such, whatever becomes of the path."""
    try:
        os.link(path, copy, follow_symlinks=False)
    except OSError:  # some file systems have no links
        shutil.copy2(path, copy, follow_symlinks=False)
        if not copy.is_symlink():
            flush(copy)


def flush_all(path: Path) -> None:
    """Makes sure that a file, or a folder with all that is in it, survives a loss of power."""
    for inner in (*sorted(path.iterdir()), path) if path.is_dir() else (path,):
        flush(inner)
