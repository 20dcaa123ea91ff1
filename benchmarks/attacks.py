"""A release of a million records through every attack on classes, alone and with a register, on each engine."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import shoal
from shoal.core.contracts import Known
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
    main()
