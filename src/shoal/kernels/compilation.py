"""What goes with compiling kernels: how long it took in this process, and a word when it begins.

The word is a record of the logger `shoal`, so that a run that is the first on a machine does not seem to hang.
"""

import logging
import time
from threading import Lock, get_ident

from numba.core.event import Listener, register

from shoal.kernels import blas

COMPILING = "compiling for this machine, once: this can take up to half a minute; later runs start at once"

_logger = logging.getLogger("shoal")
_lock = Lock()
_open: dict[int, tuple[int, float]] = {}
_total = 0.0
_told = False


class _Clock(Listener):
    """Adds up the outermost compilations of each thread, and tells the first one. What is cached compiles nothing."""

    def on_start(self, event):
        global _told
        depth, began = _open.get(get_ident(), (0, time.monotonic()))
        _open[get_ident()] = (depth + 1, began)
        with _lock:
            first, _told = not _told, True
        if first:
            blas.deferred()
            _logger.info(COMPILING)

    def on_end(self, event):
        global _total
        depth, began = _open.pop(get_ident(), (1, time.monotonic()))
        if depth > 1:
            _open[get_ident()] = (depth - 1, began)
            return
        with _lock:
            _total += time.monotonic() - began


def seconds_compiling() -> float:
    """The seconds that this process has spent compiling."""
    return _total


register("numba:compile", _Clock())
