"""The number of threads is what the user said, before and after any thread was started."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numba
from numba.np.ufunc import parallel
from shoal.kernels import threads
assert threads.count() == 2 and not parallel._is_initialized
numba.set_num_threads(1)
assert threads.count() == numba.get_num_threads() == 1
numba.set_num_threads(2)
from types import SimpleNamespace
threads.parallel = SimpleNamespace()
assert threads.count() == 2
"""


def test_the_number_of_threads() -> None:
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
