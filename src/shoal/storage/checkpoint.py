"""The state of a run: what is done, in a private folder, so that an interrupted run goes on where it was.

The folder belongs to one run: to the table as it lies in its files, the roles and hierarchies of its columns, and the
policy with its algorithm and seed. Whatever else asks for it is refused. What is found there is never trusted to be a
release: a run that goes on is verified as a whole, as any other is.

The folder holds values of the table and the seed. Only its owner can read it, and it is removed with the run's success.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import IO, Any

from shoal.errors import InputError, OutputError
from shoal.storage.files import sha256
from shoal.storage.private import OTHERS, flush, is_ours, locked

FORMAT = 1
HEADER = "state.json"
ANEW = "remove the folder to begin anew, or name another one"

TABLE = "table"
"""What a run is bound to before anything else."""
OTHER = {
    TABLE: "this run was begun on another table, or one of its files changed, or it was read in another way",
    "columns": "this run was begun with other roles or hierarchies",
    "policy": "this run was begun with another policy, algorithm or history, or with other pseudonyms",
}
"""What a state can be bound to, and what is wrong when that differs."""

_PART = re.compile(r"[a-z][a-z0-9-]*\.(npz|arrow)")
_BESIDE = ".new-"
_opened: weakref.WeakValueDictionary[Path, Checkpoint] = weakref.WeakValueDictionary()


class Checkpoint:
    """The parts of a run that are done, each a file that is there as a whole or not at all.

    A part counts once the header names it with its hash: what a killed run left half-written is done again, and a part
    that changed since is refused.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp()) / "state"
        >>> saved = Checkpoint.open(folder)
        >>> saved.bind("table", "patients.parquet", 3)
        >>> with saved.keeping("counts.npz") as file:
        ...     _ = file.write(b"1, 2, 3")
        >>> saved.close()
        >>> again = Checkpoint.open(folder)
        >>> again.part("counts.npz").read_bytes()
        b'1, 2, 3'
        >>> again.bind("table", "others.parquet", 3)
        Traceback (most recent call last):
        ...
        shoal.errors.InputError: state: this run was begun on another table, or one of its files changed, or it was read
        in another way; remove the folder to begin anew, or name another one
        >>> again.remove()
        >>> folder.exists()
        False
    """

    def __init__(self, folder: Path, lock: int, header: dict[str, Any]) -> None:
        self.folder = folder
        self._header = header
        self._writing = RLock()
        self._unlock = weakref.finalize(self, os.close, lock)

    @classmethod
    def open(cls, folder: Path) -> Checkpoint:
        """The state in a folder, which is made where there is none. No other process works with it until it is closed;
        whoever opens it again in this one takes it over."""
        check_folder(folder)
        folder = folder.resolve()
        before = _opened.pop(folder, None)
        if before is not None:
            before.close()
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            folder.chmod(0o700)
        except OSError as error:
            raise OutputError(f"{folder.name}: progress cannot be saved there ({error.strerror})") from None
        lock = locked(folder, wait=False)
        if lock is None:
            raise OutputError(
                f"{folder.name}: another run is using this folder; wait for it to end, or name another folder"
            )
        try:
            for left in folder.glob(f"{_BESIDE}*"):
                left.unlink()
            header = _read(folder / HEADER)
        except BaseException:
            os.close(lock)
            raise
        checkpoint = cls(folder, lock, header)
        _opened[folder] = checkpoint
        return checkpoint

    def bind(self, what: str, *parts: object) -> None:
        """Says what the run is about; refused where it was begun with something else. Parts are bytes, or what JSON
        can spell."""
        digest = hashlib.sha256()
        for part in parts:
            spelled = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True, default=str).encode()
            digest.update(len(spelled).to_bytes(8, "little") + spelled)
        with self._writing:
            if self._header["bound"].setdefault(what, digest.hexdigest()) != digest.hexdigest():
                raise self.other(what)
            self._store()

    def seed(self, given: int | None, draw: Callable[[], int], *, mixed: bool) -> int:
        """The seed of the run: the one that it was begun with, else the one that is made of what is given. Where what
        is given is `mixed` with other randomness, a run goes on only when it was begun so, and with the same."""
        with self._writing:
            known = self._header["seed"]
            if known is not None and given is not None:
                same = known != given == self._header.get("given") if mixed else known == given
                if not same:
                    raise InputError(
                        f"{self.folder.name}: this run was begun with another seed, or as one that can be repeated, "
                        "or not; leave the seed out, or name another folder"
                    )
            if known is None:
                known = self._header["seed"] = draw()
                self._header["given"] = given
            self._store()
            return int(known)

    def part(self, name: str) -> Path | None:
        """The file of a part that is done."""
        known = self._header["parts"].get(name)
        if known is None:
            return None
        path = self.folder / name
        try:
            whole = sha256(path) == known
        except OSError:
            whole = False
        if not whole:
            raise self._refused("a part of the saved progress is damaged or missing")
        return path

    def other(self, what: str) -> InputError:
        """Says that the run was begun with something else."""
        return self._refused(OTHER[what])

    def damaged(self) -> InputError:
        """Says that a part cannot be understood, though it is as it was written."""
        return self._refused("a part of this state cannot be read")

    @contextmanager
    def keeping(self, name: str) -> Iterator[IO[bytes]]:
        """A file to write a part to; it counts when all of it is written."""
        assert _PART.fullmatch(name), name
        with self._beside() as beside:
            with beside.open("wb") as file:
                yield file
            self._take(name, beside)

    @contextmanager
    def _beside(self) -> Iterator[Path]:
        """An empty file of its owner's alone, which takes its place when it is written, or goes."""
        beside = self.folder / f"{_BESIDE}{secrets.token_hex(8)}"
        try:
            os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            yield beside
        except OSError as error:
            raise OutputError(
                f"{self.folder.name}: progress cannot be saved ({error.strerror or type(error).__name__})"
            ) from None
        finally:
            beside.unlink(missing_ok=True)

    def _take(self, name: str, beside: Path) -> None:
        digest = sha256(beside)
        flush(beside)
        with self._writing:
            beside.replace(self.folder / name)
            self._header["parts"][name] = digest
            self._store()

    def drop(self, begins: str) -> None:
        """Forgets parts that are of no use any more, by how their names begin."""
        with self._writing:
            gone = [name for name in self._header["parts"] if name.startswith(begins)]
            for name in gone:
                del self._header["parts"][name]
            if gone:
                self._store()
        for name in gone:
            (self.folder / name).unlink(missing_ok=True)

    def _store(self) -> None:
        if not self._unlock.alive:
            raise OutputError(f"{self.folder.name}: another run in this process has taken over this folder")
        with self._beside() as beside:
            beside.write_text(json.dumps(self._header, indent=1), encoding="utf-8")
            flush(beside)
            beside.replace(self.folder / HEADER)
            flush(self.folder)

    def _refused(self, why: str) -> InputError:
        return InputError(f"{self.folder.name}: {why}; {ANEW}")

    def close(self) -> None:
        """Leaves the state as it is, for whoever goes on."""
        self._unlock()

    def remove(self) -> None:
        """Removes the state: what it was kept for is done."""
        for path in self.folder.iterdir():
            if _ours(path):
                path.unlink(missing_ok=True)
        try:
            self.folder.rmdir()
        except OSError as error:
            raise OutputError(f"{self.folder.name}: the release is written, but this folder stays: look into it and "
                              f"remove it ({error.strerror})") from None  # fmt: skip
        finally:
            self.close()


