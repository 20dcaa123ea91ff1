"""How much stronger attacks get out of the same release than weaker ones, and what they take; then a release of a
million records through every attack on classes, alone and with a register, on each engine.

`python -m benchmarks.attacks strength` does only the first.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.core.contracts.attack import Known
from shoal.core.run import Run
from shoal.job import plugin

ROWS, REGISTER = 1_000_000, 1_200_000
QUASI = ["age", "gender", "education", "marital-status", "race", "work-class"]
SENSITIVE = "occupation"
ENGINES = ("embedded", "duckdb")
ALONE = (
    "prosecutor", "journalist:population=100000000", "marketer", "homogeneity", "background-knowledge", "skewness",
    "similarity", "disclosure", "population-uniqueness:fraction=0.01",
)  # fmt: skip
WITH_A_REGISTER = ("journalist", "marketer", "linkage", "membership")


SEED = 2**64
"""Long, so that nobody is warned of it."""
NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
WIDE = ["age", "sex", "race", "education", "marital-status", "relationship", "hours-per-week"]


def _tables() -> dict[str, pl.DataFrame]:
    """Tables by name: normal numbers, some of which follow from two of them, and Adult."""
    generator = np.random.default_rng(2)
    apart = generator.normal(size=(1000, 4))
    together = generator.normal(size=(2000, 2)) @ generator.normal(size=(2, 6)) + 0.3 * generator.normal(size=(2000, 6))
    adult = shoal.samples.adult()
    return {
        "1,000 records, 4 independent columns": pl.DataFrame(apart, schema=[f"c{at}" for at in range(4)]),
        "2,000 records, 6 correlated columns": pl.DataFrame(together, schema=[f"c{at}" for at in range(6)]),
        "Adult, 6 numbers": adult.select(NUMBERS),
        "Adult, 5 numbers of few values": adult.select(NUMBERS[:1] + NUMBERS[2:]),
        "Adult, occupation": adult.select(*WIDE, SENSITIVE),
        "Adult, relationship": adult.select("age", "sex", "education", SENSITIVE, "hours-per-week", "relationship"),
    }


STRENGTH = (
    ("1,000 records, 4 independent columns", "rank-swapping:share=0.05", "distance-linkage", "assignment-linkage"),
    ("1,000 records, 4 independent columns", "rank-swapping:share=0.2", "distance-linkage", "assignment-linkage"),
    ("1,000 records, 4 independent columns", "additive-noise:share=0.02", "distance-linkage", "assignment-linkage"),
    (
        "2,000 records, 6 correlated columns", "additive-noise:share=0.1,correlated=true", "distance-linkage",
        "assignment-linkage",
    ),
    ("Adult, 6 numbers", "rank-swapping:share=0.05", "distance-linkage", "assignment-linkage"),
    ("Adult, 5 numbers of few values", "rank-swapping:share=0.05", "distance-linkage", "assignment-linkage"),
    ("Adult, 6 numbers", "additive-noise:share=0.02", "distance-linkage", "assignment-linkage"),
    ("2,000 records, 6 correlated columns", "additive-noise:share=0.1", "spectral-filtering", "linear-estimation"),
    (
        "2,000 records, 6 correlated columns", "additive-noise:share=0.5,correlated=true", "spectral-filtering",
        "linear-estimation",
    ),
    ("Adult, 6 numbers", "additive-noise:share=0.1", "spectral-filtering", "linear-estimation"),
    ("Adult, occupation", "anatomy", "definetti:learner=bayes", "definetti"),
    ("Adult, relationship", "anatomy", "definetti:learner=bayes", "definetti"),
    ("Adult, occupation", "mondrian", "definetti:learner=bayes", "definetti"),
)  # fmt: skip
"""A table, how it is released, and a weaker and a stronger attack on that release."""


def strength() -> None:
    """Each pair of attacks on the same release: how often they succeed, and what they take."""
    tables = _tables()
    print("| table | release | weaker attack | stronger attack | processor | memory |")
    print("|---|---|---|---|---|---|")
    for name, algorithm, weaker, stronger in STRENGTH:
        table = tables[name]
        sensitive = [table.columns[-1]] if algorithm in ("anatomy", "mondrian") else []
        data = shoal.read(table, quasi=table.drop(sensitive).columns, sensitive=sensitive)
        models = ["frequency-l-diversity:l=2" if "relationship" in sensitive else "frequency-l-diversity:l=3"]
        release = shoal.anonymize(
            data, *(models if sensitive else []), algorithm=algorithm, suppression=0.05, seed=SEED, repeatable=True
        )
        weak = shoal.attack(data, release, weaker)[0]
        busy = time.process_time()
        strong = shoal.attack(data, release, stronger)[0]
        busy = time.process_time() - busy
        tracemalloc.start()
        shoal.attack(data, release, stronger)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(
            f"| {name} | `{algorithm}` | {weaker} {weak.success:.3f} | {stronger} {strong.success:.3f} | {busy:.1f} s "
            f"| {peak:,.0f} MB |", flush=True,
        )  # fmt: skip


def _timed(what: str, data: shoal.Dataset, release: shoal.Release, attacks: tuple[str, ...], known: Known) -> float:
    """The seconds of each attack, and of all, by the clock and by the processor."""
    whole, busy, shown = time.perf_counter(), time.process_time(), []
    for spec in attacks:
        started = time.perf_counter()
        plugin("attacks", spec).attempt(data, release, known, Run())
        shown.append(f"{spec.partition(':')[0]} {time.perf_counter() - started:.2f}")
    seconds, busy = time.perf_counter() - whole, time.process_time() - busy
    print(f"  {what}: {seconds:.1f} s ({busy:.1f} s of processor): {', '.join(shown)}", flush=True)
    return seconds


def main(rows: int = ROWS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        everybody, some = Path(folder) / "register.parquet", Path(folder) / "table.parquet"
        people = shoal.samples.census(rows * REGISTER // ROWS).select(*QUASI, SENSITIVE)
        people.write_parquet(everybody)
        people.head(rows).write_parquet(some)
        for engine in ENGINES:
            reading = {"hierarchies": shoal.samples.hierarchies("census"), "engine": engine}
            data = shoal.read(some, quasi=QUASI, sensitive=[SENSITIVE], **reading)
            release = shoal.anonymize(data, "k-anonymity:k=10", algorithm="mondrian", seed=1)
            path = Path(folder) / f"{engine}.parquet"
            release.write(path)
            read = shoal.api.open_release(path, data)  # nothing of it is grouped or understood yet
            classes = len(release.view.people())
            print(f"{engine}: {rows:,} records in {classes:,} classes, {len(data.summary):,} distinct tuples")
            _timed("alone, read from its file", data, read, ALONE, Known())
            register = shoal.read(everybody, quasi=QUASI, **reading)
            size = f"with a register of {register.records:,} people ({len(register.summary):,} distinct tuples)"
            _timed(size, data, read, WITH_A_REGISTER, Known(external=register))


if __name__ == "__main__":
    strength()
    if sys.argv[1:] != ["strength"]:
        main()
