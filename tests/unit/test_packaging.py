"""Packaging: the lowest versions that are tried are the lowest that are allowed; a wheel brings compiled kernels."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNNING = """
import sys
from types import SimpleNamespace
from numba.core.event import Listener, register
from shoal.kernels import shipped
if "old" in sys.argv:
    shipped.llvm = SimpleNamespace(get_host_cpu_features=dict)
import numpy as np
from shoal.kernels import grouping
compiled = []

class Count(Listener):
    def on_start(self, event):
        compiled.append(1)

    def on_end(self, event):
        pass

register("numba:compile", Count())
print(grouping._bits(np.array([5, 0, 9])), len(compiled))
"""


def test_the_lowest_versions_are_those_of_the_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    bounds = dict(each.split(">=") for each in listed if ">=" in each)
    pinned = dict(line.split("==") for line in (ROOT / "constraints-lowest.txt").read_text().split())
    assert len(bounds) > 20
    for name, bound in bounds.items():
        name = name.partition("[")[0]
        assert f"{pinned[name]}.".startswith(f"{bound}."), f"{name}: {bound} is allowed and {pinned[name]} is tried"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is built, with a short record of what is compiled ahead."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    kernels = copy / "src" / "shoal" / "kernels"
    shutil.copytree(ROOT / "src" / "shoal" / "kernels", kernels, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "version.py"):
        shutil.copy(ROOT / "src" / "shoal" / name, kernels.parent)
    record = json.loads((kernels / "ahead.json").read_text(encoding="utf-8"))
    short = [entry for entry in record if entry[:2] == ["grouping._bits", ["int64 1C"]]]
    assert len(short) == 1
    (kernels / "ahead.json").write_text(json.dumps(short), encoding="utf-8")
    return copy


def built(sources: Path, folder: Path, **environment: str) -> Path:
    """A wheel, and what lies where it is installed."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=sources, check=True, capture_output=True, env={**os.environ, **environment},
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    return wheel


def ran(installed: Path, kernels: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUNNING, *arguments], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(installed), "NUMBA_CACHE_DIR": str(kernels)},
    )  # fmt: skip
    return done.stdout.strip()


def test_a_wheel_brings_its_kernels_compiled(sources: Path, tmp_path: Path) -> None:
    wheel = built(sources, tmp_path)
    assert not wheel.name.endswith("-any.whl")
    installed = tmp_path / "installed"
    assert ran(installed, tmp_path / "first") == "2 0", "it compiled what the wheel brings"
    assert ran(installed, tmp_path / "second", "old") == "2 1", "this processor cannot run what the wheel brings"
    (path,) = installed.glob("shoal/kernels/grouping.py")
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert ran(installed, tmp_path / "third") == "2 1", "sources that were changed are compiled"


def test_a_wheel_without_compiled_kernels_is_for_every_platform(sources: Path, tmp_path: Path) -> None:
    wheel = built(sources, tmp_path, SHOAL_COMPILE="0")
    assert wheel.name.endswith("-py3-none-any.whl") and not list((tmp_path / "installed").rglob("*.kernel"))
