"""What is told about compiling."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIRST = """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
import numpy as np
from shoal.core.grouping import group
group([np.arange(4, dtype=np.int32)] * 2, [2**20] * 2)
"""
COMMAND = "from shoal.cli import main; main()"


def ran(script: str, *arguments: str, folder: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    return done.stderr


def test_compiling_is_told_once_and_only_when_it_happens(tmp_path: Path) -> None:
    assert ran(FIRST, folder=tmp_path).count("shoal compiling for this machine") == 1
    assert ran(FIRST, folder=tmp_path) == ""


def test_the_command_says_that_it_compiles(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,sex\n30,F\n31,M\n" * 1, encoding="utf-8")
    arguments = ("diagnose", str(table), "--quasi", "age", "--attributes", "age", "--json")
    first, second = (ran(COMMAND, *arguments, folder=tmp_path / "kernels") for _ in range(2))
    assert first.startswith("shoal: compiling for this machine") and first.count("\n") == 1
    assert second == ""
