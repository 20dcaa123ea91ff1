"""What is compiled ahead is what the first run needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba
import pytest
from counts import LONG

from shoal.kernels import ahead

MOST, MISSED = 40, 4
"""Kernels that one Mondrian run may need, and of those, how many the record may lack."""
COUNTING = """
import sys
from numba.core.event import Listener, register
from shoal.cli import main
from shoal.kernels.caching import KernelCache
compiled, loaded = [], []
load = KernelCache.load_overload

def noted(cache, signature, context):
    kernel = load(cache, signature, context)
    if kernel is not None:
        loaded.append(cache.name)
    return kernel

KernelCache.load_overload = noted

class Count(Listener):
    def on_start(self, event):
        if event.data["dispatcher"].py_func.__module__.startswith("shoal."):
            compiled.append(event)

    def on_end(self, event):
        pass

register("numba:compile", Count())
try:
    main()
except SystemExit as stop:
    assert not stop.code
print(len(compiled), len(loaded))
"""


def test_the_record_can_be_read_back() -> None:
    recorded = json.loads(ahead.RECORDED.read_text(encoding="utf-8"))
    assert {"auto", "mondrian", "k-member:refine=true"} <= {name for entry in recorded for name in entry[2]}
    for kernel, types, _ in recorded:
        assert import_module(f"shoal.kernels.{kernel.partition('.')[0]}")
        assert [ahead.spelled(ahead.type_of(each)) for each in types] == types


def test_what_has_no_spelling_is_not_recorded() -> None:
    assert ahead.spelled(numba.types.unicode_type) is None
    assert ahead.spelled(numba.types.Tuple((numba.types.int64, numba.types.unicode_type))) is None


def test_a_record_of_another_version_is_passed_over() -> None:
    odd = [["grouping.no_such_kernel", [], []], ["no_such_module.kernel", [], []]]
    assert ahead.compile_all([*odd, ["grouping.tally", ["int64"], []]]) == 0


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A run of Mondrian on a table."""
    table = tmp_path / "people.csv"
    rows = (f"{20 + row % 37},{'FM'[row % 2]},{row * 7 % 53},{row * 11 % 41}\n" for row in range(900))
    table.write_text("age,sex,zip,job\n" + "".join(rows), encoding="utf-8")
    return [
        "anonymize", str(table), "--quasi", "age,sex,zip,job", "--k", "3", "--algorithm", "mondrian",
        "-o", str(tmp_path / "release.csv"),
    ]  # fmt: skip


ASKING = """
import json, sys
from numba.core.dispatcher import Dispatcher
from shoal.cli import main
from shoal.kernels import ahead
asked, usual = [], Dispatcher.compile

def noted(self, types):
    entry = ahead.entry(self, types)
    asked.extend([entry] if entry else [])
    return usual(self, types)

Dispatcher.compile = noted
try:
    main()
except SystemExit as stop:
    assert not stop.code
print(json.dumps(asked))
"""


def test_a_run_needs_next_to_nothing_that_is_not_recorded(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", ASKING, *arguments], capture_output=True, text=True, check=True)
    asked = json.loads(done.stdout.splitlines()[-1])
    recorded = [entry[:2] for entry in ahead.needed(["mondrian"])]
    assert 10 < len(recorded) <= MOST
    known = [entry in recorded for entry in asked]
    assert sum(known) >= 8 and known.count(False) <= MISSED, asked


@pytest.mark.skipif(not LONG, reason="the long run compiles all that is recorded")
def test_a_run_after_compiling_ahead_compiles_next_to_nothing(arguments: list[str], tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
    script = "from shoal.kernels import ahead; print(ahead.compile_all(ahead.needed(['mondrian'])))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    listed = int(done.stdout)
    assert 10 < listed <= MOST
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *arguments],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    compiled, loaded = map(int, done.stdout.split()[-2:])
    assert compiled <= MISSED and loaded >= 8
