"""The ledger: every release of a data set, and whether the next one would break what they promise.

It is the holder's. It has what was published (manifests, roles, hashes of files, the sensitive values of groups) and,
for every person, a keyed hash and the group in each release; no value that was not published. The key lies beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shoal.adversary.locating import locate
from shoal.core.dataset import Dataset
from shoal.core.formatting import counted
from shoal.core.release import Release
from shoal.core.release_history import History, LocatedRelease, Naming
from shoal.core.run import Run
from shoal.errors import DisclosureError, InputError, NotDefined, ParameterError, quoted
from shoal.ledger.entry import Entry, pack
from shoal.ledger.judgement import THIS, Breach, JointJudgement, Unjudged, judge
from shoal.ledger.store import PENDING, PUBLISHED, Store
from shoal.storage.files import check_target, recover, sha256, shown

WAYS = (
    "What passes: --algorithm coarsening, which publishes the classes of the earlier releases again, or merges them; "
    "or, where people come and leave, a series of releases by --algorithm m-invariance"
)


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
        else:
            check_target(self.path)

    def entries(self) -> tuple[Entry, ...]:
        """Every release, the oldest first."""
        return tuple(entry for entry in self.store.entries() if entry.state == PUBLISHED or self._lies(entry))

    def enter_session(self, figures: dict[str, Any]) -> None:
        """Enters a session of `shoal overlap`."""
        self.store.create()
        self.store.add_session(_now(), figures)

    def _lies(self, entry: Entry) -> bool:
        """Whether the file of a release whose entry was not finished is in its place."""
        if entry.place is None:
            return True
        place = self.path.parent / entry.place
        return (place.is_file() or place.is_dir()) and sha256(place) == entry.sha256

    def recover(self) -> None:
        """Finishes, or takes out, entries of processes that ended in between; only whoever holds the lock may."""
        for entry in self.store.entries():
            if entry.state == PENDING:
                if entry.place is not None:
                    recover((self.path.parent / entry.place).parent)
                if self._lies(entry):
                    self.store.publish(entry.number)
                else:
                    self.store.remove(entry.number)

    def history(self, data: Dataset) -> History:
        """What was published before of the people of a table."""
        if not self.store.exists:
            return History((), Naming.of(data), 0)
        self.store.settle()
        stated = self.store.fact("people")
        by = Naming.of(data) if stated is None else Naming(tuple(stated["apart"]), tuple(stated["records"]))
        lacking = [name for name in by.apart if name not in data.schema.names]
        if lacking:
            raise InputError(
                f"{self.path.name}: this ledger tells people apart by the column {quoted(lacking[0])}, which the table "
                "lacks; a ledger is about one data set, so name the ledger of this one, or a new file"
            )
        releases = tuple(release for entry in self.entries() if (release := entry.release()) is not None)
        return History(releases, by, self.store.key())

    def judge(
        self, history: History, data: Dataset, release: Release, run: Run, allowed: Iterable[str] = ()
    ) -> tuple[LocatedRelease | None, JointJudgement]:
        """The release beside the earlier ones, when they keep what they promise together, and what that was judged by;
        what could not be judged is among the `allowed`. Raises `DisclosureError` when they do not, or when something
        could not be judged that nobody allowed."""
        entries, allowed = self.entries(), tuple(allowed)
        self._check_names(entries, history, data, allowed)
        try:
            later = locate(release.origin or data, release, by=history.by, key=history.key, name="this release")
        except NotDefined as reason:
            judgement = JointJudgement(unjudged=(Unjudged(THIS, f"nobody can say who is where in it: {reason}"),))
            if entries:
                self._refuse(judgement, len(entries), allowed)
            return None, judgement
        judgement = judge(history.releases, later, run, allowed=allowed)
        if history.releases and not judgement.known:
            by = ", ".join(map(quoted, history.by.apart))
            raise InputError(
                f"{self.path.name}: the ledger knows nobody of this table by {by}, so nothing was published. "
                "If these are people of earlier releases, write their identifiers as before; if "
                "they are others, a ledger is about one data set, so name another file"
            )
        not_located = (entry.not_located for entry in entries if entry.located is None)
        judgement = replace(judgement, unjudged=(*judgement.unjudged, *not_located))
        if entries:
            self._refuse(judgement, len(entries), allowed)
        return later, judgement

    def _check_names(self, entries: Sequence[Entry], history: History, data: Dataset, allowed: tuple[str, ...]) -> None:
        """Raises where what may stay unjudged is neither a release nor a column."""
        columns = {*data.schema.names, *(name for each in history.releases for name in each.values)}
        names = {THIS, *(f"release:{entry.number}" for entry in entries), *columns}
        for name in allowed:
            if name not in names:
                raise ParameterError(
                    f"allow_unjudged names {quoted(name)}, which is neither a column of the table nor a release of "
                    f"{self.path.name}; releases are called release:1, release:2 and so on, and {THIS} is the one that "
                    "is being made"
                )

    def _refuse(self, judgement: JointJudgement, earlier: int, allowed: tuple[str, ...]) -> None:
        """Raises where the releases break a promise together, or where nobody can say whether they do."""
        refused = judgement.refused(allowed)
        if not judgement.breaches and not refused:
            return
        what = "this one would break what is promised" if judgement.breaches else "this one could not be judged"
        sentences = [
            f"the ledger has {counted(earlier, 'earlier releases')}, and {what}, so nothing was published",
            "; ".join(
                [*(each.sentence for each in judgement.breaches), *(f"not judged: {each.sentence}" for each in refused)]
            ),
            *(note.removesuffix(".") for note in judgement.notes),
        ]
        if judgement.breaches:
            sentences.append(WAYS)
        else:
            names = ",".join(dict.fromkeys(each.name for each in refused))
            sentences.append(
                f"To publish it unjudged, say so with --allow-unjudged {names} (allow_unjudged in Python and job files)"
            )
        raise DisclosureError(". ".join(sentences), judgement.breaches)

    @contextmanager
    def publishing(
        self, data: Dataset, release: Release, run: Run, allowed: Iterable[str] = ()
    ) -> Iterator[Publication]:
        """Holds the ledger while a release is judged, written and entered; nobody else publishes in between."""
        self.store.create()
        with self.store.locked():
            self.recover()
            history = self.history(data)
            later, judgement = self.judge(history, data, release, run, allowed)
            publication = Publication(self, history, later, judgement)
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
    later: LocatedRelease | None
    judgement: JointJudgement
    number: int | None = None
    place: Path | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to know about how the release was judged."""
        known = (self.judgement.sentence,) if self.history.releases and self.later is not None else ()
        return (*known, *self.judgement.notes, *(f"Not judged: {each.sentence}." for each in self.judgement.unjudged))

    def enter(self, manifest: dict[str, Any], place: Path | None) -> None:
        """Makes the entry; without a place the release is handed out by other means than a file."""
        store, by = self.ledger.store, self.history.by
        if store.fact("people") is None:
            store.keep_fact("people", {"apart": by.apart, "records": by.records})
        self.place = place
        entry = Entry(
            number=0,
            date=_now(),
            name="handed over in memory" if place is None else place.name,
            state=PENDING,
            place=None if place is None else shown(os.path.relpath(place, self.ledger.path.parent)),
            sha256=None if place is None else manifest["tables"][0]["sha256"],
            manifest=manifest,
            located=None if self.later is None else pack(self.later),
            unjudged=self.judgement.unjudged,
        )
        self.number = store.add(entry)

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


