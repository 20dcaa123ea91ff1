"""The optimal full-domain search: its time over one polars `group_by` of the same integer columns, in the same run.

Where ARX's time is told beside, it was measured on another machine, a quiet one with two cores: that ratio is a hint.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
shoal.algorithms.Optimal().search(data, Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02), Run())
print(f"{time.perf_counter() - started:.2f}")
"""


ELSEWHERE = {
    "t-closeness 0.2, equal distance": ((shoal.TCloseness(t=0.2),), 1.0, 2.98),
    "t-closeness 0.2, hierarchical distance": ((shoal.TCloseness(t=0.2, distance="hierarchical"),), 1.0, 3.49),
    "entropy 3-diversity": ((shoal.EntropyLDiversity(l=3),), 0.04, 0.85),
    "recursive (4, 3)-diversity": ((shoal.models.RecursiveLDiversity(c=4, l=3),), 0.04, 0.72),
}
"""Models of a sensitive attribute, eight quasi-identifiers: suppression limit, and ARX 3.9.2's seconds elsewhere."""


def adult(*, sensitive: bool = False) -> shoal.Dataset:
    """The reference copy of Adult with its hierarchies where it lies beside the repository, else the sample."""
    quasi = [name for name in QUASI if not sensitive or name != "occupation"]
    chosen = ["occupation"] if sensitive else []
    if REFERENCE.is_dir():
        return shoal.read(REFERENCE / "adult.csv", quasi=quasi, sensitive=chosen, hierarchies=REFERENCE / "hierarchies")
    table = shoal.samples.adult().drop("education-num")
    return shoal.read(table, quasi=quasi, sensitive=chosen, hierarchies=shoal.samples.hierarchies("adult"))


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall time and of processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def compared(work: Callable[[], object], data: shoal.Dataset, repeats: int) -> tuple[float, float, float, float]:
    """The median wall and processor time of some work, then those of one group_by, in turn, so that whatever slows the
    machine down slows both."""
    names = list(data.schema.quasi)
    frame = pl.DataFrame({name: data.codes(name).astype(np.int64) for name in names})
    work()
    pairs = [(*timed(work), *timed(lambda: frame.group_by(names).len())) for _ in range(repeats)]
    wall, processor, other_wall, other_processor = (statistics.median(column) for column in zip(*pairs, strict=True))
    return wall, processor, other_wall, other_processor


def ratios(repeats: int = 9) -> None:
    """k-anonymity with nine quasi-identifiers: the search alone, and with the release applied and verified."""
    data = adult()
    print(f"{data.records:,} records, {len(data.summary):,} distinct tuples, k = 5, loss")
    k = shoal.KAnonymity(k=5)
    for limit, promised in LIMITS.items():
        policy = Policy(models=(k,), suppression=limit)
        facts = shoal.algorithms.Optimal().search(data, policy, Run()).facts
        wall, processor, other, _ = compared(
            lambda p=policy: shoal.algorithms.Optimal().search(data, p, Run()), data, repeats
        )
        checked = facts["nodes"]["checked"]
        print(
            f"suppression ≤ {limit:.0%}: {1000 * wall:.1f} ms ({1000 * processor:.1f} ms of processor time), "
            f"group_by {1000 * other:.1f} ms, ratio {wall / other:.1f} (promised {promised}); "
            f"{checked} of {facts['nodes']['total']:,} nodes checked, {1e6 * processor / checked:.0f} µs a check; "
            f"loss {facts['score']:.6f}"
        )
    wall, processor, other, _ = compared(
        lambda: shoal.anonymize(data, k, algorithm="optimal", suppression=0.0, seed=1), data, repeats
    )
    print(
        f"suppression ≤ 0%, with the release applied and verified: {1000 * wall:.1f} ms ({1000 * processor:.1f} ms of "
        f"processor time), ratio {wall / other:.1f}; ARX's search alone took 47 ms on another machine"
    )


def wide_tables(repeats: int = 9) -> None:
    """Nine quasi-identifiers with hardly any duplicates, no suppression: the first grouping and the search, each beside
    one group_by of the same columns, in processor time."""
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=0.0)
    trees = shoal.samples.hierarchies("census")
    for rows in (63_441, 100_000):
        table = shoal.samples.census(rows, seed=7)
        data = shoal.read(table, quasi=table.columns, hierarchies=trees)
        fresh = [shoal.read(table, quasi=table.columns, hierarchies=trees) for _ in range(repeats)]
        first = statistics.median(timed(lambda one=one: one.summary)[1] for one in fresh)
        facts = shoal.algorithms.Optimal().search(data, policy, Run()).facts
        _, processor, _, other = compared(
            lambda d=data: shoal.algorithms.Optimal().search(d, policy, Run()), data, repeats
        )
        checked = facts["nodes"]["checked"]
        print(
            f"{rows:,} census records, {len(data.summary):,} distinct tuples, suppression ≤ 0%, ms of processor time: "
            f"group_by {1000 * other:.1f}, first grouping {1000 * first:.1f} ({first / other:.1f} times), "
            f"search {1000 * processor:.1f} ({processor / other:.1f} times); {checked} of "
            f"{facts['nodes']['total']:,} nodes checked, {processor / checked / other:.3f} group_bys a node"
        )


