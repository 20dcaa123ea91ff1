"""Where compiled kernels are kept: what is valid is used, and a cache that is unusable costs time and nothing else."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Commands, Running
from counts import LONG

import shoal
from shoal.kernels import caching

KERNELS = Path(shoal.__file__).parent / "kernels"
COUNTING = """
import sys
import numba
import numpy as np
from numba.core.event import Listener, register
from shoal.kernels import grouping
from shoal.kernels.compilation import kernel
compiled = []

class Count(Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass

register("numba:compile", Count())
numba.config.CACHE_DIR = sys.argv[1]
numbers = np.array([5, 0, 9], np.uint16)
"""
RUN = """
bits = kernel(grouping._bits.py_func)
print(bits(numbers), len(compiled))
"""
"""One small kernel, as in a process that has not run it yet: its result, and how many kernels were compiled."""


@pytest.fixture(scope="module")
def ran(commands: Commands) -> Callable[..., tuple[str, str]]:
    """Runs a script in a process of its own."""

    def run(folder: Path, script: str = RUN) -> tuple[str, str]:
        return printed(commands.start(folder, script=COUNTING + script))

    return run


def printed(running: Running) -> tuple[str, str]:
    ended = running.ended()
    assert ended.code == 0, ended.err
    return ended.out.strip(), ended.err


@pytest.fixture(scope="module")
def compiled(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with one small kernel, which two processes compiled at once."""
    folder = tmp_path_factory.mktemp("compiled")
    processes = [commands.start(folder, script=COUNTING + RUN) for _ in range(2)]
    assert {printed(process) for process in processes} <= {("2 1", ""), ("2 0", "")}
    (kept,) = (folder / "kernels").iterdir()
    assert kept.stat().st_mode & caching.OTHERS == 0 and (folder / "kernels").stat().st_mode & 0o077 == 0
    return folder


def test_what_was_compiled_is_used(ran, compiled: Path) -> None:
    assert ran(compiled) == ("2 0", "")


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "no code"] if LONG else ["cut", "changed"])
def test_a_damaged_cache_is_compiled_again(ran, compiled: Path, damage: str, tmp_path: Path) -> None:
    shutil.copytree(compiled, tmp_path / "cache")
    (kept,) = (tmp_path / "cache" / "kernels").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(
        {
            "empty": b"",
            "cut": whole[: len(whole) // 2],
            "changed": whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:],
            "no code": b"no code at all",
        }[damage]
    )
    assert ran(tmp_path / "cache") == ("2 1", "")
    assert ran(tmp_path / "cache") == ("2 0", "")


def test_every_module_that_a_kernel_is_compiled_from_counts(tmp_path: Path) -> None:
    copy = tmp_path / "kernels"
    shutil.copytree(KERNELS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = {path.stem: caching.version(path.stem, copy) for path in copy.glob("*.py")}
    (copy / "cost.py").write_bytes((copy / "cost.py").read_bytes() + b"\n")
    caching.version.cache_clear()
    changed = {name for name, version in before.items() if version != caching.version(name, copy)}
    assert {"cost", "refinement", "bundles", "rebuilding"} <= changed
    assert not changed & {"grouping", "bits", "delimited", "levels"}


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_all_imports_of_a_module_are_known(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    listed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal.kernels"):
            module = (node.module or "").removeprefix("shoal.kernels").removeprefix(".")
            listed |= {module} if module else {alias.name for alias in node.names}
        assert not (isinstance(node, ast.Import) and any(alias.name.startswith("shoal.") for alias in node.names))
    assert caching.imports(path.read_text(encoding="utf-8")) == listed


def test_where_nothing_can_be_kept_a_run_works_and_says_so_once(ran, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"  # for root, too: a file is in the way
    blocked.write_text("")
    result, told = ran(blocked, RUN + "print(bits(np.array([5, 0, 9], np.int16)), len(compiled))\n")
    assert result == "2 1\n2 2" and told.count("compiled code cannot be kept here") == 1
    assert blocked.read_text() == ""


def test_a_folder_that_others_can_write_to_is_not_used(ran, compiled: Path, tmp_path: Path) -> None:
    shutil.copytree(compiled, tmp_path / "cache")
    (tmp_path / "cache" / "kernels").chmod(0o777)
    files = list((tmp_path / "cache" / "kernels").iterdir())
    result, told = ran(tmp_path / "cache")
    assert result == "2 1" and told.count("compiled code cannot be kept here") == 1
    assert list((tmp_path / "cache" / "kernels").iterdir()) == files


@pytest.mark.parametrize("lacking", ["_reduce", "_rebuild"] if LONG else ["_rebuild"])
def test_without_a_private_name_of_the_compiler_its_own_cache_is_used(ran, lacking: str, tmp_path: Path) -> None:
    script = f"""
from numba.core import compiler
taken = compiler.CompileResult.{lacking}
del compiler.CompileResult.{lacking}
bits = kernel(grouping._bits.py_func)
compiler.CompileResult.{lacking} = taken
print(bits(numbers), len(compiled))
"""
    assert ran(tmp_path, script) == ("2 1", "")
    assert not (tmp_path / "kernels").exists() and list(tmp_path.rglob("*.nbi"))
    assert ran(tmp_path, script) == ("2 0", "")


def test_a_users_own_functions_are_kept_where_they_were(ran, tmp_path: Path) -> None:
    assert ran(tmp_path, RUN + "print(numba.config.CACHE_DIR)")[0].splitlines()[1] == str(tmp_path)
