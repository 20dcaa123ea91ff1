"""Households of a million people: risk with and without them, on both engines.

`python -m benchmarks households`. The people are invented: three to a household on average, with survey weights.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl

import shoal

PEOPLE = 1_000_000
QUASI = ["age", "sex", "education", "region", "size"]
FIGURES = ("unique-households", "k-households", "expected-reidentifications", "household-reidentifications")


def survey(people: int, seed: int = 1) -> pl.DataFrame:
    """People, the household of each, two variables of the household, and weights."""
    draw = np.random.default_rng(seed)
    homes = draw.integers(0, people // 3, people)
    return pl.DataFrame(
        {
            "person": np.arange(people), "home": homes, "age": draw.integers(0, 95, people),
            "sex": draw.choice(["f", "m"], people), "education": draw.integers(0, 8, people).astype(str),
            "region": (homes % 50).astype(str), "size": np.bincount(homes)[homes].astype(str),
            "weight": draw.integers(20, 400, people).astype(float),
        }
    )  # fmt: skip


def main() -> None:
    table, known = survey(PEOPLE), {}
    for engine in ("embedded", "duckdb"):
        begin, used = time.perf_counter(), time.process_time()
        data = shoal.read(
            table, quasi=QUASI, person="person", household="home", weight="weight", engine=engine,
            kinds=dict.fromkeys(("education", "region", "size"), "categorical"),
        )  # fmt: skip
        read = time.perf_counter()
        findings = shoal.diagnose(data)
        done = time.perf_counter()
        known[engine] = {name: findings[name].value for name in FIGURES}
        used = time.process_time() - used
        print(f"{engine}: read {read - begin:.1f} s, risk {done - read:.1f} s, {used:.1f} s of processor time in all")
    for name in FIGURES:
        print(f"{name}: {known['embedded'][name]:,.6g}")
    assert known["embedded"] == known["duckdb"], "the engines disagree"


if __name__ == "__main__":
    main()
