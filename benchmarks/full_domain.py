"""The optimal full-domain search: its time over one polars `group_by` of the same integer columns, in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.core.policy import Policy
from shoal.core.run import Run

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
         "salary-class"]  # fmt: skip
REFERENCE = Path(__file__).parents[2] / "shared" / "data" / "adult"
LIMITS = {0.0: 5, 0.02: 25, 1.0: 80}
"""The ratio that we promise, by suppression limit."""

FIRST_RUN = """
import time, shoal
from shoal.core.run import Run
from shoal.core.policy import Policy
data = shoal.read(shoal.samples.adult().drop("education-num"), quasi=["age", "sex", "race", "education"])
data.summary
started = time.perf_counter()
shoal.Optimal().search(data, Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02), Run())
print(f"{time.perf_counter() - started:.2f}")
"""


def adult() -> shoal.Dataset:
    """The reference copy of Adult with its hierarchies where it lies beside the repository, else the sample."""
    if REFERENCE.is_dir():
        return shoal.read(REFERENCE / "adult.csv", quasi=QUASI, hierarchies=REFERENCE / "hierarchies")
    table = shoal.samples.adult().drop("education-num")
    return shoal.read(table, quasi=QUASI, hierarchies=shoal.samples.hierarchies("adult"))


def ratios(repeats: int = 9) -> None:
    """Search and group_by in turn, so that whatever slows the machine down slows both."""
    data = adult()
    frame = pl.DataFrame({name: data.codes(name).astype(np.int64) for name in QUASI})
    print(f"{data.records:,} records, {len(data.summary):,} distinct tuples, k = 5, loss")
    for limit, promised in LIMITS.items():
        policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=limit)
        facts = shoal.Optimal().search(data, policy, Run()).facts
        theirs, ours = [], []
        for _ in range(repeats):
            started = time.perf_counter()
            frame.group_by(QUASI).len()
            between = time.perf_counter()
            shoal.Optimal().search(data, policy, Run())
            theirs.append(between - started)
            ours.append(time.perf_counter() - between)
        here, there = statistics.median(ours), statistics.median(theirs)
        checked = facts["nodes"]["checked"]
        print(
            f"suppression ≤ {limit:.0%}: {1000 * here:.1f} ms, group_by {1000 * there:.1f} ms, "
            f"ratio {here / there:.1f} (promised {promised}; least of each {min(ours) / min(theirs):.1f}); "
            f"{checked} of {facts['nodes']['total']:,} nodes checked, {1e6 * here / checked:.0f} µs a check; "
            f"loss {facts['score']:.6f}"
        )


def first_run() -> None:
    """The first search of a process: with nothing compiled before, and with the compiled kernels on disk."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        seconds = [
            subprocess.run(
                [sys.executable, "-c", FIRST_RUN], env=environment, capture_output=True, text=True, check=True
            )
            for _ in range(2)
        ]
    compiling, loading = (done.stdout.strip() for done in seconds)
    print(f"first search of a process: {compiling} s when it compiles, {loading} s when the kernels lie on disk")


def many_attributes(columns: int, seconds: float) -> None:
    """More quasi-identifiers than can be searched to the end: the best node, the bound and the gap in limited time."""
    table = shoal.samples.adult().drop("fnlwgt")
    derived = [(pl.col("age") // width).alias(f"age/{width}") for width in range(2, 2 + columns - table.width)]
    table = table.with_columns(derived)
    data = shoal.read(table, quasi=table.columns)
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02)
    datafly = shoal.Datafly().search(data, policy, Run()).facts["score"]
    facts = shoal.Optimal(time_limit=seconds).search(data, policy, Run()).facts
    print(
        f"{columns} quasi-identifiers, {facts['nodes']['total']:,} nodes, {seconds:.0f} s: loss {facts['score']:.4f} "
        f"(Datafly {datafly:.4f}), proven bound {facts['bound']:.4f}, gap {facts['gap']:.0%}, "
        f"{facts['nodes']['checked']:,} nodes checked"
    )


if __name__ == "__main__":
    ratios()
    first_run()
    many_attributes(15, 20)
    many_attributes(25, 20)
