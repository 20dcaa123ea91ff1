"""Run: the progress, the deadline and the end of one piece of work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, RLock, Thread

import numpy as np
from numpy.typing import NDArray

from shoal.errors import CancelledError, ParameterError

Listener = Callable[[float, str], None]
"""Called with the share that is done, between 0 and 1, and what is being done."""

SURE = 0.02
"""The share that must be done before what is left can be estimated."""

POLL = 0.05
"""Seconds between two looks at work that does not ask a run itself."""


class Run:
    """Every long step gets one, tells it how far it is, and asks it whether to go on.

    Another thread may `cancel` it at any moment. Kernels cannot raise: the long ones poll `flag`, return early once
    it is set, and their caller calls `check`. A `deadline` is soft: who has something to show for the time stops
    and shows it.

    Example:
        >>> run = Run()
        >>> run.report(0.5, "halfway")
        >>> run.cancel()
        >>> run.check()
        Traceback (most recent call last):
        ...
        shoal.errors.CancelledError: the run was cancelled; nothing was written
    """

    def __init__(
        self, listener: Listener | None = None, *, seconds: float | None = None, within: Run | None = None
    ) -> None:
        if seconds is not None and not seconds >= 0:
            raise ParameterError("the time limit is a number of seconds from 0 up")
        self.listener = listener
        self.seconds = seconds
        self.within = within
        self.flag: NDArray[np.uint8] = within.flag if within is not None else np.zeros(1, np.uint8)
        self.share = 0.0
        self.doing = "starting"
        self._began = self._clock()
        self._lock = RLock()

    @staticmethod
    def _clock() -> float:
        """Seconds that count: compiling kernels takes none, so that a cold cache gives what a warm one does."""
        kernels = sys.modules.get("shoal.kernels.compilation")  # nothing is compiled before it is loaded
        return time.monotonic() - (kernels.seconds_compiling() if kernels is not None else 0.0)

    def cancel(self) -> None:
        """Asks whoever works on it to stop; they do so at their next step."""
        self.flag[0] = 1

    @property
    def cancelled(self) -> bool:
        return bool(self.flag[0])

    def check(self) -> None:
        """Raises when the run was cancelled."""
        if self.flag[0]:
            raise CancelledError("the run was cancelled; nothing was written")

    def report(self, share: float, doing: str) -> None:
        """Says how far the work is, which never falls back; raises when it was cancelled."""
        self.check()
        with self._lock:
            self.share, self.doing = min(max(share, self.share), 1.0), doing
            if self.listener is not None:
                self.listener(self.share, doing)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, without those of compiling."""
        return self._clock() - self._began

    @property
    def left(self) -> float | None:
        """The seconds that are left, as far as the share that is done tells; None while it does not."""
        return self.elapsed * (1 - self.share) / self.share if self.share >= SURE else None

    @property
    def expired(self) -> bool:
        """Whether the time is up, of this run or of the one that it is a part of."""
        over = self.seconds is not None and self.elapsed >= self.seconds
        return over or (self.within is not None and self.within.expired)

    def part(self, *, seconds: float | None = None, between: tuple[float, float] = (0.0, 1.0)) -> Run:
        """A part of the run with a deadline of its own; it is cancelled with the whole.

        What it reports as done counts `between` two shares of the whole.
        """
        begin, end = between
        return Run(lambda share, doing: self.report(begin + share * (end - begin), doing), seconds=seconds, within=self)


@contextmanager
def polled(look: Callable[[], None]) -> Iterator[None]:
    """Meanwhile, another thread calls `look` again and again: for libraries that do not know what a run is."""
    over = Event()

    def watch() -> None:
        while not over.wait(POLL):
            look()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
