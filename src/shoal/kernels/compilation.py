"""How long kernels were compiled in this process: time that no deadline should count."""

import sys
import time
from threading import Lock, get_ident

_lock = Lock()
_open: dict[int, tuple[int, float]] = {}
_total = 0.0
_listening = False


def _listen() -> None:
    from numba.core.event import Listener, register

    class _Clock(Listener):
        """Adds up the outermost compilations of each thread."""

        def on_start(self, event):
            depth, began = _open.get(get_ident(), (0, time.monotonic()))
            _open[get_ident()] = (depth + 1, began)

        def on_end(self, event):
            global _total
            depth, began = _open.pop(get_ident(), (1, time.monotonic()))
            if depth > 1:
                _open[get_ident()] = (depth - 1, began)
                return
            with _lock:
                _total += time.monotonic() - began

    register("numba:compile", _Clock())


def seconds_compiling() -> float:
    """The seconds that this process has spent compiling since it was first asked; none before numba is loaded."""
    global _listening
    if not _listening and "numba" in sys.modules:
        _listening = True
        _listen()
    return _total
