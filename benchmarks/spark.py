"""The Spark engine beside Spark itself, on a cluster of two workers on this machine: what Shoal adds to the groupBy and
the write that any tool would need. And beside the public Mondrian on Spark, by its published time."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.cluster import SETTINGS, started

import shoal
from benchmarks.engines import COLUMNS, SENSITIVE

FILE = 1_000_000
"""Rows of a file of the table and of a release."""

PEER = 260 / 500_000
"""Seconds a row of the public Mondrian on Spark, two cores, 500,000 rows of Adult, eight quasi-identifiers, k = 10."""
PEER_GCP = 0.112
"""Its loss on Adult itself."""
MONDRIAN = "mondrian:numeric=interval"
ADULT = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]


def _timed(what: str, work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    made = work()
    seconds = time.perf_counter() - began
    print(f"  {what}: {seconds:.1f} s", flush=True)
    return seconds, made


@contextmanager
def _session(folder: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    memory = {"spark.executor.memory": "2g", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "8"}
    with started(folder, memory="3g") as cluster:
        session = SparkSession.builder.master(cluster.url).config(map={**SETTINGS, **memory}).getOrCreate()
        try:
            yield session
        finally:
            session.stop()


def _read(source: Any, engine: str) -> shoal.Dataset:
    return shoal.read(
        source, quasi=COLUMNS, sensitive=[SENSITIVE], hierarchies=shoal.samples.hierarchies("census"), engine=engine
    )


def _own(session: Any, table: Path, out: Path) -> float:
    """Spark's own groupBy of the same columns, and its own write of the same rows."""
    frame = session.read.parquet(str(table)).select(*COLUMNS, SENSITIVE)
    grouped, _ = _timed("Spark's own groupBy", lambda: frame.groupBy(*COLUMNS, SENSITIVE).count().toArrow())
    writing = frame.write.mode("overwrite").option("compression", "zstd")
    written, _ = _timed("Spark's own write", lambda: writing.parquet(str(out)))
    return grouped + written


def release(session: Any, folder: Path, rows: int, *, compared: bool = False) -> None:
    """An optimal release, from reading to the verified files."""
    table = folder / f"census-{rows}"
    table.mkdir()
    for place in range(-(-rows // FILE)):
        shoal.samples.census(min(rows, FILE), seed=place).write_parquet(table / f"{place:03d}.parquet")
    print(f"{rows:,} census rows × {len(COLUMNS)} quasi-identifiers and {SENSITIVE}:")
    own = _own(session, table, folder / "own")
    reading, data = _timed("shoal: read and count", lambda: _read(table, "spark"))
    searching, made = _timed(
        "shoal: search, apply, verify",
        lambda: shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", suppression=0.01, seed=1),
    )
    writing, _ = _timed(
        "shoal: write, read back, verify, hash", lambda: made.write(folder / f"out-{rows}", rows_per_file=FILE)
    )
    whole = reading + searching + writing
    print(f"  shoal: {whole:.1f} s, {whole / own:.2f} times Spark's own groupBy and write")
    if compared:
        _compare(table, folder, data, made)


def _compare(table: Path, folder: Path, data: shoal.Dataset, made: shoal.Release) -> None:
    """The same classes, levels, scores and rows on the other engines."""
    for engine in ("duckdb", "embedded"):
        other = _read(table, engine)
        same = np.array_equal(other.summary.keys, data.summary.keys)
        same &= np.array_equal(other.summary.sizes, data.summary.sizes)
        again = shoal.anonymize(other, "k-anonymity:k=5", algorithm="optimal", suppression=0.01, seed=1)
        same &= made.recoding.levels == again.recoding.levels and made.suppressed == again.suppressed
        scores = [shoal.evaluate(each, one, "gcp", "dm") for each, one in ((data, made), (other, again))]
        same &= [each.value for each in scores[0]] == [each.value for each in scores[1]]
        again.write(folder / f"{engine}-{data.records}", rows_per_file=FILE)
        rows = _digest(folder / f"{engine}-{data.records}") == _digest(folder / f"out-{data.records}")
        print(f"  {engine}: the same classes, levels and scores: {same}; the same rows in the same order: {rows}")


def _digest(folder: Path) -> list[str]:
    import hashlib

    import polars as pl

    return [
        hashlib.sha256(pl.read_parquet(path).hash_rows(1, 2, 3, 4).to_numpy().tobytes()).hexdigest()
        for path in sorted(folder.iterdir())
    ]


def peer(session: Any, folder: Path) -> None:
    """Mondrian on the rows of Adult, drawn to 500,000, beside the public one on Spark."""
    adult = shoal.samples.adult()
    table = adult[np.random.default_rng(0).integers(0, len(adult), 500_000)]
    table.select(ADULT).write_parquet(folder / "adult.parquet")
    print(f"500,000 rows of Adult × {len(ADULT)} quasi-identifiers, k = 10:")
    given = {"quasi": ADULT, "hierarchies": shoal.samples.hierarchies("adult"), "engine": "spark"}

    def work() -> Any:
        data = shoal.read(folder / "adult.parquet", **given)
        made = shoal.anonymize(data, "k-anonymity:k=10", algorithm=MONDRIAN, seed=1)
        made.write(folder / "adult", rows_per_file=FILE // 4)
        return data, made

    seconds, (data, made) = _timed("shoal: Mondrian, verified and written", work)
    loss = shoal.evaluate(data, made, "gcp")["gcp"].value
    print(f"  {PEER * 500_000 / seconds:.0f} times as fast a row as the public one, GCP {loss:.4f}")
    small = shoal.read(adult.select(ADULT), **given)
    fair = shoal.anonymize(small, "k-anonymity:k=10", algorithm=MONDRIAN, seed=1)
    loss = shoal.evaluate(small, fair, "gcp")["gcp"].value
    print(f"  on Adult itself: GCP {loss:.4f}, the public one's is {PEER_GCP}")


def spark(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cluster").mkdir()
        with _session(folder / "cluster") as session:
            release(session, folder, 100_000)  # Java compiles what runs often
            release(session, folder, rows, compared=rows <= FILE)
            peer(session, folder)


if __name__ == "__main__":
    spark(int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 10_000_000)
