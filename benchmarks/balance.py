"""The balance of 3,000 records of Adult: k = 2 … 20 with one-pass k-means and the stump, in one process and in two.

The first run compiles; it is not counted. The processes start anew each time, as they do for every sweep.
"""

from __future__ import annotations

import time

import shoal

QUASI = ("age", "workclass", "education", "race", "native-country")
WANTED = 15.0
"""Seconds that the sweep may take on two cores."""


def sweep(workers: int, sizes: range = range(2, 21)) -> tuple[float, float]:
    """Seconds on the clock, and of this process, for a sweep."""
    table = shoal.samples.adult().sample(3000, seed=1)
    data = shoal.read(table, quasi=QUASI, hierarchies=shoal.samples.hierarchies("adult"))
    began, worked = time.perf_counter(), time.process_time()
    found = shoal.balance(
        data, target="salary-class", k=sizes, algorithm="oka:numeric=mean", seed=1, workers=workers,
        allow_plain=["education-num"],
    )  # fmt: skip
    assert all(point.reason is None for point in found.points)
    return time.perf_counter() - began, time.process_time() - worked


if __name__ == "__main__":
    sweep(1, range(2, 3))
    alone, work = sweep(1)
    both, _ = sweep(2)
    print(f"one process: {alone:.1f} s on the clock, {work:.1f} s of the processor")
    print(f"two processes: {both:.1f} s on the clock, {both / alone:.2f} of one")
    print(f"{'within' if both <= WANTED else 'NOT within'} {WANTED:.0f} s on the clock, as loaded as this machine is")
