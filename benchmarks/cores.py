"""How long work would take two idle cores, measured on a machine that is busy with other things.

Every piece of work that a thread pool gets is measured in processor time on the thread that does it, and so is the
thread that hands it over. Put together as the pool puts them together, each piece to the first worker that is free,
they give the time after which the last one is done. What waits for the other thread (because it needs the interpreter)
takes no processor time and is not seen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock


@dataclass
class _Piece:
    """Work that a pool got: when it could begin, and how long it took, what it handed to others included."""

    pool: ThreadPoolExecutor
    ready: float
    seconds: float = 0.0
    end: float | None = None


@dataclass
class Schedule:
    """The clock of a machine with nothing else to do: `now` on the thread that began, `spent` by all threads, and what
    of `now` passed in the `stage` that is looked at."""

    now: float = 0.0
    spent: float = 0.0
    stage: float = 0.0
    _last: float = field(default_factory=time.thread_time)
    _main: int = field(default_factory=threading.get_ident)
    _pieces: dict[int, _Piece] = field(default_factory=dict)
    _workers: dict[int, list[float]] = field(default_factory=dict)
    _here: threading.local = field(default_factory=threading.local)

    def tick(self) -> float:
        """The clock, moved on by what the thread that began has worked."""
        read = time.thread_time()
        self.now, self.spent, self._last = self.now + read - self._last, self.spent + read - self._last, read
        return self.now

    def submitted(
        self, submit: Callable[..., Any], pool: ThreadPoolExecutor, work: Any, *given: Any, **named: Any
    ) -> Any:
        """Hands work to a pool, and measures it."""
        outer = getattr(self._here, "piece", None)
        piece = _Piece(pool, self.tick() if threading.get_ident() == self._main else 0.0)

        def measured(*given: Any, **named: Any) -> Any:
            self._here.piece, began = piece, time.thread_time()
            try:
                return work(*given, **named)
            finally:
                taken, self._here.piece = time.thread_time() - began, None
                piece.seconds += taken
                self.spent += taken
                if outer is not None:
                    outer.seconds += taken

        future = submit(pool, measured, *given, **named)
        if threading.get_ident() == self._main:
            self._pieces[id(future)] = piece
            self._workers.setdefault(id(pool), [0.0] * pool._max_workers)
        return future

    def awaited(self, result: Callable[..., Any], future: Future[Any], timeout: float | None = None) -> Any:
        """The result of work, for which the thread that began waits."""
        try:
            return result(future, timeout)
        finally:
            if threading.get_ident() == self._main and id(future) in self._pieces:
                self.tick()
                wanted = self._pieces[id(future)]
                for piece in list(self._pieces.values()):
                    if piece.pool is wanted.pool and piece.end is None:
                        free = self._workers[id(piece.pool)]
                        first = free.index(min(free))
                        piece.end = free[first] = max(free[first], piece.ready) + piece.seconds
                    if piece is wanted:
                        break
                self.now = max(self.now, wanted.end or 0.0)
                del self._pieces[id(future)]


@dataclass
class Clock(Schedule):
    """The clock of this machine, where nothing else runs."""

    _began: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), time.process_time()))

    def tick(self) -> float:
        self.now, self.spent = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        return self.now


@contextmanager
def scheduled(*stages: tuple[Any, str], quiet: bool = False) -> Iterator[Schedule]:
    """Measures what is done meanwhile; of the functions that are named, the clock is added up. On a `quiet` machine by
    its own clock."""
    schedule = Clock() if quiet else Schedule()
    submit, result = ThreadPoolExecutor.submit, Future.result

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if threading.get_ident() != schedule._main:
                return function(*given, **named)
            began = schedule.tick()
            try:
                return function(*given, **named)
            finally:
                schedule.stage += schedule.tick() - began

        return call

    with ExitStack() as stack:
        for owner, name in stages:
            stack.enter_context(mock.patch.object(owner, name, watched(getattr(owner, name))))
        if not quiet:
            handed_over = mock.patch.object(
                ThreadPoolExecutor, "submit", lambda *given, **named: schedule.submitted(submit, *given, **named)
            )
            awaited = mock.patch.object(
                Future, "result", lambda future, timeout=None: schedule.awaited(result, future, timeout)
            )
            stack.enter_context(handed_over)
            stack.enter_context(awaited)
        yield schedule
        schedule.tick()
