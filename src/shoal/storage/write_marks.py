"""Marks of writes: which files a process is about to replace, noted in the user's own folder.

After a kill, the next writer puts right what such a mark says. Nothing that lies beside the files is asked: whoever
sent a folder could have put it there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shoal.storage.private import flush, is_at, is_ours, locked, make_locked, state_folder

FORMAT = 1
FOLDER = "writes"


@dataclass(frozen=True)
class Placing:
    """How a file takes its place: whether nothing was there before, and what tells the new file and the hidden folder
    that holds the old one from any others."""

    fresh: bool
    new: tuple[int, int]
    hidden: tuple[int, int]


@dataclass
class Mark:
    """What a process writes: its `targets`, the name of the hidden folder beside each of them, and, while they are
    exchanged, how each takes its place. Its file is replaced as a whole."""

    path: Path
    targets: tuple[Path, ...]
    placings: tuple[Placing, ...] | None = None
    lock: int | None = None

    @property
    def name(self) -> str:
        """The name of the hidden folders."""
        return self.path.stem

    @property
    def lock_path(self) -> Path:
        """What is locked while the process lives."""
        return self.path.with_suffix(".lock")

    @classmethod
    def create(cls, name: str, targets: Sequence[Path]) -> Mark:
        """The mark of a write that begins. Raises `OSError` where none can be kept."""
        folder = state_folder() / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        mark = cls(folder / f"{name}.json", tuple(targets))
        _, mark.lock = make_locked(mark._lock_file)
        try:
            mark.keep(None)
        except OSError:
            mark.remove()
            raise
        return mark

    def _lock_file(self) -> Path:
        os.close(os.open(self.lock_path, os.O_RDWR | os.O_CREAT, 0o600))
        return self.lock_path

    def keep(self, placings: Sequence[Placing] | None) -> None:
        """Notes how the files take their places; None before they do and once they have."""
        targets = [[str(target.parent), target.name] for target in self.targets]
        stated = None if placings is None else [asdict(each) for each in placings]
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps({"format": FORMAT, "targets": targets, "placings": stated}), encoding="utf-8")
        flush(beside)
        beside.replace(self.path)
        flush(self.path.parent)
        self.placings = None if placings is None else tuple(placings)

    def remove(self) -> None:
        """Removes the mark: nothing of the write is left."""
        for path in (self.path.with_suffix(".new"), self.path, self.lock_path):
            path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Lets go of the mark, for whoever goes on."""
        lock, self.lock = self.lock, None
        if lock is not None:
            os.close(lock)


def left_behind() -> Iterator[Mark]:
    """The marks of processes that ended without removing them, each locked until the next one is asked for."""
    for path in _listed(".lock"):
        lock = locked(path, wait=False)
        if lock is None:
            continue  # its process lives
        there = is_at(lock, path)
        noted = _read(path.with_suffix(".json")) if there else None
        mark = replace(noted or Mark(path.with_suffix(".json"), ()), lock=lock)
        try:
            if noted is not None:
                yield mark
            elif there:
                mark.remove()  # it ended before it had noted anything
        finally:
            mark.release()


def interrupted(*paths: Path) -> Mark | None:
    """The mark of a process that ended while one of these files took its place; None where there is none."""
    wanted = {path.parent.resolve() / path.name for path in paths}
    for path in _listed(".json"):
        mark = _read(path)
        if mark is not None and mark.placings is not None and wanted & set(mark.targets):
            lock = locked(mark.lock_path, wait=False)
            if lock is not None:
                os.close(lock)
                return mark
    return None


def own_names() -> set[str]:
    """The names of the hidden folders of this user's writes."""
    return {path.stem for path in _listed(".json")}


def _listed(ending: str) -> list[Path]:
    try:
        folder = state_folder(make=False) / FOLDER
        return sorted(folder.glob(f"*{ending}")) if is_ours(folder) else []
    except OSError:
        return []


def _read(path: Path) -> Mark | None:
    """A mark from its file; None where the file is none, or is gone."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        stated: dict[str, Any] = json.loads(path.read_bytes())
        pairs, placings = stated["targets"], stated["placings"]
        targets = tuple(Path(folder) / name for folder, name in pairs)
        plain = all(
            target.is_absolute() and target.name == name for target, (_, name) in zip(targets, pairs, strict=True)
        )
        if stated["format"] != FORMAT or not plain or not is_ours(path) or path.is_symlink():
            return None
        if placings is not None:
            placings = tuple(Placing(each["fresh"], tuple(each["new"]), tuple(each["hidden"])) for each in placings)
        return Mark(path, targets, placings)
    return None
