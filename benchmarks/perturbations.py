"""Perturbations of a survey: seconds of processor time, each beside rank swapping of the same two columns."""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl

import shoal

RECORDS = 1_000_000
METHODS = {
    "rank swapping": "rank-swapping:columns=income|spending,share=0.01",
    "shuffling": "shuffling:columns=income|spending",
    "joint microaggregation": "microaggregation:columns=income|spending|savings,k=3",
    "targeted swapping": "targeted-swapping:geography=region|town,match=size,risk=age|sex,k=3,share=0.05",
}


def survey(records: int) -> pl.DataFrame:
    """People in 8,000 towns of 20 regions, with three amounts."""
    generator = np.random.default_rng(1)
    region = generator.integers(0, 20, records)
    amounts = {
        name: np.round(np.exp(generator.normal(mean, 1, records)), 2)
        for name, mean in (("income", 8), ("spending", 7), ("savings", 6))
    }
    return pl.DataFrame(
        {
            "region": region, "town": region * 400 + generator.integers(0, 400, records),
            "age": generator.integers(15, 95, records), "sex": generator.integers(0, 2, records),
            "size": generator.integers(1, 6, records), **amounts,
        }
    )  # fmt: skip


def taken(records: int, method: str) -> float:
    """The processor time of a release, from a table that was read to a verified release."""
    quasi, sensitive = ["region", "town", "age", "sex", "size"], ["income", "spending", "savings"]
    data = shoal.read(survey(records), quasi=quasi, sensitive=sensitive)
    started = time.process_time()
    shoal.anonymize(data, algorithm=method)
    return time.process_time() - started


def main(records: int) -> None:
    for method in METHODS.values():
        taken(2_000, method)  # what is compiled is compiled once
    print(f"{records:,} records, seconds of processor time and beside rank swapping")
    times = {name: taken(records, method) for name, method in METHODS.items()}
    first = next(iter(times.values()))
    for name, seconds in times.items():
        print(f"{name:24}{seconds:>8.1f}{seconds / first:>8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS)
