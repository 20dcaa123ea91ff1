"""What is told about compiling."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from command import Commands
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

from shoal.kernels import compilation, sorting

FRESH = """
import logging, sys
import numba
import numpy as np
from shoal.kernels import compilation, grouping
numba.config.CACHE_DIR = sys.argv.pop(1)
compilation._told = False
grouping._bits = compilation.kernel(grouping._bits.py_func)
grouping.decode = compilation.kernel(grouping.decode.py_func)
"""
"""Two kernels as they are in a process that has not run them yet."""
OWN = (
    FRESH
    + """
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
print(numba.njit(lambda: 7)())
"""
)
FIRST = OWN + "grouping._bits(np.array([5, 0, 9], np.uint16))"
COMMAND = FRESH + "from shoal.cli import main; main()"


def said(commands: Commands, script: str, folder: Path, *arguments: object) -> str:
    done = commands.run(folder, *arguments, script=script)
    assert done.code == 0, done.err
    return done.err


def test_compiling_is_told_once_and_only_when_it_happens(commands: Commands, tmp_path: Path) -> None:
    assert said(commands, OWN, tmp_path) == "", "a user's own function"
    assert said(commands, FIRST, tmp_path).count("shoal compiling what this run needs") == 1
    assert said(commands, FIRST, tmp_path) == ""


def test_the_command_says_that_it_compiles(commands: Commands, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,sex\n30,F\n31,M\n", encoding="utf-8")
    arguments = ("diagnose", table, "--quasi", "age", "--attributes", "age", "--json")
    first, second = (said(commands, COMMAND, tmp_path / "kernels", *arguments) for _ in range(2))
    assert first.startswith("shoal: compiling what this run needs") and first.count("\n") == 1
    assert second == ""


def test_a_part_of_kernels_cannot_be_called_from_python() -> None:
    with pytest.raises(TypeError, match="insert is a part of kernels"):
        sorting.insert(0.5, 1, np.zeros(2), np.zeros(2, np.int32), 1)


def test_kernels_give_one_another_whole_numbers_of_one_type() -> None:
    doubled = compilation.inner(lambda number: 2 * number)
    for kind in (types.int32, types.literal(3), types.int64, types.float64):
        doubled.get_call_template((kind,), {})  # what numba asks when a kernel calls it
    assert doubled.signatures == [(types.int64,), (types.float64,)]


def test_what_borrows_its_arrays_counts_no_holders_and_makes_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    def made(count: int) -> int:
        return len(np.zeros(count))

    ratio = compilation.inner(lambda rows, at: rows[at][0] / rows[at][1], borrowing=True)
    making = compilation.inner(made)
    total = compilation.kernel(lambda rows: ratio(rows, 1) + making(3), borrowing=True)
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    holders = sys.getrefcount(rows)
    assert total(rows) == 3.75
    assert sys.getrefcount(rows) == holders
    assert "call void @NRT" not in next(iter(ratio.inspect_llvm().values()))
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "other"))
    with pytest.raises(TypingError):
        compilation.kernel(made, borrowing=True)(3)
    with pytest.raises(TypeError, match="returned borrows its arrays"):

        @compilation.kernel(borrowing=True)
        def returned(rows, at):
            return at, rows

        returned(rows, 1)


def test_what_borrows_its_arrays_calls_only_what_does() -> None:
    """Of the kernels here: what another one returned would be counted in, and never off."""
    tried = 0
    for path in Path(compilation.__file__).parent.glob("[a-z]*.py"):
        module = vars(import_module(f"shoal.kernels.{path.stem}"))
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(function, ast.FunctionDef) or not borrows(module[function.name]):
                continue
            tried += 1
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                    called = module.get(call.func.id)
                    assert not isinstance(called, Dispatcher) or borrows(called), f"{function.name}: {call.func.id}"
    assert tried > 20


def borrows(function: object) -> bool:
    return isinstance(function, Dispatcher) and function.targetoptions.get("_nrt") is False


class OtherDispatcher(int):
    """What an object of numba cannot become."""


PRIVATE = {"no such options": "_known", "no such class": "_Inner", "no such method": "_Kernel.get_call_template"}


@pytest.mark.parametrize("lacking", PRIVATE)
def test_without_what_is_private_in_numba_more_is_compiled_and_says_the_same(
    lacking: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    private = f"shoal.kernels.compilation.{PRIVATE[lacking]}"
    if lacking == "no such method":
        monkeypatch.delattr(private)
    else:
        monkeypatch.setattr(private, OtherDispatcher)
    doubled = compilation.inner(lambda number: 2 * number)
    added = compilation.kernel(lambda number: doubled(number) + doubled(np.int32(4)))
    assert added(5) == 18
    assert len(doubled.signatures) == (1 if lacking == "no such options" else 2)
