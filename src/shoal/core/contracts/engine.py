"""What an engine must offer: everything that touches rows. What its tables must offer, and in what all engines must
agree, says `contracts.table`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import getattr_static
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.core.parameters import Parametrized
from shoal.core.read_request import AS_IT_IS, Description, Opening
from shoal.errors import PluginError
from shoal.storage.files import replacing_all, sha256

if TYPE_CHECKING:
    from shoal.core.contracts.table import EngineTable, Published, Source
    from shoal.core.run import Run
    from shoal.core.schema import Notation, Schema
    from shoal.core.survey import Overview
    from shoal.storage.checkpoint import Checkpoint


class Engine(Parametrized, ABC):
    """Where tables live and are worked on: the only code that touches rows."""

    @property
    def block_size(self) -> int | None:
        """How many records an algorithm is given at a time that works on them one by one and can do so in blocks; None:
        all of a table."""
        return None

    @classmethod
    def takes(cls, source: Any) -> bool:
        """Whether it is the engine for such a source, unless another one is named."""
        return False

    @abstractmethod
    def open(self, source: Any, opening: Opening = AS_IT_IS) -> Source:
        """A path or a frame, opened and not yet read."""

    @abstractmethod
    def read(
        self, source: Source, description: Description, *, run: Run | None = None, checkpoint: Checkpoint | None = None
    ) -> tuple[EngineTable, Schema]:
        """The table, read, and its schema. The `run` is told how far it is, and can stop it. What took long is kept in
        the `checkpoint` and taken from there; an engine that has nothing to keep leaves it alone."""

    @abstractmethod
    def profile(self, source: Source) -> Overview:
        """Every column, and the distinct rows: counted where the table is."""

    @abstractmethod
    def open_published(self, path: Path, notations: Mapping[str, Notation] | None = None) -> Published:
        """A release file, as a recipient reads it; `notations` say how the values of its columns are
        spelled, by which equal ones are known."""

    @abstractmethod
    def check_format(self, path: Path) -> None:
        """Refuses a path whose ending names no format that a release can be written in."""

    def watch(self, run: Run, doing: str) -> AbstractContextManager[None]:
        """Meanwhile, what this thread asks of published tables stops when the run is cancelled, which is told how far
        that is."""
        return nullcontext()

    def in_database(self, path: Path) -> bool:
        """Whether a path names no file or folder, but a table of a database."""
        return False

    def staging(self, *paths: Path) -> AbstractContextManager[tuple[Path, ...]]:
        """Places beside those where a release is to be, to write to and to read from again. They take the others'
        places together when all went well; otherwise everything stays as it was."""
        return replacing_all(*paths)

    def digest(self, path: Path) -> str:
        """What changes when a published table does: the hash of its files, or of its rows in a database."""
        return sha256(path)

    def occupied(self, path: Path) -> bool:
        """Whether there is anything at a path that a release would replace."""
        return path.exists()

    def exists(self, path: Path) -> bool:
        """Whether there may be a published table at a path; a database tells when it is opened."""
        return path.exists()


def check_parts(engine: Engine, offer: object, contract: type) -> None:
    """Refuses what an engine hands over where it lacks a part of its contract."""
    parts = [part for part in vars(contract) if not part.startswith("_")]
    lacking = [part for part in parts if getattr_static(offer, part, parts) is parts]
    if lacking:
        raise broken_rule(engine, f"the {contract.__name__} that it hands over must have {', '.join(lacking)}")


def broken_rule(engine: Engine, rule: str) -> PluginError:
    """Names an engine with the rule of its contract that it breaks."""
    return PluginError(f"the engine {type(engine).__name__} breaks a rule: {rule}")
