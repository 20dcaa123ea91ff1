"""Ctrl-C and requests to end: none is lost, and each stops a run at once, also inside compiled code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from shoal.core.run import Run


@contextmanager
def interruptible() -> Iterator[None]:
    """Lets a request to end the process clean up as Ctrl-C does, and loses no Ctrl-C.

    Python cannot raise out of a finalizer or a compiled library's callback: what happens there is printed and
    forgotten. An interrupt is sent again instead, and of anything else no text is printed, which may hold values.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def unraisable(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)).start()
        elif os.environ.get("SHOAL_DEBUG"):
            hook(lost)
        else:
            typer.echo(f"warning: {lost.exc_type.__name__} in a callback; its text is withheld", err=True)

    handler, hook = signal.signal(signal.SIGTERM, signal.default_int_handler), sys.unraisablehook
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, handler)


@contextmanager
def cancelling(run: Run) -> Iterator[None]:
    """Cancels a run as soon as a signal arrives.

    Python raises an interrupt only between two of its own steps, so a long kernel would hold it up. The number of a
    signal is written to a pipe at once, though, and a thread that reads it runs while a kernel does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def watch() -> None:
        while numbers := os.read(reading, 64):
            if {signal.SIGINT, signal.SIGTERM} & set(numbers):
                run.cancel()

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)  # which ends the watcher
        watcher.join()
        os.close(reading)
