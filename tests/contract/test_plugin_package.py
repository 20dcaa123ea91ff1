"""The package of `examples/plugin`, which others copy: it is built, installed, and passes its own tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import shoal

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the package, unpacked as an installer does."""
    folder = tmp_path_factory.mktemp("plugin")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=PLUGIN, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_it_passes_its_own_tests(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path),
         "--doctest-modules", str(PLUGIN / "tests"), str(installed / "shoal_others")],
        cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(Path(shoal.__file__).parents[1])])},
    )  # fmt: skip
    assert done.returncode == 0 and "8 passed" in done.stdout, done.stdout + done.stderr


def test_it_asks_for_this_version() -> None:
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = project["dependencies"]
    first, second, _ = shoal.__version__.split(".")
    assert needed == f"shoal>={first}.{second},<{first}.{int(second) + 1}"
