"""A signal stops a run at once, also while the main thread is inside compiled code."""

from __future__ import annotations

import signal

import pytest
from command import Commands

KERNEL = """
import threading, time
import numpy as np
from numba import njit
from shoal.cli import main, output

@njit(nogil=True)
def until(flag, work):
    turn = 0
    while not flag[0]:
        turn += 1
        work[turn % 8] += 1  # a store, so that the flag is read anew

until(np.ones(1, np.uint8), np.zeros(8, np.int64))

def tell(work):
    while not work.any():
        time.sleep(0.001)
    print("running", flush=True)

def endless(*_arguments, **_named):
    with output.watching() as run:
        work = np.zeros(8, np.int64)
        threading.Thread(target=tell, args=[work]).start()
        until(run.flag, work)
        run.check()

import shoal.api
shoal.api.verify = endless
main(["verify", "nothing.csv"])
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_kernel_is_stopped_at_once(sent: signal.Signals, commands: Commands) -> None:
    running = commands.start(script=KERNEL)
    running.until(lambda: running.out == "running\n")
    running.send(sent)
    ended = running.ended()
    assert ended.code == 130 and ended.err == "interrupted; no file is half-written\n"
