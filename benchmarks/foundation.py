"""The foundation's promises: grouping, memory, Mondrian's growth."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from benchmarks.measuring import fastest, peak_of
from shoal.core.grouping import group
from shoal.core.policy import Policy
from shoal.core.run import Run

QUASI = ["age", "gender", "education", "marital-status", "race", "work-class", "country", "occupation", "salary-class"]


def grouping(rows: int) -> None:
    """Distinct tuples of nine integer columns: Shoal's kernel over polars' group_by."""
    table = shoal.samples.census(rows)
    mixed = {name: table[name].cast(pl.String).rank("dense").cast(pl.Int32).to_numpy() - 1 for name in QUASI}
    adult = shoal.samples.adult().select("age", "sex", "education", "race", "workclass", "occupation", "native-country")
    picked = np.random.default_rng(0).integers(0, len(adult), rows)
    few = {
        name: adult[name].cast(pl.String).rank("dense").cast(pl.Int32).to_numpy()[picked] - 1 for name in adult.columns
    }
    for name, columns in (("census", mixed), ("Adult drawn with repetition", few)):
        arrays = [np.ascontiguousarray(column) for column in columns.values()]
        radices = [int(array.max()) + 1 for array in arrays]
        frame = pl.DataFrame(dict(zip(columns, arrays, strict=True)))
        started = time.perf_counter()
        tuples = group(arrays, radices).keys.shape[1]
        first = time.perf_counter() - started
        ours = fastest(lambda arrays=arrays, radices=radices: group(arrays, radices))
        theirs = fastest(lambda frame=frame: frame.group_by(frame.columns).len())
        print(
            f"grouping {rows:,} × {len(arrays)} ({name}), {tuples:,} tuples: {ours:.2f} s, polars {theirs:.2f} s, "
            f"ratio {ours / theirs:.2f} (first run {first:.2f} s)"
        )


def memory(rows: int) -> None:
    """Peak memory of reading a Parquet file and computing its k, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.parquet"
        shoal.samples.census(rows).write_parquet(path)
        script = (
            f"import shoal, time\nstarted = time.perf_counter()\ndata = shoal.read({str(path)!r}, quasi={QUASI!r})\n"
            "found = shoal.diagnose(data)\nprint(f'k = {found[\"k\"].value} in {time.perf_counter() - started:.1f} s')"
        )
        peak, printed = peak_of(script)
        print(f"reading {rows:,} rows of Parquet and {printed}: peak {peak:.2f} GB")


def growth(small: int, large: int) -> None:
    """Mondrian's time from few to many rows."""
    seconds = []
    policy = Policy(models=(shoal.KAnonymity(k=10),))
    for rows in (small, large):
        data = shoal.read(shoal.samples.census(rows), quasi=QUASI, hierarchies=shoal.samples.hierarchies("census"))
        _ = data.summary
        seconds.append(fastest(lambda data=data: shoal.algorithms.Mondrian().search(data, policy, Run()), repeats=2))
    few, many = seconds
    print(f"Mondrian {small:,} rows {few:.2f} s, {large:,} rows {many:.2f} s: {many / few:.1f}-fold")


if __name__ == "__main__":
    grouping(10_000_000)
    memory(10_000_000)
    growth(1_000_000, 10_000_000)
