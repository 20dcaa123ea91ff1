"""Times and memory, measured side by side in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
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


def told_by(sources: Path, module: str, *arguments: str) -> list[Any]:
    """The lines of JSON that a module of this folder prints with the version of Shoal whose sources are in a folder, in
    a process of its own."""
    if not (sources / "shoal" / "__init__.py").exists():  # else the installed version would be compared with itself
        raise SystemExit(f"{sources}: there is no package shoal in this folder; name the src folder of a checkout")
    path = os.pathsep.join([str(sources), str(Path(__file__).parents[1])])
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