def check_folder(folder: Path) -> None:
    """Refuses, before any work is done, a place where the state of a run cannot be kept."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise OutputError(f"{folder.name}: its folder does not exist")
        return
    if not folder.is_dir() or folder.is_symlink():
        raise OutputError(f"{folder.name}: saved progress needs a folder of its own; name another one")
    if not is_ours(folder):
        raise OutputError(f"{folder.name}: this folder belongs to another user; name another one")
    if folder.stat().st_mode & OTHERS and any(folder.iterdir()):
        raise OutputError(f"{folder.name}: others can write to this folder, so its content is not trusted; {ANEW}")
    if any(path.is_symlink() or not _ours(path) for path in folder.iterdir()):
        raise OutputError(f"{folder.name}: this folder has other files in it; saved progress needs a folder of its own")


def _ours(path: Path) -> bool:
    return path.name == HEADER or path.name.startswith(_BESIDE) or bool(_PART.fullmatch(path.name))


def _read(path: Path) -> dict[str, Any]:
    """What a header holds, or what it holds at the start."""
    from shoal.version import __version__

    name = path.parent.name
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"run": FORMAT, "shoal": __version__, "seed": None, "bound": {}, "parts": {}}
    except OSError:
        raise InputError(f"{name}: the saved progress cannot be read") from None
    except ValueError:
        header = None
    if not isinstance(header, Mapping) or not isinstance(header.get("run"), int):
        raise InputError(f"{name}: the saved progress is damaged; {ANEW}")
    if header["run"] != FORMAT or header.get("shoal") != __version__:
        raise InputError(f"{name}: another version of Shoal began this run; {ANEW}")
    texts = all(
        isinstance(header.get(what), dict) and all(isinstance(each, str) for each in header[what].values())
        for what in ("bound", "parts")
    )
    named = texts and all(map(_PART.fullmatch, header["parts"]))
    # A run says first which table it is about. Whoever does not know the table cannot make up the rest.
    begun = named and (TABLE in header["bound"] or (header.get("seed") is None and not header["parts"]))
    if not begun or not (header.get("seed") is None or type(header["seed"]) is int):
        raise InputError(f"{name}: the saved progress is damaged; {ANEW}")
    return dict(header)
