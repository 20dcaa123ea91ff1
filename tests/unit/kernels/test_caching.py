"""Where compiled kernels are kept, and what happens where nothing can be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from shoal.kernels import caching

KERNELS = Path(shoal.__file__).parent / "kernels"
SCRIPT = """
import numpy as np
from shoal.core.grouping import group
group([np.arange(9, dtype=np.int32)] * 2, [2**20, 2**20])
from shoal.kernels import grouping
import numba, pathlib
chosen = pathlib.Path(numba.config.CACHE_DIR)
print(chosen, len(list(chosen.rglob("*.nbi"))) > 0, oct(chosen.parent.stat().st_mode & 0o077))
"""


def test_any_change_of_a_kernel_changes_the_folder(tmp_path: Path) -> None:
    copy = tmp_path / "kernels"
    shutil.copytree(KERNELS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = caching.version(copy)
    assert before == caching.version(KERNELS) and before.startswith(shoal.__version__ + "-")
    (copy / "cost.py").write_bytes((copy / "cost.py").read_bytes() + b"\n")
    changed = caching.version(copy)
    (copy / "cost.py").rename(copy / "price.py")
    assert len({before, changed, caching.version(copy)}) == 3


def read_only(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """An installation, a home and a cache where nothing can be written, for root neither: files are in the way."""
    package, blocked, temporary = tmp_path / "package" / "shoal", tmp_path / "blocked", tmp_path / "temporary"
    shutil.copytree(KERNELS.parent, package, ignore=shutil.ignore_patterns("__pycache__", "samples"))
    (package / "kernels" / "__pycache__").write_text("")
    blocked.write_text("")
    temporary.mkdir()
    return temporary, {
        **{name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"},
        "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary),
        "HOME": str(blocked), "XDG_CACHE_HOME": str(blocked / "cache"), "LOCALAPPDATA": str(blocked),
    }  # fmt: skip


def test_a_read_only_installation_works_and_says_so_once(tmp_path: Path) -> None:
    temporary, environment = read_only(tmp_path)
    for given in ({}, {"NUMBA_CACHE_DIR": environment["HOME"]}):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env={**environment, **given}
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(str(temporary)) and done.stdout.endswith(" True 0o0\n")
        assert done.stderr.count("compiled code cannot be kept here") == 1
        assert list(temporary.iterdir()) == []


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(caching.tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(caching.atexit, "register", lambda *_: None)
    return tmp_path / "temporary"


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, private: Path) -> None:
    home = tmp_path / "home"
    assert caching.kept(home, "v") == home / "v" and (home / "v").stat().st_mode & 0o777 == 0o700
    (home / "v" / "code").write_text("")
    (home / "v").chmod(0o777)
    chosen = caching.kept(home, "v")
    assert private in chosen.parents and not chosen.exists()


def test_what_was_kept_is_used_where_nothing_can_be_written(
    tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (caching.kept(home, "v") / "code").write_text("compiled")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only file system")

    monkeypatch.setattr(caching.tempfile, "TemporaryFile", refuse)
    chosen = caching.kept(home, "v")
    assert private in chosen.parents and (chosen / "code").read_text() == "compiled"
    caching._remove(chosen.parent, os.getpid() + 1)
    assert chosen.exists()
    caching._remove(chosen.parent, os.getpid())
    assert list(private.iterdir()) == []
