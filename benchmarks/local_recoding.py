"""Local recoding: what each algorithm loses on Adult, how long it takes, and how its time grows."""

from __future__ import annotations

import math
import time
from pathlib import Path
from unittest import mock

import numpy as np

import shoal
from benchmarks.measuring import fastest
from shoal.algorithms import _growth
from shoal.algorithms.in_blocks import InBlocks
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.publishing.draft import DraftRelease

REFERENCE = Path(__file__).parents[2] / "shared" / "data" / "adult"
NINE = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
        "salary-class"]  # fmt: skip
EIGHT = [name for name in NINE if name != "occupation"]
CENSUS = ["age", "gender", "education", "marital-status", "race", "work-class", "country", "salary-class"]
ALGORITHMS = [
    "mondrian", "oka", "k-member", "two-phase:splitting=none", "two-phase:splitting=A", "two-phase:splitting=B", "mst",
    "mdav", "kaca", "r-gather", "mondrian:refine=true", "oka:refine=true", "k-member:refine=true",
    "two-phase:refine=true", "mst:refine=true", "kaca:refine=true", "r-gather:refine=true",
]  # fmt: skip
HIERARCHICAL = ["mondrian", "k-member", "two-phase"]


def adult(quasi: list[str], *sensitive: str) -> shoal.Dataset:
    """The reference copy of Adult with its hierarchies where it lies beside the repository, else the sample."""
    if REFERENCE.is_dir():
        return shoal.read(
            REFERENCE / "adult.csv", quasi=quasi, sensitive=sensitive, hierarchies=REFERENCE / "hierarchies"
        )
    folder = shoal.samples.hierarchies("adult")
    table = shoal.samples.adult().drop("education-num")
    return shoal.read(table, quasi=quasi, sensitive=sensitive, hierarchies=folder)


def loss(data: shoal.Dataset, release: shoal.Release) -> float:
    """Arithmetic Loss: the mean, over the attributes, of the share of leaves that a cell covers beyond its own."""
    low, high = release.view.cells().low, release.view.cells().high
    sizes = release.classes.sizes / data.records
    shares = [
        float(((high[position] - low[position]) / (tree.size - 1) * sizes).sum())
        for position, tree in enumerate(data.hierarchies)
    ]
    return float(np.mean(shares)) + release.suppressed / data.records


def publishing(algorithm: str, numeric: str) -> str:
    return f"{algorithm}{',' if ':' in algorithm else ':'}numeric={numeric}"


def quality(data: shoal.Dataset, algorithms: list[str], *models: str, numeric: str = "interval") -> None:
    """Loss and time of each algorithm, the release and its verification included; the first run apart."""
    named = f"{' and '.join(models)}, numbers by {numeric}"
    print(f"\n{data.records:,} records, {len(data.summary):,} distinct tuples, {named}")
    print(f"{'algorithm':26} {'first s':>8} {'warm s':>7} {'loss':>7} {'gcp':>7} {'classes':>8}")
    for algorithm in algorithms:
        started = time.perf_counter()
        method = shoal.job.plugin("algorithms", publishing(algorithm, numeric))
        release = shoal.anonymize(data, *models, algorithm=method)
        first = time.perf_counter() - started
        warm = fastest(lambda: shoal.anonymize(data, *models, algorithm=method), repeats=2)  # noqa: B023
        gcp = shoal.metrics.Gcp().score(data, release).value
        print(
            f"{algorithm:26} {first:8.2f} {warm:7.2f} {loss(data, release):7.4f} {gcp:7.4f} {len(release.classes):8,}",
            flush=True,
        )


def searched(data: shoal.Dataset, method: Algorithm) -> tuple[float, float]:
    """Processor seconds of a search with k = 5, and the loss (LM) of what it found."""
    policy = Policy(models=(shoal.KAnonymity(k=5),), seed=1)
    started = time.process_time()
    recoding = method.search(data, policy, Run())
    spent = time.process_time() - started
    return spent, float(shoal.metrics.Lm().score(data, DraftRelease.of(data, recoding, policy)).value or 0)


