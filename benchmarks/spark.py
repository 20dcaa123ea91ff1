"""The Spark engine on a cluster of two workers on this machine: `python -m benchmarks.spark 1 10` (millions of rows),
or `--peer 500000`.

Beside Spark's own groupBy and write, which any tool would need; beside the public Mondrian on Spark, by its published
time; and beside the other engines, whose releases must be the same. Every stage is printed with its share of the time,
the processor time of all processes together (the driver, its Java, and the workers with theirs), and peak memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.cluster import SETTINGS, Cluster, started

import shoal
from benchmarks.engines import COLUMNS, SENSITIVE
from shoal.core.run import Run

FILE = 1_000_000
"""Rows of a file of the table and of a release."""

PEER = 260 / 500_000
"""Seconds a row of the public Mondrian on Spark, two cores, 500,000 rows of Adult, eight quasi-identifiers, k = 10."""
PEER_GCP = 0.112
"""Its loss on Adult itself."""
MONDRIAN = "mondrian:numeric=interval"
ADULT = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Meter:
    """What all processes of a run used: this one, its Java, and those of the cluster."""

    cluster: Cluster
    session: Any
    stages: dict[str, tuple[float, float]] = field(default_factory=dict)

    def _processes(self) -> Iterator[tuple[int, list[str]]]:
        here, far = os.getpid(), {worker.pid for worker in self.cluster.workers}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                told = path.read_text().rpartition(")")[2].split()
            except OSError:  # it ended meanwhile
                continue
            number = int(path.parent.name)
            if number == here or int(told[1]) == here or int(told[3]) in far:
                yield number, told

    def spent(self) -> float:
        """Processor seconds so far, also those of processes that have ended."""
        return sum(sum(map(int, told[11:15])) for _, told in self._processes()) / TICKS

    def peak(self) -> tuple[float, float]:
        """The most memory that the driver with its Java, and that the largest worker with its Java and its Python
        processes took so far, in GB; peaks of processes that take turns are added up."""
        driver, workers = 0.0, dict.fromkeys((worker.pid for worker in self.cluster.workers), 0.0)
        for number, told in self._processes():
            try:
                lines = Path(f"/proc/{number}/status").read_text().splitlines()
            except OSError:
                continue
            held = sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20
            if int(told[3]) in workers:
                workers[int(told[3])] += held
            else:
                driver += held
        return driver, max(workers.values())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        clock, processor = time.perf_counter(), self.spent()
        yield
        seconds, used = self.stages.get(name, (0.0, 0.0))
        self.stages[name] = seconds + time.perf_counter() - clock, used + self.spent() - processor

    def run(self) -> tuple[Run, Callable[[], None]]:
        """A run whose stages are measured, and what ends the last of them."""
        stages = ("looking at the plain columns", "publishing", "verifying", "writing", "reading back")
        current: list[Any] = [None, None]

        def told(share: float, doing: str) -> None:
            name = doing if doing in stages else "searching"
            if current[0] != name:
                end()
                current[:] = name, self.stage(name)
                current[1].__enter__()

        def end() -> None:
            if current[1] is not None:
                current[1].__exit__(None, None, None)
                current[:] = None, None

        return Run(told), end

    def told(self, what: str) -> tuple[float, float]:
        """Prints the stages, forgets them, and gives back their seconds and processor seconds."""
        seconds, used = (sum(column) for column in zip(*self.stages.values(), strict=True))
        driver, worker = self.peak()
        print(
            f"  {what}: {seconds:.1f} s, processor {used:.1f} s; peak {driver:.2f} GB driver, {worker:.2f} GB a worker"
        )
        if len(self.stages) > 1:
            for name, (clock, processor) in self.stages.items():
                print(f"    {name}: {clock / seconds:.0%} ({clock:.1f} s, processor {processor:.1f} s)")
        sys.stdout.flush()
        self.stages.clear()
        return seconds, used


@contextmanager
def _measured(folder: Path) -> Iterator[Meter]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    memory = {"spark.executor.memory": "2g", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "8"}
    with started(folder, memory="3g") as cluster:
        session = SparkSession.builder.master(cluster.url).config(map={**SETTINGS, **memory}).getOrCreate()
        try:
            yield Meter(cluster, session)
        finally:
            session.stop()


def _census(folder: Path, rows: int) -> Path:
    table = folder / f"census-{rows}"
    table.mkdir(exist_ok=True)
    for place in range(-(-rows // FILE)):
        path = table / f"{place:03d}.parquet"
        if not path.exists():
            shoal.samples.census(min(rows, FILE), seed=place).write_parquet(path)
    return table


def _read(source: Any, engine: str) -> shoal.Dataset:
    return shoal.read(
        source, quasi=COLUMNS, sensitive=[SENSITIVE], hierarchies=shoal.samples.hierarchies("census"), engine=engine
    )


def _released(data: shoal.Dataset, out: Path, run: Run | None = None) -> shoal.Release:
    made = shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", suppression=0.01, seed=1, run=run)
    made.write(out, rows_per_file=FILE, run=None if run is None else run.part())
    return made


def release(meter: Meter, folder: Path, rows: int, *, compared: bool = False) -> None:
    """An optimal release, from reading to the verified files, beside Spark's own groupBy and write of the same rows."""
    table = _census(folder, rows)
    print(f"{rows:,} census rows × {len(COLUMNS)} quasi-identifiers and {SENSITIVE}:")
    frame = meter.session.read.parquet(str(table)).select(*COLUMNS, SENSITIVE)
    with meter.stage("groupBy"):
        frame.groupBy(*COLUMNS, SENSITIVE).count().toArrow()
    with meter.stage("write"):
        frame.write.mode("overwrite").option("compression", "zstd").parquet(str(folder / "own"))
    own, own_used = meter.told("Spark's own groupBy and write")
    run, end = meter.run()
    with meter.stage("reading and counting"):
        data = _read(table, "spark")
        _ = data.summary
    made = _released(data, folder / f"spark-{rows}", run)
    end()
    whole, used = meter.told("shoal: read, search, publish, verify, write, read back, verify")
    print(
        f"  {whole / own:.2f} times Spark's own groupBy and write by the clock, {used / own_used:.2f} by processor time"
    )
    if compared:
        _compare(table, folder, data, made)


