"""What a run saves that goes on after a kill: `python -m benchmarks.resuming 10` (millions of rows, on DuckDB).

The command is killed (SIGKILL) when it begins a stage and run again with the same state. Printed is the processor time
of the second run beside that of an undisturbed one, with and without a state; starting Python is in all of them.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.foundation import QUASI
from benchmarks.scale import LIMIT, generated
from shoal import samples

KILLING = """
import os, signal, sys
from shoal.core import run
stage, reported = sys.argv.pop(1), run.Run.report
def report(self, share, doing):
    reported(self, share, doing)
    if doing == stage and self.within is None:
        os.kill(os.getpid(), signal.SIGKILL)
run.Run.report = report
from shoal.cli import main
main()
"""
STAGES = ("searching", "publishing", "writing", "reading back")


def measured(arguments: list[str], stage: str = "never") -> float:
    """The processor time of a run of the command, which is killed at a stage."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", KILLING, stage, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def content(folder: Path) -> str:
    """A hash of the rows of a release in their order; DuckDB's files can differ in statistics of the same rows."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.parquet")):
        digest.update(pl.read_parquet(path).hash_rows().to_numpy().tobytes())
    return digest.hexdigest()


def resuming(millions: int, folder: Path, algorithm: str) -> None:
    table, out, state = generated(folder, millions), folder / "out", folder / "state"
    arguments = [
        "anonymize", str(table), "-o", str(out), "--quasi", ",".join(QUASI), "--k", "5", "--suppression", "0.01",
        "--seed", "1", "--algorithm", algorithm, "--engine", f"duckdb:memory_limit={LIMIT},temporary={folder}",
        "--hierarchies", str(samples.hierarchies("census")), "--rows-per-file", "1000000", "--overwrite",
    ]  # fmt: skip
    print(f"{millions} million census rows × {len(QUASI)} quasi-identifiers, {algorithm}:", flush=True)
    plain = measured(arguments)
    expected = content(out)
    kept = measured([*arguments, "--resume-dir", str(state)])
    print(f"  undisturbed: {plain:.1f} s; with a state: {kept:.1f} s", flush=True)
    for stage in STAGES:
        measured([*arguments, "--resume-dir", str(state)], stage)
        size = sum(path.stat().st_size for path in state.iterdir())
        again = measured([*arguments, "--resume-dir", str(state)])
        same = content(out) == expected
        print(
            f"  killed before {stage}: goes on in {again:.1f} s ({again / plain:.0%}), state {size / 2**20:.0f} MB, "
            f"the same release: {same}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=int, nargs="?", default=1)
    parser.add_argument("--algorithm", default="optimal")
    parser.add_argument("--folder", type=Path, help="where tables are kept; by default they are removed at the end")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        resuming(given.millions, given.folder or Path(folder), given.algorithm)


if __name__ == "__main__":
    main()
