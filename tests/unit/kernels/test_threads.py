"""The number of threads is what the user said, before and after any thread was started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import numba
from numba.np.ufunc import parallel
from shoal.kernels import threads
assert threads.count() == 2 and not parallel._is_initialized
numba.set_num_threads(1)
assert threads.count() == numba.get_num_threads() == 1
"""
LACKING = """
from types import SimpleNamespace
from shoal.kernels import threads
threads.parallel = SimpleNamespace()
assert threads.count() == 2
"""


@pytest.mark.parametrize("script", [SCRIPT, LACKING])
def test_the_number_of_threads(script: str) -> None:
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