def open_ledger(ledger: Ledger | str | Path) -> Ledger:
    """A ledger, or that in a file."""
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


@dataclass(frozen=True)
class ReleaseVerdict:
    """A release of a ledger, with what it breaks together with those before it, and what could not be judged."""

    entry: Entry
    breaches: tuple[Breach, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is broken, and nothing unjudged that was not allowed when it was entered."""
        allowed = {each.name for each in self.entry.unjudged}
        return not self.breaches and all(each.name in allowed for each in self.unjudged)

    @property
    def sentences(self) -> list[str]:
        """What there is to say about it, in words."""
        broken = [each.sentence for each in self.breaches]
        return [*broken, *(f"not judged: {each.sentence}" for each in self.unjudged)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "number": self.entry.number,
            "name": self.entry.name,
            "holds": self.holds,
            "breaches": [each.as_dict() for each in self.breaches],
            "not_judged": [each.sentence for each in self.unjudged],
        }


def verdicts(ledger: Ledger, run: Run) -> list[ReleaseVerdict]:
    """For each release of a ledger, what it broke together with those before it, and what could not be judged."""
    entries = ledger.entries()
    earlier: list[LocatedRelease] = []
    verdicts: list[ReleaseVerdict] = []
    for at, entry in enumerate(entries):
        later, part = entry.release(), run.part(between=(at / len(entries), (at + 1) / len(entries)))
        if later is None:
            verdicts.append(ReleaseVerdict(entry, (), entry.unjudged if at else ()))
            continue
        judgement = judge(earlier, later, part, allowed=[each.name for each in entry.unjudged])
        not_located = (before.not_located for before in entries[:at] if before.located is None)
        verdicts.append(ReleaseVerdict(entry, judgement.breaches, (*judgement.unjudged, *not_located)))
        earlier.append(later)
    return verdicts
