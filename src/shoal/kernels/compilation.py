"""What goes with compiling kernels: the decorator that makes them, how long it took in this process, and a word when it
begins.

The word is a record of the logger `shoal`, so that a run that is the first on a machine does not seem to hang.
"""

import gc
import logging
import time
from threading import Lock, get_ident

from numba import njit
from numba.core.event import Listener, register

from shoal.kernels import caching

COMPILING = "compiling what this run needs, which can take half a minute; later runs find it compiled"

_logger = logging.getLogger("shoal")
_lock = Lock()
_open: dict[int, tuple[int, float]] = {}
_total = 0.0
_told = False
_collecting = True


def kernel(function=None, **options):
    """Makes a function a kernel: compiled when it is called first with some types, and kept (`caching`).

    It runs without Python's lock. Options are those of `numba.njit`.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    dispatcher = njit(nogil=True, **options)(function)
    caching.attach(dispatcher)
    return dispatcher


class _Clock(Listener):
    """Adds up the outermost compilations of each thread, and tells the first one. What is cached compiles nothing, and
    a user's own functions are not counted.

    No garbage is collected meanwhile: the compiler makes millions of objects, and looking through them again and again
    takes a fifth of its time."""

    def on_start(self, event):
        global _told, _collecting
        if get_ident() not in _open and not event.data["dispatcher"].py_func.__module__.startswith(f"{__package__}."):
            return
        depth, began = _open.get(get_ident(), (0, time.monotonic()))
        _open[get_ident()] = (depth + 1, began)
        with _lock:
            first, _told = not _told, True
            if len(_open) == 1 and depth == 0:
                _collecting = gc.isenabled()
                gc.disable()
        if first:
            _logger.info(COMPILING)

    def on_end(self, event):
        global _total
        if get_ident() not in _open:
            return
        depth, began = _open.pop(get_ident())
        if depth > 1:
            _open[get_ident()] = (depth - 1, began)
            return
        with _lock:
            _total += time.monotonic() - began
            if not _open and _collecting:
                gc.enable()


def seconds_compiling() -> float:
    """The seconds that this process has spent compiling."""
    return _total


register("numba:compile", _Clock())
