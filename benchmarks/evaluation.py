"""Evaluating a large release from its files: marginals, declared queries, Li and Li's losses, with baselines."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import shoal
from benchmarks.engines import COLUMNS, SENSITIVE
from benchmarks.measuring import peak_of

METRICS = ("privacy-loss", "utility-loss", "marginals", "two-way-marginals")
ANALYSES = ("count where age >= 40 and gender = Female", "mean(age) where race = White")


def _evaluated(table: Path, release: Path, engine: str, baselines: bool) -> str:
    return (
        "import time\nbegan, worked = time.perf_counter(), time.process_time()\nimport shoal\n"
        f"data = shoal.read({str(table)!r}, quasi={COLUMNS!r}, sensitive=[{SENSITIVE!r}], "
        f"hierarchies=shoal.samples.hierarchies('census'), engine={engine!r})\n"
        f"found = shoal.evaluate(data, {str(release)!r}, *{METRICS!r}, analyses={ANALYSES!r}, baselines={baselines})\n"
        "print(time.perf_counter() - began, time.process_time() - worked, found['utility-loss'].how.split(' in ')[1])\n"
        f"print(*(f'{{found[name].value:.6f}}' for name in {(*ANALYSES, *METRICS)!r}))"
    )


def evaluation(rows: int, engines: tuple[str, ...] = ("embedded", "duckdb")) -> None:
    """Each engine in a process of its own, from the files to the figures."""
    print(f"{rows:,} census rows × {len(COLUMNS)} quasi-identifiers and {SENSITIVE}:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "census.parquet", Path(folder) / "out.parquet"
        shoal.samples.census(rows).select([*COLUMNS, SENSITIVE]).write_parquet(table)
        data = shoal.read(table, quasi=COLUMNS, sensitive=[SENSITIVE], hierarchies=shoal.samples.hierarchies("census"))
        release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
        release.write(out)
        print(
            f"  {len(data.summary):,} tuples in the table, {len(release.classes):,} classes in the release", flush=True
        )
        del data, release
        for engine in engines:
            for baselines in (True, False):
                peak, printed = peak_of(_evaluated(table, out, engine, baselines))
                (wall, worked, *populations), figures = (line.split() for line in printed.splitlines()[-2:])
                print(
                    f"  {engine}, {'with' if baselines else 'without'} baselines: {float(wall):.1f} s, "
                    f"{float(worked):.1f} s of processor time, peak {peak:.2f} GB ({' '.join(populations)}; "
                    f"{' '.join(figures)})",
                    flush=True,
                )


if __name__ == "__main__":
    for rows in [int(text) for text in sys.argv[1:] if text.isdigit()] or [1_000_000, 10_000_000]:
        evaluation(rows)
