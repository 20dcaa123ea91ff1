"""The progress of a sweep: the points that are done, in a file, so that an interrupted sweep goes on where it was.

The file has the seed, which is the holder's secret, and shares and counts by a keyed hash of what they belong to: no
value of the table. Only its owner can read it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.dataset import Dataset
from shoal.errors import InputError
from shoal.storage.files import check_target, replacing
from shoal.tradeoff.points import SweepTask
from shoal.tradeoff.sweep_result import Measured
from shoal.version import __version__

FORMAT = 1


class SweepProgress:
    """Points that are done, by a hash of what decides them. Without a file nothing outlives the run."""

    def __init__(self, path: Path | None, seed: int, table: str, points: dict[str, Any]) -> None:
        self.path, self.seed, self.table = path, seed, table
        self._points = points

    @classmethod
    def open(cls, path: Path | None, data: Dataset, seed: int | None, drawn: Callable[[], int]) -> SweepProgress:
        """The progress that a file holds, or none; the file must be of the same table and the same seed."""
        saved = _read(path) if path is not None and path.exists() else None
        if path is not None:
            check_target(path)
        if saved is None:
            chosen = drawn() if seed is None else seed
            return cls(path, chosen, fingerprint(data, chosen), {})
        assert path is not None
        if seed is not None and seed != saved["seed"]:
            raise InputError(
                f"{path.name}: this sweep was begun with another seed; leave the seed out, or name a new file"
            )
        if fingerprint(data, saved["seed"]) != saved["table"]:
            raise InputError(
                f"{path.name}: this sweep was begun on another table, with other roles or hierarchies, or by another "
                "version of Shoal; name a new file"
            )
        return cls(path, saved["seed"], saved["table"], saved["points"])

    def find(self, task: SweepTask) -> Measured | None:
        """What a task came to, if it is done."""
        point = self._points.get(self._key(task))
        try:
            return None if point is None else Measured(**point)
        except TypeError:
            assert self.path is not None
            raise InputError(f"{self.path.name}: this file was changed; name a new file") from None

    def add(self, task: SweepTask, measured: Measured) -> None:
        """Keeps what a task came to; the file changes as a whole or not at all."""
        self._points[self._key(task)] = asdict(measured)
        if self.path is not None:
            content = {"sweep": FORMAT, "seed": self.seed, "table": self.table, "points": self._points}
            with replacing(self.path) as beside:
                beside.touch(mode=0o600)
                beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def _key(self, task: SweepTask) -> str:
        what = [task.setting.spelled(), task.seed, [repr(measure) for measure in task.measures], task.target]
        return _keyed_hash(self.seed, json.dumps(what, sort_keys=True, default=str).encode())


def _keyed_hash(seed: int, *parts: bytes) -> str:
    """A hash that nobody can try values against who does not know the seed."""
    digest = hashlib.blake2b(key=hashlib.sha256(str(seed).encode()).digest(), digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def fingerprint(data: Dataset, seed: int) -> str:
    """What tells a table with its roles and hierarchies from any other, whatever the order of its records."""
    schema, shown = data.schema, data.encoded_columns(seed)
    described = [[column.name, column.role, column.kind, column.missing] for column in schema.columns]
    trees = [[_hashable(level) for level in hierarchy.labels] for hierarchy, _ in shown.values()]
    text = json.dumps([__version__, described, schema.quasi, schema.strict, trees], default=str)
    return _keyed_hash(seed, text.encode(), *(np.ascontiguousarray(codes).tobytes() for _, codes in shown.values()))


def _hashable(labels: NDArray[Any]) -> list[str | None]:
    return [None if label is None else str(label) for label in labels.tolist()]


def _read(path: Path) -> dict[str, Any]:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(f"{path.name}: the saved progress of the sweep cannot be read") from None
    except ValueError:
        saved = None
    expected = {"sweep": int, "seed": int, "table": str, "points": dict}
    if not isinstance(saved, dict) or any(not isinstance(saved.get(key), kind) for key, kind in expected.items()):
        raise InputError(f"{path.name}: this is not the saved progress of a sweep; name a file that does not exist yet")
    if saved["sweep"] != FORMAT:
        raise InputError(f"{path.name}: another version of Shoal wrote this file; name a new one")
    return saved
