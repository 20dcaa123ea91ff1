"""The ledger: every release of a data set, and whether the next one would break what they promise.

It is the holder's. It has what was published (manifests, roles, hashes of files, the sensitive values of groups) and,
for every person, a keyed hash and the group in each release; no value that was not published. The key lies beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shoal.core.dataset import Dataset
from shoal.core.files import check_target, recover, sha256, shown
from shoal.core.release import Release
from shoal.core.run import Run
from shoal.core.seen import History, Seen, naming
from shoal.errors import DisclosureError, InputError, NotDefined
from shoal.ledger.judging import Breach, breaches
from shoal.ledger.store import PENDING, PUBLISHED, Row, Store, packed, unpacked

WAYS = (
    "What passes: --algorithm coarsening, which publishes the classes of the earlier releases again, or merges them; "
    "or, where people come and leave, a series of releases by --algorithm m-invariance"
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release of the ledger."""

    number: int
    made: str
    name: str
    manifest: dict[str, Any]
    obstacle: str

    @property
    def title(self) -> str:
        return f"release {self.number} ({self.name})"

    @property
    def models(self) -> list[str]:
        """The models that it promises."""
        return [str(model.get("name")) for model in self.manifest.get("policy", {}).get("models", [])]

    def as_dict(self) -> dict[str, Any]:
        """The entry as JSON holds it; who was where stays in the ledger."""
        return {"number": self.number, "made": self.made, "name": self.name, "manifest": self.manifest}


class Ledger:
    """A ledger in a file, which is made with the first release.

    Example:
        >>> import shoal, tempfile
        >>> file = Path(tempfile.mkdtemp()) / "adult.ledger"
        >>> data = shoal.read(shoal.samples.adult().head(500), quasi=["age", "sex"], sensitive=["occupation"])
        >>> _ = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", ledger=file)
        >>> [entry.models for entry in Ledger(file).entries()]
        [['k-anonymity']]
    """

    def __init__(self, path: str | Path) -> None:
        self.store = Store(Path(path))

    @property
    def path(self) -> Path:
        return self.store.path

    def check_writable(self) -> None:
        """Raises, before any work is done, where no entry could be made."""
        if self.store.exists:
            self.store.check_writable()
            self.store.key()
        else:
            check_target(self.path)

    def entries(self) -> tuple[Entry, ...]:
        """Every release, the oldest first."""
        return tuple(_entry(row) for row in self._rows())

    def enter_session(self, figures: dict[str, Any]) -> None:
        """Enters a session of `shoal overlap`."""
        self.store.create()
        self.store.add_session(_now(), figures)

    def _rows(self) -> list[Row]:
        return [row for row in self.store.rows() if row.state == PUBLISHED or self._lies(row)]

    def _lies(self, row: Row) -> bool:
        """Whether the file of a release whose entry was not finished is in its place."""
        if row.place is None:
            return True
        place = self.path.parent / row.place
        return place.exists() and sha256(place) == row.sha256

    def recover(self) -> None:
        """Finishes, or takes out, entries of processes that ended in between; only whoever holds the lock may."""
        for row in self.store.rows():
            if row.state == PENDING:
                if row.place is not None:
                    recover((self.path.parent / row.place).parent)
                if self._lies(row):
                    self.store.publish(row.number)
                else:
                    self.store.remove(row.number)

    def history(self, data: Dataset) -> History:
        """What was published before of the people of a table."""
        if not self.store.exists:
            return History((), naming(data), 0)
        by = self.store.fact("people")
        if by is not None:
            lacking = [name for name in by if name not in data.schema.names]
            if lacking:
                raise InputError(
                    f"{self.path.name}: this ledger tells people apart by the column {lacking[0]!r}, which the table "
                    "lacks; a ledger is about one data set, so name the ledger of this one, or a new file"
                )
        laid = [unpacked(row.seen, _entry(row).title) for row in self._rows() if row.seen is not None]
        return History(tuple(laid), tuple(by) if by else naming(data), self.store.key())

    def judge(self, history: History, data: Dataset, release: Release, run: Run) -> tuple[Seen | None, tuple[str, ...]]:
        """The release beside the earlier ones, when they keep what they promise together; with what could not be
        judged. Raises `DisclosureError` when they do not."""
        try:
            later = history.laid(data, release)
        except NotDefined as reason:
            return None, (f"it cannot be laid beside the earlier releases: {reason}",) if history.releases else ()
        found, reasons = breaches(history.releases, later, run)
        if found:
            listed, count = "; ".join(each.sentence for each in found), len(history.releases)
            raise DisclosureError(
                f"the ledger has {count:,} earlier release{'s' if count > 1 else ''}, and this one would break what is "
                f"promised, so nothing was published. {listed}. {WAYS}",
                found,
            )
        return later, tuple(reason for reason in reasons if not reason.startswith("temporal-release"))

    @contextmanager
    def publishing(self, data: Dataset, release: Release, run: Run) -> Iterator[Publication]:
        """Holds the ledger while a release is judged, written and entered; nobody else publishes in between."""
        self.store.create()
        with self.store.locked():
            self.recover()
            history = self.history(data)
            later, reasons = self.judge(history, data, release, run)
            publication = Publication(self, history, later, reasons)
            try:
                yield publication
                publication.finish()
            except BaseException:
                publication.undo()
                raise


