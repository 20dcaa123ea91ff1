"""The state of a session: the job as it stands, the steps that led to it, and the work that was done for it."""

from __future__ import annotations

import shutil
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, cast

from shoal import api, registry
from shoal.core import seeds
from shoal.core.dataset import Dataset
from shoal.core.run import Run
from shoal.core.schema import Role
from shoal.diagnosis.detection import Detection
from shoal.errors import InputError
from shoal.job import plugins
from shoal.job.arguments import arguments
from shoal.job.columns import ColumnJob
from shoal.job.file import toml
from shoal.job.job import Job
from shoal.job.suggestion import SUGGESTED_K
from shoal.publishing.signing import SigningKey
from shoal.storage.files import files_at
from shoal.web.packages import Order
from shoal.web.table import Look, look_at
from shoal.web.work import PATIENCE, PageTask, Result, TaskState, Work

MOST_STEPS = 200
"""Steps of the history that can be undone."""


@dataclass(frozen=True)
class Step:
    """A job, and what was changed to get there: the key of its words, and what they tell."""

    job: Job
    what: str
    words: Mapping[str, Any] = field(default_factory=dict)
    when: datetime = field(default_factory=datetime.now)


class NotReady(Exception):  # noqa: N818 - it is an answer: a page shows how far the task is
    """What a page needs is not there yet, or could not be made; `task` tells."""

    def __init__(self, task: PageTask[Any]) -> None:
        super().__init__(task.what)
        self.task = task


