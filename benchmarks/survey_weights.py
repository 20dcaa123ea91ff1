"""A million weighted records: the risk by their weights, in this process and in DuckDB, which say the same."""

from __future__ import annotations

import time

import numpy as np
import polars as pl

import shoal
from shoal.adversary.log_linear import cell_means, risk_of_uniques
from shoal.adversary.survey_frequencies import frequencies_of
from shoal.core.run import Run

RECORDS = 1_000_000
QUASI = ["age", "sex", "region", "education", "job"]


def survey(records: int) -> pl.DataFrame:
    """People with five quasi-identifiers, one percent of the jobs missing, and weights of about a hundred."""
    generator = np.random.default_rng(1)
    sizes = {"age": 90, "sex": 2, "region": 50, "education": 8, "job": 12}
    columns = {name: generator.integers(0, size, records) for name, size in sizes.items()}
    table = pl.DataFrame({**columns, "weight": np.round(generator.gamma(4, 25, records) + 1, 2)})
    gone = pl.Series(generator.random(records) < 0.01)
    return table.with_columns(job=pl.when(gone).then(None).otherwise(pl.col("job")))


def main(records: int = RECORDS) -> None:
    table = survey(records)
    shoal.diagnose(shoal.read(table.head(1000), quasi=QUASI, weight="weight"))  # compiled before it is timed
    figures = {}
    print(f"{records:,} weighted records, {len(QUASI)} quasi-identifiers")
    print(f"{'engine':12}{'read':>8}{'diagnose':>10}{'log-linear':>12}   seconds")
    for engine in ("embedded", "duckdb"):
        began = time.perf_counter()
        data = shoal.read(table, quasi=QUASI, weight="weight", engine=engine)
        opened = time.perf_counter()
        findings = shoal.diagnose(data)
        diagnosed = time.perf_counter()
        frequencies = frequencies_of(data.summary)
        means = cell_means(data.summary.keys, frequencies.population, interactions=True, run=Run())
        alone = frequencies.heads == 1
        right = risk_of_uniques(means, 1 / frequencies.population)[1][alone].sum()
        ended = time.perf_counter()
        print(f"{engine:12}{opened - began:>8.2f}{diagnosed - opened:>10.2f}{ended - diagnosed:>12.2f}")
        figures[engine] = {each.name: each.value for each in findings} | {"log-linear": float(right)}
    print("same figures:", "yes" if figures["embedded"] == figures["duckdb"] else "NO")
    for name in ("population", "global-risk", "global-risk-wildcard", "expected-reidentifications", "log-linear"):
        print(f"  {name:28}{figures['embedded'][name]:>16,.4f}")


if __name__ == "__main__":
    main()
