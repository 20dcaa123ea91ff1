"""Attacks on two releases of a million people, and the ledger's judgement: seconds of processor time.

Run it with `python benchmarks/several_releases.py [records]`. The ratio is to the time that making the second release
takes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.core.run import Run
from shoal.errors import DisclosureError


def timed(work: object) -> tuple[float, object]:
    begun = time.process_time()
    found = work()  # type: ignore[operator]
    return time.process_time() - begun, found


def main(records: int) -> None:
    draw = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "person": np.arange(records), "age": draw.integers(18, 90, records), "sex": draw.integers(0, 2, records),
            "zip": draw.integers(0, 1000, records), "ill": draw.integers(0, 20, records).astype(str),
        }
    )  # fmt: skip
    data = shoal.read(table, quasi=["age", "sex", "zip"], sensitive=["ill"], identifiers=["person"])
    first = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    levels = shoal.algorithms.Optimal(greatest_levels={"sex": 0})
    making, second = timed(lambda: shoal.anonymize(data, "k-anonymity:k=5", algorithm=levels, suppression=0.02, seed=1))
    print(f"{records:,} people; making the second release: {making:.1f} s")
    for name in ("complementary-release", "composition", "unsorted-matching"):
        try:
            seconds, found = timed(lambda name=name: shoal.attack(data, second, name, earlier=[first])[0])
            print(f"{name}: {seconds:.1f} s ({seconds / making:.2f}), {found.detail}")  # type: ignore[attr-defined]
        except shoal.errors.NotDefined as reason:
            print(f"{name}: {reason}")
    ledger = shoal.Ledger(Path(tempfile.mkdtemp()) / "people.ledger")
    with ledger.publishing(data, first, Run()) as publication:
        publication.enter(first.manifest([""]), None)

    def judged() -> str:
        try:
            ledger.judge(ledger.history(data), data, second, Run())  # type: ignore[arg-type]
        except DisclosureError:
            return "refused"
        return "passes"

    seconds, verdict = timed(judged)
    print(f"the ledger: {seconds:.1f} s ({seconds / making:.2f}), {verdict}; {ledger.path.stat().st_size:,} bytes")
    series = shoal.Ledger(ledger.path.with_name("series.ledger"))
    for share in (0.9, 1.0):
        some = shoal.read(table[: int(records * share)], quasi=["age", "sex", "zip"], sensitive=["ill"],
                          identifiers=["person"])  # fmt: skip
        seconds, release = timed(
            lambda some=some: shoal.anonymize(
                some, "frequency-l-diversity:l=3", algorithm="m-invariance", seed=1, ledger=series
            )
        )
        print(f"m-invariance of {some.records:,}: {seconds:.1f} s, {release.provenance['counterfeits']} counterfeits")  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
