"""SUDA2 and the margins of all sets of three columns: a million records on two engines, and Adult by nine columns."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal

RECORDS = 1_000_000
ADULT = [
    "age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country",
]  # fmt: skip


def survey(records: int) -> pl.DataFrame:
    """People with eight columns that are drawn apart, so that nearly everybody is unique: more than any real survey."""
    generator = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "region": generator.integers(0, 50, records), "sex": generator.integers(0, 2, records),
            "age": np.clip(generator.normal(40, 18, records), 0, 99).astype(int),
            "education": generator.geometric(0.3, records).clip(1, 12), "marital": generator.integers(0, 6, records),
            "size": generator.geometric(0.35, records).clip(1, 12), "job": generator.zipf(1.6, records).clip(1, 60),
            "income": generator.geometric(0.2, records).clip(1, 30),
        }
    )  # fmt: skip


def main() -> None:
    print("seconds of processor time")
    print(f"{'what':44}{'reading':>12}{'search':>12}{'uniques':>12}")
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.parquet"
        survey(RECORDS).write_parquet(path)
        for engine in ("embedded", "duckdb"):
            began = time.process_time()
            data = shoal.read(path, quasi=pl.read_parquet_schema(path).keys(), engine=engine)
            assert len(data.summary) > RECORDS // 2  # made here, not in the search
            read = time.process_time()
            for largest in (3, None):
                started = time.process_time()
                answer = shoal.suda(data, largest=largest).as_dict()
                answers.append(answer)
                label = f"{engine}, {RECORDS:,} records, sets of up to {answer['largest']}"
                count = sum(answer["uniques"].values())
                print(f"{label:44}{read - began:>12.1f}{time.process_time() - started:>12.1f}{count:>12,}")
    print("the engines say the same:", "yes" if answers[:2] == answers[2:] else "NO")
    data = shoal.read(shoal.samples.adult(), quasi=ADULT)
    model, classes = shoal.models.KCombinations(k=3, size=3), data.summary
    started = time.process_time()
    level = model.measure(classes).value
    print(f"Adult, all 3-subsets of nine columns: k is {level}, {time.process_time() - started:.3f} s")


if __name__ == "__main__":
    main()
