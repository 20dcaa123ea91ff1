"""The standard output: whether anybody still reads what a command prints."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable


class StandardOutput:
    """The standard output as it is when a command begins."""

    def __init__(self) -> None:
        self._before = _identity()

    def is_unread(self, causes: Iterable[BaseException]) -> bool:
        """Whether a command ends because nobody reads what it prints, as in `shoal … | head -1`.

        A pipe to something else may break, too: that is another matter. Libraries that notice put nothing in the place
        of the pipe, so that Python does not complain when it ends; where they did not, this does.
        """
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            pass
        else:
            if not any(isinstance(cause, BrokenPipeError) for cause in causes):
                return False
        if _identity() != self._before:
            return True
        if not _reader_has_gone():
            return False
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)
        return True


def _identity() -> tuple[int, int] | None:
    try:
        status = os.fstat(1)
    except OSError:  # it is closed
        return None
    return status.st_dev, status.st_ino


def _reader_has_gone() -> bool:
    if not hasattr(select, "poll"):  # Windows: a pipe that broke was this one
        return True
    poll = select.poll()
    poll.register(1, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
