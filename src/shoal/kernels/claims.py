"""Several processes never compile the same kernel at once: one does, and the others wait for it and load it.

A claim is a lock on a file beside what was compiled, which the system gives up when its process ends, however it does.
"""

import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # not every system has such locks: then two processes may do the same work
    fcntl = None

LONGEST = 60.0
"""Seconds after which nobody waits for another process any more."""
STEP = 0.01

_held = {}


def claim(place: Path) -> bool:
    """Waits while another process has the claim, and takes it; whether somebody else had it."""
    waited, began = False, time.monotonic()
    while not _taken(place) and time.monotonic() - began < LONGEST:
        waited = True
        time.sleep(STEP)
    return waited


def release(place: Path) -> None:
    """Gives a claim up."""
    file = _held.pop(place, None)
    if file is not None:
        file.close()


def release_all() -> None:
    """Gives up every claim, such as when compiling failed."""
    for place in list(_held):
        release(place)


def is_free(place: Path) -> bool:
    """Whether no process has the claim."""
    free = place in _held or _taken(place)
    release(place)
    return free


def _taken(place: Path) -> bool:
    """Takes the claim if nobody else has it; where no claim can be made, everybody has his own."""
    if fcntl is None or place in _held:
        return True
    try:
        file = place.open("a")
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    except OSError:
        file.close()
        return True
    _held[place] = file
    return True
