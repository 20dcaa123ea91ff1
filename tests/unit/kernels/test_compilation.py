"""What is told about compiling, and where kernels are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASKING = """
import logging, tempfile, sys
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
{before}
import numpy as np
from shoal.core.grouping import group
print(group([np.arange(4, dtype=np.int32)] * 2, [2**20] * 2).counts.tolist())
from numba import config
print(config.CACHE_DIR)
"""
READ_ONLY = """
real = tempfile.TemporaryFile
def denied(*arguments, dir=None, **named):
    if {allowed} and "shoal-" in str(dir):
        return real(*arguments, dir=dir, **named)
    raise PermissionError("read-only")
tempfile.TemporaryFile = denied
if not {allowed}:
    def none(*arguments, **named):
        raise PermissionError("read-only")
    tempfile.mkdtemp = none
"""


def ran(before: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = ASKING.replace("{before}", before)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )


def test_compiling_is_told_once_and_only_when_it_happens(tmp_path: Path) -> None:
    first, second = (ran("", NUMBA_CACHE_DIR=str(tmp_path)).stderr for _ in range(2))
    assert first.count("shoal compiling for this machine") == 1
    assert second == ""


@pytest.mark.parametrize("allowed", [True, False], ids=["only a temporary folder", "nothing can be written"])
def test_a_read_only_file_system_is_told_and_harms_nothing(allowed: bool) -> None:
    done = ran(READ_ONLY.replace("{allowed}", str(allowed)), NUMBA_CACHE_DIR="")
    counts, folder = done.stdout.splitlines()
    assert counts == "[1, 1, 1, 1]"
    assert done.stderr.count("\n") == 1 and "NUMBA_CACHE_DIR" in done.stderr
    assert ("shoal-" in folder) == allowed
    assert not folder or not Path(folder).exists()