@dataclass
class Publication:
    """A release that is being entered: `enter` before its files take their places, so that whatever happens then, the
    entry and the files are both there or both not: an entry that was not finished counts if the file is in its place.
    """

    ledger: Ledger
    history: History
    later: Seen | None
    reasons: tuple[str, ...]
    number: int | None = None
    place: Path | None = None

    def enter(self, manifest: dict[str, Any], place: Path | None) -> None:
        """Makes the entry; without a place the release is handed out by other means than a file."""
        store = self.ledger.store
        if store.fact("people") is None:
            store.keep_fact("people", list(self.history.by))
        digest, self.place = manifest["tables"][0]["sha256"] if place is not None else None, place
        self.number = store.add(
            Row(
                number=0, made=_now(), state=PENDING,
                name="(handed over in memory)" if place is None else place.name,
                place=None if place is None else shown(os.path.relpath(place, self.ledger.path.parent)),
                sha256=digest, manifest=manifest, obstacle="; ".join(self.reasons),
                seen=None if self.later is None else packed(self.later),
            )
        )  # fmt: skip

    def finish(self) -> None:
        if self.number is not None:
            self.ledger.store.publish(self.number)

    def undo(self) -> None:
        """Takes the entry out unless its file is in its place."""
        if self.number is not None:
            if self.place is None:
                self.ledger.store.remove(self.number)
            self.ledger.recover()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def opened(ledger: Ledger | str | Path) -> Ledger:
    """A ledger, or that in a file."""
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def _entry(row: Row) -> Entry:
    return Entry(number=row.number, made=row.made, name=row.name, manifest=row.manifest, obstacle=row.obstacle)


def retold(ledger: Ledger, run: Run) -> list[tuple[Entry, tuple[Breach, ...], tuple[str, ...]]]:
    """For each release of a ledger, what it broke together with those before it, and what could not be judged."""
    rows = ledger._rows()
    earlier: list[Seen] = []
    found: list[tuple[Entry, tuple[Breach, ...], tuple[str, ...]]] = []
    for row in rows:
        entry = _entry(row)
        if row.seen is None:
            found.append((entry, (), (entry.obstacle,) if entry.obstacle else ()))
            continue
        later = unpacked(row.seen, entry.title)
        broken, reasons = breaches(earlier, later, run)
        found.append((entry, broken, tuple(each for each in reasons if not each.startswith("temporal-release"))))
        earlier.append(later)
    return found
