"""A table of which nearly every combination of quasi-identifiers occurs once, in blocks and as a whole, on the DuckDB
engine: `python -m benchmarks.blocks 1 10` (millions of rows). It is about memory: the summary of such a table is as
large as the table."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.foundation import QUASI
from benchmarks.scale import WATCHED, Work
from shoal import samples

FILE = 1_000_000
LIMIT = "1GB"
"""What DuckDB may take."""


def generated(folder: Path, millions: int) -> Path:
    """The census with an income beside it, in steps of ten: some ten thousand values."""
    place = folder / f"fine-{millions}"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(millions):
        path = place / f"{number}.parquet"
        if not path.exists():
            income = np.random.default_rng(number).lognormal(10, 1, FILE).clip(0, 500_000).astype(int) // 10 * 10
            table = samples.census(FILE, seed=number).select(QUASI)
            table.with_columns(income=pl.Series(income)).write_parquet(path)
    return place


def released(table: Path, folder: Path, algorithm: str) -> Work:
    engine = f"duckdb:memory_limit={LIMIT},temporary={folder}"
    script = (
        f"import shoal\n{WATCHED}lap('starting')\nstages.clear()\n"
        f"data = shoal.read({str(table)!r}, quasi={[*QUASI, 'income']!r}, engine={engine!r}, "
        "hierarchies=shoal.samples.hierarchies('census'))\nlap('reading')\ncurrent[0] = 'searching'\n"
        f"release = shoal.anonymize(data, 'k-anonymity:k=5', algorithm={algorithm!r}, seed=1, run=run)\n"
        f"release.write({str(folder / 'out')!r}, run=run.part())\nlap(current[0])\n"
        "loss = shoal.evaluate(data, release, 'gcp', baselines=False)['gcp'].value\nlap('measuring')\n"
        "answer = [release.recoding.plan.keys.shape[1], len(release.classes), loss]"
    )
    return Work(algorithm, script)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=int, nargs="*", default=[1])
    parser.add_argument("--algorithms", nargs="*", default=["in-blocks:base=mondrian,records=500000", "mondrian"])
    parser.add_argument("--folder", type=Path, help="where tables are kept; by default they are removed at the end")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for millions in given.millions:
            table = generated(folder, millions)
            print(
                f"{millions} million rows × {len(QUASI) + 1} quasi-identifiers, DuckDB limited to {LIMIT}:", flush=True
            )
            for algorithm in given.algorithms:
                work = released(table, folder, algorithm)
                work.tell()
                tuples, classes, loss = work.answer
                print(f"    {tuples:,} distinct combinations, {classes:,} classes, GCP {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
