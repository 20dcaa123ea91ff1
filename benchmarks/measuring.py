"""Times and memory, measured side by side in one run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def fastest(work: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def peak_of(script: str) -> tuple[float, str]:
    """The peak resident memory of a script in a process of its own, in GB, and what it printed."""
    # VmHWM begins anew with a process; the maximum that getrusage reports begins with the parent's.
    peak = "next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))"
    measured = f"{script}\nprint({peak})"
    done = subprocess.run([sys.executable, "-c", measured], capture_output=True, text=True, check=True)
    *printed, kilobytes = done.stdout.strip().splitlines()
    return int(kilobytes) / 2**20, "\n".join(printed)