def beside(algorithm: str, whole: tuple[float, float], parted: tuple[float, float]) -> None:
    """Prints what was found as a whole and in blocks."""
    print(
        f"{algorithm:26} {whole[0]:7.1f} s, LM {whole[1]:.4f}; in blocks {parted[0]:7.1f} s, LM {parted[1]:.4f}, "
        f"ratio {parted[1] / whole[1]:.3f}",
        flush=True,
    )


def in_blocks(rows: int, most: int, algorithms: list[str]) -> None:
    """Loss and processor time of algorithms on a census as a whole, and cut into blocks of so many records, k = 5."""
    data = shoal.read(shoal.samples.census(rows), quasi=CENSUS, hierarchies=shoal.samples.hierarchies("census"))
    print(f"\n{rows:,} records of the census, {len(data.summary):,} distinct tuples, in blocks of {most:,}")
    for algorithm in algorithms:
        base = shoal.job.plugin("algorithms", algorithm)
        beside(algorithm, searched(data, base), searched(data, InBlocks(base=base, records=most)))


def growing_in_blocks(rows: int, algorithms: list[str]) -> None:
    """The same for clusters that grow in blocks by themselves, because the table is large, beside one block."""
    data = shoal.read(
        shoal.samples.census(rows), quasi=[*CENSUS, "occupation"], hierarchies=shoal.samples.hierarchies("census")
    )
    tuples = len(data.summary)
    print(f"\n{rows:,} records of the census, {tuples:,} distinct tuples, grown in blocks of {_growth.BLOCK:,}")
    for algorithm in algorithms:
        method = shoal.job.plugin("algorithms", algorithm)
        with mock.patch.object(_growth, "BLOCK", rows):
            whole = searched(data, method)
        beside(algorithm, whole, searched(data, method))


def growth(small: int, large: int, algorithms: list[str]) -> None:
    """The exponent with which each algorithm's processor time grows from few to many records of the census, k = 5."""
    policy = Policy(models=(shoal.KAnonymity(k=5),))
    folder = shoal.samples.hierarchies("census")
    tables = [shoal.read(shoal.samples.census(rows), quasi=CENSUS, hierarchies=folder) for rows in (small, large)]
    tuples = [len(data.summary) for data in tables]
    print(f"\n{small:,} and {large:,} records of the census, {tuples[0]:,} and {tuples[1]:,} distinct tuples")
    for algorithm in algorithms:
        method = shoal.job.plugin("algorithms", algorithm)
        method.search(tables[0], policy, Run())
        seconds = []
        for data in tables:
            started = time.process_time()
            method.search(data, policy, Run())
            seconds.append(time.process_time() - started)
        few, many = seconds
        exponent = math.log(many / few) / math.log(large / small)
        print(f"{algorithm:12} {few:7.2f} s {many:7.2f} s, grows as n^{exponent:.2f}", flush=True)


if __name__ == "__main__":
    quality(adult(NINE), ALGORITHMS, "k-anonymity:k=5")
    refined = [f"{name}:refine=true" for name in HIERARCHICAL]
    quality(adult(NINE), [*HIERARCHICAL, *refined], "k-anonymity:k=5", numeric="hierarchy")
    diverse = ["mondrian", "k-member", "k-member:refine=true"]
    quality(adult(EIGHT, "occupation"), diverse, "k-anonymity:k=5", "distinct-l-diversity:l=3")
    quality(adult(EIGHT), diverse, "k-anonymity:k=5")
    quality(adult(EIGHT), diverse, "k-anonymity:k=10")
    in_blocks(30_000, 10_000, ["k-member", "two-phase", "two-phase:refine=true"])
    in_blocks(300_000, 100_000, ["k-member", "two-phase"])
    clusters = ["k-member", "two-phase"]
    growing_in_blocks(300_000, [*clusters, *(f"{name}:refine=true" for name in clusters)])
    growth(30_000, 300_000, ["mondrian", "oka", "k-member", "two-phase", "mst"])
    growth(3_000, 30_000, ["mdav", "k-means"])