def _compare(table: Path, folder: Path, data: shoal.Dataset, made: shoal.Release) -> None:
    """Digests of the classes, levels, counts, scores and rows of the same release on every engine."""
    for engine in ("spark", "duckdb", "embedded"):
        out = folder / f"{engine}-{data.records}"
        if engine != "spark":
            data = _read(table, engine)
            made = _released(data, out)
        scores = shoal.evaluate(data, made, "gcp", "dm", "c-avg", baselines=False).as_dict()
        decided = [list(made.recoding.levels), made.suppressed, len(made.classes), scores]
        counted = b"".join(each.tobytes() for each in (data.summary.keys, data.summary.sizes, made.classes.sizes))
        print(
            f"  {engine}: levels {made.recoding.levels}, {made.suppressed:,} records left out, {len(made.classes):,} "
            f"classes; digests: levels and scores {_short(json.dumps(decided, sort_keys=True).encode())}, "
            f"classes and counts {_short(counted)}, rows in their order {_rows(out)}",
            flush=True,
        )


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _rows(folder: Path) -> str:
    import polars as pl

    return _short(
        b"".join(pl.read_parquet(path).hash_rows(0).to_numpy().tobytes() for path in sorted(folder.iterdir()))
    )


def peer(meter: Meter, folder: Path, rows: int) -> None:
    """Mondrian on the rows of Adult, drawn to so many, beside the public one on Spark."""
    adult = shoal.samples.adult()
    table = adult[np.random.default_rng(0).integers(0, len(adult), rows)]
    table.select(ADULT).write_parquet(folder / "adult.parquet", row_group_size=FILE // 8)
    print(f"{rows:,} rows of Adult × {len(ADULT)} quasi-identifiers, k = 10:")
    given = {"quasi": ADULT, "hierarchies": shoal.samples.hierarchies("adult"), "engine": "spark"}
    run, end = meter.run()
    with meter.stage("reading and counting"):
        data = shoal.read(folder / "adult.parquet", **given)
        _ = data.summary
    made = shoal.anonymize(data, "k-anonymity:k=10", algorithm=MONDRIAN, seed=1, run=run)
    made.write(folder / f"adult-{rows}", rows_per_file=FILE // 4, run=run.part())
    end()
    seconds, _ = meter.told("shoal: Mondrian, from reading to the verified files")
    loss = shoal.evaluate(data, made, "gcp", baselines=False)["gcp"].value
    print(f"  {PEER * rows / seconds:.0f} times as fast a row as the public one, GCP {loss:.4f}", flush=True)


def loss(meter: Meter) -> None:
    """The loss on Adult itself, which is known of the public one."""
    given = {"quasi": ADULT, "hierarchies": shoal.samples.hierarchies("adult"), "engine": "spark"}
    data = shoal.read(shoal.samples.adult().select(ADULT), **given)
    made = shoal.anonymize(data, "k-anonymity:k=10", algorithm=MONDRIAN, seed=1)
    value = shoal.evaluate(data, made, "gcp", baselines=False)["gcp"].value
    print(f"Adult itself, k = 10: GCP {value:.4f}, the public one's is {PEER_GCP}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=int, nargs="*", help="releases of so many million census rows")
    parser.add_argument("--peer", type=int, nargs="*", default=[], help="Mondrian on so many rows of Adult")
    parser.add_argument("--folder", type=Path, help="where tables are kept; by default they are removed at the end")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        (Path(name) / "cluster").mkdir()
        with _measured(Path(name) / "cluster") as meter:
            # Java compiles what runs often, so that the first run of all is not measured.
            if given.peer:
                peer(meter, Path(name), 100_000)
                for rows in given.peer:
                    peer(meter, Path(name), rows)
                loss(meter)
            millions = given.millions or ([] if given.peer else [1])
            if millions:
                release(meter, Path(name), 100_000)
            for each in millions:
                release(meter, folder, each * 1_000_000, compared=True)


if __name__ == "__main__":
    main()
