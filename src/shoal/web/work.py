"""Work in the background: tasks that are queued, watched, stopped, and found again by what they are about."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from queue import SimpleQueue
from threading import Event, RLock, Thread
from typing import Any, Generic, TypeVar

from shoal.core.run import Run
from shoal.errors import CancelledError, ShoalError

MOST_KEPT = 80
"""Finished tasks whose results are kept; the oldest go first."""
HEAVY, MOST_HEAVY = "candidate", 12
"""Keys of tasks that hold a whole release begin so, and fewer of them are kept."""
QUICK_THREADS = 2
PATIENCE = 0.25
"""Seconds that a page waits for a result before it shows how far the work is instead."""
GRACE = 3.0
"""Seconds that stopping waits for work that was told to stop."""
_DEADLOCK: Any = getattr(importlib._bootstrap, "_DeadlockError", ())
"""What Python raises in one of two threads that import modules which import one another."""
TRIES, PAUSE = 20, 0.1
"""How often such a task tries again, and the seconds in between."""


class TaskState(StrEnum):
    """What becomes of a task."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


Result = TypeVar("Result")


@dataclass(eq=False)
class PageTask(Generic[Result]):
    """One piece of work. `what` is the key of its words; no cell's value is in its figures, nor in its error."""

    number: int
    key: Hashable
    what: str
    work: Callable[[Run], Result]
    words: Mapping[str, Any] = field(default_factory=dict)
    run: Run = field(default_factory=Run)
    state: TaskState = TaskState.WAITING
    result: Result | None = None
    error: str = ""
    cause: ShoalError | None = None
    ended: Event = field(default_factory=Event)

    @property
    def active(self) -> bool:
        return self.state in (TaskState.WAITING, TaskState.RUNNING)

    def as_dict(self) -> dict[str, Any]:
        """The task as JSON holds it."""
        seconds_left = self.run.left if self.state is TaskState.RUNNING else None
        return {
            "number": self.number, "what": self.what, "state": str(self.state), "share": round(self.run.share, 3),
            "doing": self.run.doing if self.state is TaskState.RUNNING else "", "error": self.error,
            "seconds_left": None if seconds_left is None else round(seconds_left, 1),
        }  # fmt: skip

    def carry_out(self) -> None:
        """Does the work. Only errors that are meant for people are told; of others no text, which may hold values."""
        self.run = Run(within=self.run)  # its clock starts now, not when it was queued
        try:
            self.run.check()
            self.state = TaskState.RUNNING
            self.result = self._worked()
            self.state = TaskState.DONE
        except CancelledError:
            self.state = TaskState.STOPPED
        except ShoalError as error:
            self.cause, self.error, self.state = error, str(error), TaskState.FAILED
        except MemoryError:
            self.error, self.state = "there is too little memory for this", TaskState.FAILED
        except BaseException as error:  # also what compiled libraries raise beside Exception when they panic
            self.error, self.state = f"something went wrong inside Shoal ({type(error).__name__})", TaskState.FAILED
        finally:
            self.ended.set()

    def _worked(self) -> Result:
        """The result. A task that met another one in the middle of an import tries again, when that one is done."""
        for _ in range(TRIES):
            try:
                return self.work(self.run)
            except _DEADLOCK:
                time.sleep(PAUSE)
        return self.work(self.run)


class Work:
    """All tasks of a server. Quick ones run beside each other, long ones one after the other.

    A task is known by its key: whoever asks for the same again, in another tab or after a reload, finds it.

    Example:
        >>> work = Work()
        >>> task = work.task("sum", "adding", lambda run: 1 + 1)
        >>> task.ended.wait(5), task.result, work.task("sum", "adding", lambda run: 3).result
        (True, 2, 2)
        >>> work.stop()
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._tasks: dict[Hashable, PageTask[Any]] = {}
        self._count = 0
        self._stopped = False
        self._lanes: dict[bool, SimpleQueue[PageTask[Any] | None]] = {True: SimpleQueue(), False: SimpleQueue()}
        lanes = [self._lanes[True], *(self._lanes[False] for _ in range(QUICK_THREADS))]
        self._threads = [Thread(target=self._run_lane, args=(lane,), daemon=True) for lane in lanes]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _run_lane(lane: SimpleQueue[PageTask[Any] | None]) -> None:
        while (task := lane.get()) is not None:
            task.carry_out()

    def task(
        self,
        key: Hashable,
        what: str,
        work: Callable[[Run], Result],
        *,
        long: bool = False,
        words: Mapping[str, Any] | None = None,
    ) -> PageTask[Result]:
        """The task of that key, which is begun unless there is one already."""
        with self._lock:
            task = self._tasks.pop(key, None)
            if task is None:
                self._count += 1
                task = PageTask(self._count, key, what, work, words or {})
                if self._stopped:
                    task.run.cancel()
                self._lanes[long].put(task)
            self._tasks[key] = task  # the newest stand last
            self._forget(lambda key: True, MOST_KEPT)
            self._forget(lambda key: isinstance(key, tuple) and key[0] == HEAVY, MOST_HEAVY)
            return task

    def find(self, key: Hashable) -> PageTask[Any] | None:
        """The task of that key, where there is one."""
        return self._tasks.get(key)

    def wait_for(self, task: PageTask[Result], seconds: float = PATIENCE) -> PageTask[Result]:
        """The task, once it or the patience has ended."""
        task.ended.wait(seconds)
        return task

    def again(self, number: int) -> None:
        """Forgets a task that failed or was stopped, so that whoever needs it begins anew."""
        with self._lock:
            for key, task in list(self._tasks.items()):
                if task.number == number and not task.active:
                    del self._tasks[key]

    def cancel(self, number: int) -> None:
        with self._lock:
            for task in self._tasks.values():
                if task.number == number and task.active:
                    task.run.cancel()
                    if task.state is TaskState.WAITING:
                        task.state = TaskState.STOPPED
                        task.ended.set()

    def drop(self, unwanted: Callable[[Hashable], bool]) -> None:
        """Stops and forgets the tasks whose key is no longer of use."""
        with self._lock:
            for key in [key for key in self._tasks if unwanted(key)]:
                self._tasks.pop(key).run.cancel()

    @property
    def active(self) -> list[PageTask[Any]]:
        """Tasks that wait or run, the first one first."""
        return sorted((task for task in list(self._tasks.values()) if task.active), key=lambda task: task.number)

    def _forget(self, among: Callable[[Hashable], bool], most: int) -> None:
        ended = [key for key, task in self._tasks.items() if not task.active and among(key)]
        for key in ended[: max(0, len(ended) - most)]:
            del self._tasks[key]

    def stop(self) -> None:
        """Stops everything, and waits a little for it."""
        with self._lock:
            self._stopped = True
            for task in self._tasks.values():
                task.run.cancel()
        self._lanes[True].put(None)
        for _ in range(QUICK_THREADS):
            self._lanes[False].put(None)
        until = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
