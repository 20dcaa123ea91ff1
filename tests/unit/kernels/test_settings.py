"""numba takes its settings from the environment, and from no file of the folder in which somebody stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, sys
{before}
from shoal.kernels import grouping
import numba

assert not numba.config.CACHE_DIR, numba.config.CACHE_DIR
os.chdir(sys.argv[1])
numba.core.config.reload_config()  # which the compiler does
assert not numba.config.CACHE_DIR and not numba.config.DEBUG
import yaml
assert yaml.safe_load("a: 1") == {{"a": 1}}
"""


def test_a_file_of_the_current_folder_is_not_obeyed(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / ".numba_config.yaml").write_text("cache_dir: planted\ndebug: 1\n")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    for folder, before in ((tmp_path, ""), (planted, "import yaml")):  # it comes later, or is there from the start
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(before=before), planted], cwd=folder, capture_output=True, text=True,
            env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
