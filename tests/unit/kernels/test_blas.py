"""Linear algebra is left out until somebody compiles some."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import numpy as np
from numba import njit
from shoal.core.grouping import group
group([np.arange(9, dtype=np.int32)] * 2, [2**20, 2**20])
assert "scipy.linalg" not in sys.modules

@njit
def product(left, right):
    return np.dot(left, right)

assert np.array_equal(product(np.eye(3), np.full((3, 3), 2.0)), np.full((3, 3), 2.0))
assert "scipy.linalg" in sys.modules
"""


def test_kernels_need_no_linear_algebra_and_other_code_has_it(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):  # when Shoal's kernels are compiled, and when they are loaded
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
