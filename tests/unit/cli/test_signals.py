"""A signal stops a run at once, also while the main thread is inside compiled code."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

KERNEL = """
import numpy as np
from numba import njit
from shoal.cli import main, output

@njit(nogil=True)
def until(flag, work):
    for turn in range(20_000_000_000):
        work[turn % 8] += 1  # a store, so that the flag is read anew
        if flag[0]:
            return

until(np.ones(1, np.uint8), np.zeros(8, np.uint8))

def endless(*_arguments, **_named):
    with output.watching() as run:
        print("running", flush=True)
        until(run.flag, np.zeros(8, np.uint8))
        run.check()

import shoal.api
shoal.api.verify = endless
main(["verify", "nothing.csv"])
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_kernel_is_stopped_at_once(sent: signal.Signals) -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", KERNEL], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None and running.stdout.readline() == "running\n"
    time.sleep(0.2)
    started = time.monotonic()
    running.send_signal(sent)
    _, err = running.communicate(timeout=60)
    assert time.monotonic() - started < 2
    assert running.returncode == 130 and err == "interrupted; no file is half-written\n"
