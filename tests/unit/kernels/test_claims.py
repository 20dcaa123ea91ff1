"""One process compiles a kernel, and the others wait for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.kernels import claims

pytestmark = pytest.mark.skipif(claims.fcntl is None, reason="this system has no such locks")
HOLDER = """
import sys, time
from pathlib import Path
from shoal.kernels import claims
claims.claim(Path(sys.argv[1]))
print("claimed", flush=True)
time.sleep(float(sys.argv[2]))
"""
COMPILING = """
import sys, time
from numba.core.event import Listener, register
from shoal.core.grouping import group
import numpy as np
found = []

class Count(Listener):
    def on_start(self, event):
        found.append(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event):
        pass

register("numba:compile", Count())
group([np.arange(9, dtype=np.int32)] * 2, [2**20, 2**20])
print(sum(name.startswith("shoal.") for name in found))
"""


def held(place: Path, seconds: float) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(place), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdout.readline() == "claimed\n"
    return holder


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    place = tmp_path / "kernel.lock"
    with held(place, 60) as holder:
        assert not claims.is_free(place)
        holder.kill()
        holder.wait()
        assert claims.is_free(place)


def test_who_waited_is_told_so(tmp_path: Path) -> None:
    place = tmp_path / "kernel.lock"
    assert not claims.claim(place) and claims.is_free(place)
    with held(place, 0.3):
        assert claims.claim(place)
    claims.release(place)


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "kernel.lock"
    monkeypatch.setattr(claims, "LONGEST", 0.2)
    with held(place, 60) as holder:
        began = time.monotonic()
        assert claims.claim(place) and time.monotonic() - began < 30
        holder.kill()


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", COMPILING], stdout=subprocess.PIPE, text=True, env=environment)

    def compiled(process: subprocess.Popen[str]) -> int:
        said, _ = process.communicate()
        assert process.returncode == 0
        return int(said)

    both = [started(), started()]
    together = sum(compiled(each) for each in both)
    (tmp_path / "alone").mkdir()
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "alone")
    assert together == compiled(started()) > 5
