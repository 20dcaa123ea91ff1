"""What is compiled ahead is what the first run needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numba

from shoal.kernels import ahead

MOST, MISSED = 40, 4
"""Specializations that one Mondrian run may compile, and of those, how many the record may lack."""
COUNTING = """
import sys
from numba.core.event import Listener, register
from shoal.cli import main
found = []

class Count(Listener):
    def on_start(self, event):
        found.append(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event):
        pass

register("numba:compile", Count())
try:
    main()
except SystemExit as stop:
    assert not stop.code
print(len(found), sum(name.startswith("shoal.") for name in found))
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


def test_a_run_after_compiling_ahead_compiles_next_to_nothing(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    rows = (f"{20 + row % 37},{'FM'[row % 2]},{row * 7 % 53},{row * 11 % 41}\n" for row in range(900))
    table.write_text("age,sex,zip,job\n" + "".join(rows), encoding="utf-8")
    arguments = ["anonymize", str(table), "--quasi", "age,sex,zip,job", "--k", "3", "--algorithm", "mondrian"]

    def counted(kernels: Path) -> tuple[int, int]:
        done = subprocess.run(
            [sys.executable, "-c", COUNTING, *arguments, "-o", str(tmp_path / f"{kernels.name}.csv")],
            capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(kernels)},
        )  # fmt: skip
        everything, own = done.stdout.split()[-2:]
        return int(everything), int(own)

    everything, own = counted(tmp_path / "first")
    assert 10 < own <= everything <= MOST
    script = "from shoal.kernels import ahead; print(ahead.compile_all(ahead.needed(['mondrian'])))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "ahead")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert int(done.stdout) > 10
    assert counted(tmp_path / "ahead")[1] <= MISSED