def sensitive_models(repeats: int = 5) -> None:
    """Models that prune little: eight quasi-identifiers, occupation sensitive."""
    data = adult(sensitive=True)
    for name, (models, limit, elsewhere) in ELSEWHERE.items():
        policy = Policy(models=models, suppression=limit)
        facts = shoal.algorithms.Optimal().search(data, policy, Run()).facts
        wall, processor, other, _ = compared(
            lambda p=policy: shoal.algorithms.Optimal().search(data, p, Run()), data, repeats
        )
        print(
            f"{name}, suppression ≤ {limit:.0%}: {1000 * wall:.0f} ms ({1000 * processor:.0f} ms of processor time), "
            f"{wall / other:.0f} group_bys; {facts['nodes']['checked']:,} of {facts['nodes']['total']:,} nodes "
            f"checked; loss {facts['score']:.10f}; ARX took {elsewhere:.2f} s on another machine"
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


DROPPED = {"age": (1, 3), "education": (1,), "marital-status": (2,), "work-class": (2,), "country": (1,),
           "occupation": (2,), "salary-class": (2,)}  # fmt: skip
"""Levels that are left out where the lattice of the couples is to have 90 million nodes instead of 4 billion."""


def couples(rows: int, *, fewer_levels: bool = False) -> shoal.Dataset:
    """Sixteen quasi-identifiers: people of the census generator, and partners of about their age and country."""
    people, partners = (shoal.samples.census(rows, seed=seed).sort("country", "age") for seed in (7, 8))
    others = [name for name in partners.columns if name not in ("country", "gender")]
    table = people.with_columns(partners[name].alias(f"partner-{name}") for name in others)
    folder = Path(shoal.samples.hierarchies("census"))
    trees = {}
    for name in table.columns:
        told = name.removeprefix("partner-")
        paths = [line.split(";") for line in (folder / f"{told}.csv").read_text().splitlines()]
        left_out = DROPPED.get(told, ()) if fewer_levels else ()
        kept = [[value for level, value in enumerate(path) if level not in left_out] for path in paths]
        trees[name] = shoal.Hierarchy.from_paths(name, kept)
    return shoal.read(table, quasi=table.columns, hierarchies=trees)


def many_attributes(data: shoal.Dataset, seconds: float) -> None:
    """More quasi-identifiers than can be searched to the end: the best node, the bound and the gap in limited time."""
    policy = Policy(models=(shoal.KAnonymity(k=5),), suppression=0.02)
    datafly = shoal.algorithms.Datafly().search(data, policy, Run()).facts["score"]
    began = time.process_time()
    facts = shoal.algorithms.Optimal(time_limit=seconds).search(data, policy, Run()).facts
    course = ", ".join(f"{step['checked']:,}: {step['score']:.4f} ≥ {step['bound']:.4f}" for step in facts["course"])
    print(
        f"{data.records:,} records, {len(data.schema.quasi)} quasi-identifiers, {facts['nodes']['total']:,} nodes, "
        f"{seconds:.0f} s ({time.process_time() - began:.0f} s of processor time): "
        f"loss {facts['score']:.4f} (Datafly {datafly:.4f}), bound {facts['bound']:.4f}, gap {facts['gap']:.0%}, "
        f"{facts['nodes']['checked']:,} nodes checked; score and bound by checked nodes: {course}"
    )


def derived(columns: int) -> shoal.Dataset:
    """The Adult sample with further columns derived from the age."""
    table = shoal.samples.adult().drop("fnlwgt")
    more = [(pl.col("age") // width).alias(f"age/{width}") for width in range(2, 2 + columns - table.width)]
    table = table.with_columns(more)
    return shoal.read(table, quasi=table.columns)


if __name__ == "__main__":
    ratios()
    wide_tables()
    sensitive_models()
    first_run()
    for rows in (30_000, 100_000, 300_000):
        many_attributes(couples(rows, fewer_levels=True), 30)
    many_attributes(couples(30_000), 30)
    many_attributes(derived(25), 20)
