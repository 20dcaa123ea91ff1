"""What is handed over: a release with its manifest, its report and its job, in a private folder until it is saved."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from shoal import api
from shoal.api.running import Outcome
from shoal.core.contracts.attack import Known
from shoal.core.run import Run
from shoal.errors import InputError
from shoal.job import plugins
from shoal.job.file import toml
from shoal.job.job import Job
from shoal.publishing.signing import SigningKey
from shoal.reports import Report, report, verifier
from shoal.storage.files import check_outputs, replacing_all
from shoal.storage.private import write_private

JOB, REPORT = "job.toml", "report.html"
_UNSAFE = re.compile(r"[^\w.\- ]+")
HIERARCHIES = "hierarchies"
RECIPIENT, OWN = "for-recipient", "private"
"""Folders that a package is saved into: what is handed over lies apart from what nobody else may have."""


def file_name(name: str, ending: str = "") -> str:
    """A harmless name for a file, as close to a given one as it gets."""
    return (_UNSAFE.sub("_", name)[-80:].strip(". ") or "column") + ending


@dataclass(frozen=True)
class Order:
    """What somebody wants to hand over. The key is unlocked already, so that no passphrase is kept. Unless they are
    `local`, nothing that they get tells where files lie on this machine."""

    number: int
    job: Job
    name: str
    uploaded: bool
    local: bool = True
    signer: SigningKey | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Package:
    """What was made, beside one another in a folder: what a recipient gets, and what is for the holder alone."""

    order: Order
    job: Job
    outcome: Outcome
    folder: Path
    tables: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def for_recipient(self) -> tuple[str, ...]:
        """What a recipient gets, with the page that checks it; the report too, once it is written."""
        return (*self.tables, verifier.PAGE, *([REPORT] if (self.folder / REPORT).exists() else []))

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.for_recipient, *self.own)

    @property
    def signed_by(self) -> str | None:
        """The fingerprint of the key that signed the manifest."""
        return None if self.order.signer is None else self.order.signer.public.fingerprint

    def add_report(self, about: Mapping[str, Any], known: Known, run: Run) -> Report:
        """Writes the report beside the release; `about` says who gets it, what for, who answers for it, and the day,
        `known` what attackers have beside it."""
        key = None if self.order.signer is None else self.order.signer.public
        document = report(
            self.outcome.data, self.folder / self.order.name, job=self.job, key=key, known=known,
            made=self.outcome.release, run=run, **about,
        )  # fmt: skip
        document.write(self.folder / REPORT)
        return document

    def text(self, folder: Path | None = None) -> str:
        """The job as it lies beside the other files, or in the private folder of one that they are saved into. A table
        that was brought through the browser has no place that is known: it is expected beside the job, as is any table
        of somebody at another machine."""
        place = self.folder if folder is None else folder / OWN
        source = self.order.job.input
        assert source is not None and self.job.output is not None
        columns = {
            name: column
            if column.hierarchy is None
            else replace(column, hierarchy=_relocated(column, self.folder, place))
            for name, column in self.job.columns.items()
        }
        table = source if self.order.local and not self.order.uploaded else place / source.name
        output = (place if folder is None else folder / RECIPIENT) / self.job.output.name
        job = replace(self.job, input=table, output=output, columns=columns)
        if not self.order.local:
            job = replace(job, sign=None, ledger=None, allow_unjudged=())
        return toml(job, place)

    def content(self, name: str) -> bytes:
        """A file, as it is saved through the browser."""
        if name not in self.names:
            raise InputError("there is no such file")
        return self.text().encode("utf-8") if name == JOB else (self.folder / name).read_bytes()

    def archive(self, names: Iterable[str]) -> bytes:
        """Some of the files in one."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(name, self.content(name))
        return packed.getvalue()

    def save(self, folder: Path, *, overwrite: bool) -> list[Path]:
        """Writes everything into two folders inside one of the person's own, all of it or nothing: what the recipient
        gets, and what only the person can read."""
        if not folder.is_dir():
            raise InputError(f"there is no folder {folder.name!r}; make it first, or name another one")
        targets = [
            *(folder / RECIPIENT / name for name in self.for_recipient), *(folder / OWN / name for name in self.own)
        ]  # fmt: skip
        fresh = _make_folders([folder / RECIPIENT, *sorted({path.parent for path in targets} - {folder / RECIPIENT})])
        try:
            check_outputs(targets, self.order.job.reads(), overwrite=overwrite)
            with replacing_all(*targets) as places:
                for name, place in zip(self.names, places, strict=True):
                    if name in self.own:
                        write_private(
                            place, self.text(folder) if name == JOB else (self.folder / name).read_text("utf-8")
                        )
                    else:
                        shutil.copyfile(self.folder / name, place)
        except BaseException:
            for each in fresh:
                shutil.rmtree(each, ignore_errors=True)
            raise
        return targets


def _make_folders(folders: Iterable[Path]) -> list[Path]:
    """Makes folders, the private ones for their owner alone, and gives those that were not there."""
    fresh = []
    for folder in folders:
        if folder.is_symlink():
            raise InputError(f"{folder.name} is a link there, which is not followed; name another folder")
        if not folder.exists():
            folder.mkdir(mode=0o755 if folder.name == RECIPIENT else 0o700)
            fresh.append(folder)
    return fresh


def _relocated(column: Any, before: Path, after: Path) -> Any:
    """A hierarchy whose file is in the package, as it lies in another folder."""
    path = column.hierarchy.parameters().get("path")
    if not isinstance(path, Path) or not path.is_relative_to(before):
        return column.hierarchy
    return replace(column.hierarchy, path=after / path.relative_to(before))


def make(order: Order, private: Path, run: Run) -> Package:
    """Carries the job out, into a folder of its own; hierarchies that were edited on the page go with it."""
    folder = Path(mkdtemp(prefix="package-", dir=private))
    try:
        job, own = order.job, [JOB]
        columns = dict(job.columns)
        for name, column in columns.items():
            path = None if column.hierarchy is None else column.hierarchy.parameters().get("path")
            if isinstance(path, Path) and path.is_relative_to(private):
                (folder / HIERARCHIES).mkdir(exist_ok=True)
                copy = folder / HIERARCHIES / file_name(name, ".csv")
                shutil.copyfile(path, copy)
                columns[name] = replace(column, hierarchy=plugins.builder(copy))
                own.append(f"{HIERARCHIES}/{copy.name}")
        job = replace(job, columns=columns, output=folder / order.name)
        outcome = api.run(job, signer=order.signer, run=run)
        (folder / verifier.PAGE).write_text(verifier.page(), encoding="utf-8")
        return Package(order, job, outcome, folder, tuple(path.name for path in outcome.files), tuple(own))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
