"""What is told about compiling."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OWN = """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
import numpy as np
from numba import njit
from shoal.kernels.grouping import _bits
print(njit(lambda: 7)())
"""
FIRST = OWN + "_bits(np.array([5, 0, 9]))"
COMMAND = "from shoal.cli import main; main()"


def ran(script: str, *arguments: str, folder: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    return done.stderr


def test_compiling_is_told_once_and_only_when_it_happens(tmp_path: Path) -> None:
    assert ran(OWN, folder=tmp_path) == "", "a user's own function"
    assert ran(FIRST, folder=tmp_path).count("shoal compiling what this run needs") == 1
    assert ran(FIRST, folder=tmp_path) == ""


def test_the_command_says_that_it_compiles(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,sex\n30,F\n31,M\n" * 1, encoding="utf-8")
    arguments = ("diagnose", str(table), "--quasi", "age", "--attributes", "age", "--json")
    first, second = (ran(COMMAND, *arguments, folder=tmp_path / "kernels") for _ in range(2))
    assert first.startswith("shoal: compiling what this run needs") and first.count("\n") == 1
    assert second == ""
