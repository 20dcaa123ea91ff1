"""What goes with compiling kernels: how long it took in this process, a word when it begins, and where they are kept.

The word is a record of the logger `shoal`, so that a run that is new on a machine does not seem to hang.
"""

import atexit
import logging
import shutil
import tempfile
import time
from threading import Lock, get_ident

from numba import config, njit
from numba.core.dispatcher import Dispatcher
from numba.core.event import Listener, register

COMPILING = "compiling for this machine, once: this can take up to half a minute; later runs start at once"
UNKEPT = (
    "what is compiled cannot be kept in this file system and is compiled anew in each run: up to half a minute; "
    "set NUMBA_CACHE_DIR to a folder that can be written"
)

_logger = logging.getLogger("shoal")
_lock = Lock()
_open: dict[int, tuple[int, float]] = {}
_total = 0.0
_told = False


class _Clock(Listener):
    """Adds up the outermost compilations of each thread, and tells the first one. What is cached compiles nothing."""

    def on_start(self, event):
        depth, began = _open.get(get_ident(), (0, time.monotonic()))
        _open[get_ident()] = (depth + 1, began)
        _tell(COMPILING, logging.INFO)

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


def _tell(text, level):
    global _told
    with _lock:
        first, _told = not _told, True
    if first:
        _logger.log(level, text)


def _probe():
    pass


def _can_be_kept():
    try:
        njit(cache=True)(_probe)  # looks for a folder, and compiles nothing
    except RuntimeError:
        return False
    return True


def _find_a_place():
    """Where the file system cannot be written, a folder of this process, or none at all."""
    if _can_be_kept():
        return
    _tell(UNKEPT, logging.WARNING)
    try:
        config.CACHE_DIR = tempfile.mkdtemp(prefix="shoal-")
    except OSError:
        Dispatcher.enable_caching = lambda _self: None
        return
    atexit.register(shutil.rmtree, config.CACHE_DIR, ignore_errors=True)


register("numba:compile", _Clock())
_find_a_place()
