"""The points of a sweep: one release each, made, verified, measured and dropped, in processes where that pays."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from dataclasses import dataclass

from shoal.api.anonymizing import anonymize
from shoal.core.dataset import Dataset
from shoal.core.run import Run
from shoal.errors import CancelledError, NotDefined, ShoalError
from shoal.tradeoff.measures import TradeoffMeasure, guessing_share
from shoal.tradeoff.sweep import Setting
from shoal.tradeoff.sweep_result import Measured

LOOK = 0.2
"""Seconds between two looks at whether the run was cancelled."""
START = 4.0
"""Seconds of processor time after which a process has loaded what releases need."""
WORTH = 12 * START
"""Seconds of work that are worth two processes: they then take 1.7 times less on the clock than one."""
SAFE = {"PYTHONSAFEPATH": "1"}
"""Of a process that is started: it imports nothing because that lies in the current folder."""
ALONE = {"NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", **SAFE}
"""Of a process beside others: it works on one core. Threads change no result."""


@dataclass(frozen=True, kw_only=True)
class SweepTask:
    """A setting with its seed, and what is measured of its release."""

    setting: Setting
    seed: int
    measures: tuple[TradeoffMeasure, ...]
    target: str | None


def measure(data: Dataset, task: SweepTask, run: Run) -> Measured:
    """Makes the release of a task as `anonymize` does, and measures it. Where there is none, the reason is told."""
    setting, began = task.setting, time.perf_counter()
    try:
        release = anonymize(
            data,
            *setting.models,
            algorithm=setting.algorithm,
            suppression=setting.suppression,
            objective=setting.objective,
            seed=task.seed,
            repeatable=True,
            rows_are_people=setting.rows_are_people,
            allow_plain=setting.allow_plain,
            run=run,
        )
    except CancelledError:
        raise
    except ShoalError as reason:
        return Measured(reason=str(reason), seconds=round(time.perf_counter() - began, 3))
    shares: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for each in task.measures:
        run.check()
        try:
            shares[each.name] = each.of(data, release)
        except NotDefined as reason:
            shares[each.name], reasons[each.name] = None, str(reason)
    try:
        classes = len(release.classes)
    except NotDefined:
        classes = None
    return Measured(
        shares=shares,
        reasons=reasons,
        classes=classes,
        suppressed=release.suppressed,
        baseline=None if task.target is None else guessing_share(release, task.target),
        seconds=round(time.perf_counter() - began, 3),
    )


Keep = Callable[[int, Measured], None]
"""Called with the number of a task and what came out, as soon as it is done."""


def carry_out(data: Dataset, tasks: Mapping[int, SweepTask], workers: int | None, keep: Keep, run: Run) -> None:
    """Carries out every task, in so many processes; with one, in this one. By default this one begins, and hands the
    rest to one process for each core once a task has taken so long that they are worth their start.

    What comes out of a task depends on nothing but the task. A table that cannot be handed to another process, such as
    one in a database, is worked on here.
    """
    waiting, processes = dict(tasks), available(workers)
    content = _pickled(data) if workers is not None and processes > 1 and len(tasks) > 1 else None
    run.report(0.0 if tasks else 1.0, _doing(0, len(tasks)))
    while waiting and content is None:
        place, task = next(iter(waiting.items()))
        done, began = len(tasks) - len(waiting), time.process_time()
        between = done / len(tasks), (done + 1) / len(tasks)
        keep(place, measure(data, task, run.part(between=between)))
        del waiting[place]
        run.report(between[1], _doing(done + 1, len(tasks)))
        # The first one also loads what a process would have to load.
        seconds = time.process_time() - began - (0 if done else START)
        if workers is None and processes > 1 and seconds * len(waiting) >= WORTH:
            content, workers = _pickled(data), processes  # which is not asked again
    if content is not None:
        for place, measured in _beside(content, waiting, len(tasks), min(processes, len(waiting)), run):
            keep(place, measured)


def _pickled(data: Dataset) -> bytes | None:
    """A table as another process takes it; it goes through a pipe and lies on no disk."""
    try:
        return pickle.dumps(data)
    except (TypeError, AttributeError, pickle.PicklingError):
        return None


def _doing(done: int, count: int) -> str:
    return f"{done} of {count} releases"


def _beside(
    content: bytes, tasks: Mapping[int, SweepTask], count: int, processes: int, run: Run
) -> Iterator[tuple[int, Measured]]:
    """Carries out the last tasks of so many in other processes."""
    from loky import ProcessPoolExecutor

    with _safely():
        pool = ProcessPoolExecutor(max_workers=processes, initializer=_begin, initargs=(content,), env=ALONE)
    try:
        with _safely():
            places = {pool.submit(_measure_beside, task): place for place, task in tasks.items()}
        waiting, done = set(places), count - len(tasks)
        while waiting:
            finished, waiting = wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED)
            for each in sorted(finished, key=places.__getitem__):
                done += 1
                yield places[each], each.result()
                run.report(done / count, _doing(done, count))
            run.check()
    finally:
        pool.shutdown(wait=True, kill_workers=True)


@contextmanager
def _safely() -> Iterator[None]:
    """Meanwhile, every process that is started is a safe one, also those that only keep the others in order."""
    before = {name: os.environ.get(name) for name in SAFE}
    os.environ.update(SAFE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_table: Dataset | None = None


def _begin(content: bytes) -> None:
    """Begins a process: it has the table, and leaves an interrupt to the one that started it."""
    global _table
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _table = pickle.loads(content)


def _measure_beside(task: SweepTask) -> Measured:
    assert _table is not None
    return measure(_table, task, Run())


def available(workers: int | None) -> int:
    """How many processes work at once: as many as are asked for, or as this process may use cores."""
    if workers is not None:
        return workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