class PageSession:
    """One table and what is done with it. Everything that a person decides is in the job, so undoing a step is going
    back to the job before it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = Work()
        self.language: str | None = None
        self.tried: list[str] = []
        """Algorithms whose releases are candidates, as they are spelled."""
        self.pinned: list[str] = []
        self.notice: tuple[str, Mapping[str, Any]] | None = None
        self.uploaded = False
        self.local = True
        """Whether whoever uses the page sits at this machine, so that they may name files on it."""
        self.signer: SigningKey | None = None
        """The key that whoever started the page offers to sign with."""
        self.ledger: Path | None = None
        """The ledger that whoever started the page keeps; every release that is made goes into it."""
        self.order: Order | None = None
        """What is to be handed over, and where it was saved."""
        self.about: dict[str, str] | None = None
        """What the report says of the occasion, once one is wanted."""
        self.saved: tuple[Path, ...] = ()
        self.register: Path | None = None
        """A table of people that the attacker has, in the private folder."""
        self.decisions: list[str] = []
        """The tabs in which the person decided something, in that order."""
        self.numbers = count(1)
        """Of answers, in the order in which they were begun."""
        self._lock = RLock()
        self._steps: list[Step] = []
        self._place = -1
        self._stamp: tuple[Any, ...] = ()

    # What a person decides

    @property
    def job(self) -> Job:
        """The job as it stands; an error that says so while there is no table."""
        with self._lock:
            if self._place < 0:
                raise InputError("choose a table first")
            return self._steps[self._place].job

    @property
    def opened(self) -> bool:
        return self._place >= 0

    @property
    def readable(self) -> bool:
        """Whether there is a table that can be read, or may be, as far as anybody knows."""
        look = self.work.find(self._look_key()) if self._place == 0 else None
        return self.opened and (look is None or look.state is not TaskState.FAILED)

    @property
    def changed(self) -> bool:
        """Whether the table is no longer what was opened."""
        return self.opened and _stamp(self.job.input) != self._stamp

    def check_unchanged(self) -> None:
        if self.changed:
            raise InputError("the table changed after it was opened here; read it again first")

    def read_again(self) -> None:
        """Takes the table as it is now; what was decided about it stays."""
        with self._lock:
            self.work.drop(lambda key: True)
            self._stamp = _stamp(self.job.input)
            self.order, self.about, self.saved = None, None, ()
            self._look_task()

    def decided_elsewhere(self, tab: str, known: str) -> bool:
        """Whether something was decided in another tab after this one was shown what is `known` there."""
        return known.isdigit() and any(other != tab for other in self.decisions[int(known) :])

    @property
    def steps(self) -> tuple[Step, ...]:
        """The history, up to what can be done again."""
        return tuple(self._steps)

    @property
    def place(self) -> int:
        """The step of the history that is looked at."""
        return self._place

    def change(self, changed: Job, what: str, **words: Any) -> None:
        """A further step; what was undone before it is gone."""
        with self._lock:
            if self._place >= 0 and changed == self.job:
                return
            self._steps = [*self._steps[: self._place + 1], Step(changed, what, words)][-MOST_STEPS:]
            self._place = len(self._steps) - 1

    def go(self, place: int) -> None:
        """Goes to a step of the history, back or forth."""
        with self._lock:
            if 0 <= place < len(self._steps):
                self._place = place

    def open(self, path: Path, *, uploaded: bool = False, **settings: Any) -> None:
        """Takes another table, with what else the job says of it, and begins to look at it; nothing of the one before
        it is kept."""
        with self._lock:
            self.work.drop(lambda key: True)
            before = self._steps[self._place].job.input if self._place >= 0 and self.uploaded else None
            self._steps, self._place = [], -1
            self.tried, self.pinned, self.uploaded, self._stamp = [], [], uploaded, _stamp(path)
            self.order, self.about, self.saved = None, None, ()
            models = (plugins.plugin("models", {"name": "k-anonymity", "k": SUGGESTED_K}),)
            self.change(
                Job(input=path, models=models, seed=seeds.drawn(), repeatable=True, **settings), "history.opened"
            )
            self._look_task()
        self.give_attacker(None)
        if before is not None and before != path:
            shutil.rmtree(before.parent, ignore_errors=True)

    def give_attacker(self, register: Path | None) -> None:
        """The attacker has a register, in a folder of its own, or none; the one before it is wiped."""
        with self._lock:
            before, self.register = self.register, register
        if before is not None:
            shutil.rmtree(before.parent, ignore_errors=True)

    def column(self, place: int) -> str:
        """The name of a column by its place, which is what addresses hold."""
        names = self.look().names
        if not 0 <= place < len(names):
            raise InputError("there is no such column")
        return names[place]

    def change_column(self, name: str, what: str, **changes: Any) -> None:
        """A step that changes what the job says of a column."""
        columns = dict(self.job.columns)
        columns[name] = replace(columns.get(name, ColumnJob()), **changes)
        self.change(replace(self.job, columns=columns), what, column=name)

    # What was found out

    def result(self, task: PageTask[Result], seconds: float = PATIENCE) -> Result:
        """What a task found, if it does so soon; else the page shows how far it is."""
        self.work.wait_for(task, seconds)
        if task.state is not TaskState.DONE:
            raise NotReady(task)
        return cast(Result, task.result)

    def _reading_key(self) -> Hashable:
        """What of the job decides how columns are read."""
        job = self.job
        formats = {
            name: (column.kind, column.date_format, column.number_format)
            for name, column in job.columns.items()
            if column.kind or column.date_format or column.number_format
        }
        return str(job.input), str(arguments(job, "open")), str(formats)

    def roles_key(self) -> Hashable:
        """What of the job decides the diagnosis."""
        roles = tuple((name, str(column.role)) for name, column in self.job.columns.items())
        return roles, self.job.household_variables

    def look(self) -> Look:
        """Every column of the table."""
        return self.result(self._look_task())

    def _look_task(self) -> PageTask[Look]:
        job = self.job

        def look(run: Run) -> Look:
            columns = look_at(job, run)
            self._detection_task(job)  # after the look, not beside it: the columns are shown first
            return columns

        return self.work.task(self._look_key(), "work.look", look)

    def _look_key(self) -> Hashable:
        return ("look", self._reading_key())

    def detection(self) -> Detection:
        """The suggested roles. The first time they are there, they become the roles of the job."""
        self.look()  # what cannot be read at all is told by that
        return self.result(self._detection_task(self.job))

    def _detection_task(self, job: Job) -> PageTask[Detection]:
        def detect(run: Run) -> Detection:
            detection = api.detect(job.input, **arguments(job, "detect"), run=run)
            self._suggest(job, detection)
            return detection

        return self.work.task(("detection", str(job.input), str(arguments(job, "detect"))), "work.detect", detect)

    def _suggest(self, job: Job, detection: Detection) -> None:
        with self._lock:
            if self.job.input != job.input:
                return
            if self.job.columns and any(column.role is not Role.PLAIN for column in self.job.columns.values()):
                return
            columns = dict(self.job.columns)
            for name, role in detection.job_roles().items():
                columns[name] = replace(columns.get(name, ColumnJob()), role=role)
            self.change(replace(self.job, columns=columns), "history.suggested")

    def data(self) -> Dataset:
        """The table with the roles of the job, without hierarchies: for whoever only counts."""
        look = self.look()
        key = ("data", self._reading_key(), self.roles_key())
        return self.result(self.work.task(key, "work.group", lambda run: _group(look, self.job)))

    def prepared(self) -> Dataset:
        """The table as a run of the job reads it, with hierarchies."""
        job = self.job
        key = ("prepared", self.policy_free())
        return self.result(self.work.task(key, "work.read", lambda run: api.read_job(job)))

    def policy_free(self) -> str:
        """The job without what must hold, as text: what decides how the table is read."""
        bare = replace(self.release_job(), models=(), suppression=0.0, seed=None, objective=None)
        return toml(bare)

    def release_job(self) -> Job:
        """The job without what changes no release: where it goes, what is measured, and who makes it."""
        return replace(self.job.without("balance"), algorithm=None, output=None, analyses=())


def _stamp(path: Path | None) -> tuple[Any, ...]:
    """What is different once the files of a table change."""
    if path is None:
        return ()
    try:
        states = [each.stat() for each in files_at(path)]
    except OSError:
        return ("gone",)
    return tuple((state.st_size, state.st_mtime_ns, state.st_ino) for state in states)


def _group(look: Look, job: Job) -> Dataset:
    data = look.with_roles(job.columns, job.household_variables)
    if data.schema.quasi:
        _ = data.summary  # made here, in the background
    return data


def engine_of(job: Job) -> Any:
    """The engine of a job."""
    return job.engine or registry.engine()
