"""Files in and out: reading CSV beside polars, and a release of ten million rows from CSV to CSV, stage by stage."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from benchmarks.engines import COLUMNS, SENSITIVE
from benchmarks.measuring import peak_of

_STAGES = """
import sys, time
import shoal
source, out, quasi, sensitive = {arguments!r}
began = wall, processor = time.perf_counter(), time.process_time()

def stage(name):
    global wall, processor
    now = time.perf_counter(), time.process_time()
    peak = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')) / 2**20
    print(f"{{name}}|{{now[0] - wall}}|{{now[1] - processor}}|{{peak}}")
    wall, processor = time.perf_counter(), time.process_time()

def told(share, doing):
    if doing == "publishing":
        stage("search")

data = shoal.read(source, quasi=quasi, sensitive=[sensitive], hierarchies=shoal.samples.hierarchies('census'))
stage("read")
data.summary
stage("group")
release = shoal.anonymize(data, 'k-anonymity:k=10', algorithm='mondrian', seed=1, run=shoal.core.run.Run(told))
stage("apply, and verify in memory")
release.write(out)
stage("write, read back, verify and hash the file")
print(f"all|{{time.perf_counter() - began[0]}}|{{time.process_time() - began[1]}}|0")
"""


def _clocked(work: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """The least seconds of several runs, on the wall and of the processors."""
    found = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - wall, time.process_time() - processor))
    return min(wall for wall, _ in found), min(processor for _, processor in found)


def reading(rows: int, folder: Path) -> None:
    """A dataset from a CSV file, over polars' `read_csv` of the same file; also when every text is quoted."""
    table = shoal.samples.census(rows)
    for what, style in (("plain", "necessary"), ("quoted", "always")):
        path = folder / f"{what}.csv"
        table.write_csv(path, quote_style=style)

        def ours(path: Path = path) -> Any:
            trees = shoal.samples.hierarchies("census")
            return shoal.read(path, quasi=COLUMNS, sensitive=[SENSITIVE], hierarchies=trees)

        ours()
        (wall, processor), (their_wall, theirs) = _clocked(ours), _clocked(lambda path=path: pl.read_csv(path))
        print(
            f"reading {rows:,} rows of {what} CSV: {wall:.2f} s, polars {their_wall:.2f} s, "
            f"ratio {wall / their_wall:.2f}; "
            f"processors {processor:.2f} s, polars {theirs:.2f} s, ratio {processor / theirs:.2f}"
        )


def from_file_to_file(rows: int, folder: Path) -> None:
    """Mondrian with k = 10, from a CSV file to a verified one, in a process of its own."""
    source = folder / "census.csv"
    shoal.samples.census(rows).write_csv(source)
    reads = _clocked(lambda: pl.read_csv(source), 2)
    arguments = (str(source), str(folder / "out.csv"), COLUMNS, SENSITIVE)
    peak, printed = peak_of(_STAGES.format(arguments=arguments))
    stages = [line.split("|") for line in printed.splitlines()]
    total = float(stages[-1][1])
    print(f"{rows:,} rows from CSV to a verified Mondrian release in CSV:")
    for name, wall, processor, memory in stages:
        held = f", peak so far {float(memory):.2f} GB" if float(memory) else f", peak {peak:.2f} GB"
        share = float(wall) / total
        print(f"  {name}: {float(wall):.1f} s ({share:.0%}), processors {float(processor):.1f} s{held}")
    print(f"  polars only reads the file in {reads[0]:.1f} s, processors {reads[1]:.1f} s")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        reading(1_000_000, Path(place))
        from_file_to_file(10_000_000, Path(place))
