"""Diverse classes: what bucket clustering and l-member clustering lose on Adult, how long they take, and Anatomy's
speed."""

from __future__ import annotations

import time

import shoal
from benchmarks.local_recoding import CENSUS, EIGHT, adult, loss, publishing
from shoal.errors import InfeasibleError

FORMS = ["bucket-clustering", "l-member", "l-member:variant=intuitive", "bucket-clustering:refine=true"]
GRANTED = 0.4
"""Records that may be left out: occupations are too frequent for more than seven different ones in every class."""


def row(data: shoal.Dataset, algorithm: str, *models: str, suppression: float = 0.0) -> None:
    """One line: processor seconds, which other programs do not change, loss, classes, and who was left out."""
    started = time.process_time()
    try:
        release = shoal.anonymize(
            data, *models, algorithm=publishing(algorithm, "interval"), suppression=suppression, seed=1
        )  # fmt: skip
    except InfeasibleError as error:
        print(f"{algorithm:36} {time.process_time() - started:7.2f}  {error}", flush=True)
        return
    seconds = time.process_time() - started
    print(
        f"{algorithm:36} {seconds:7.2f} {loss(data, release):7.4f} {len(release.classes):8,} {release.suppressed:9,}",
        flush=True,
    )


def over_l(data: shoal.Dataset, wanted: range) -> None:
    """Loss and time of each form for every l; no value makes up more than 1/l of a class."""
    for l in wanted:  # noqa: E741
        print(f"\nfrequency-l-diversity, l = {l}")
        print(f"{'algorithm':36} {'seconds':>7} {'loss':>7} {'classes':>8} {'left out':>9}")
        for algorithm in FORMS:
            row(data, algorithm, f"frequency-l-diversity:l={l}", suppression=GRANTED if l > 7 else 0.0)


def beside_k_member(data: shoal.Dataset) -> None:
    """k = 5 and three different occupations in every class."""
    print("\nk-anonymity, k = 5, and distinct-l-diversity, l = 3")
    for algorithm in ("bucket-clustering", "bucket-clustering:refine=true", "k-member:refine=true"):
        row(data, algorithm, "k-anonymity:k=5", "distinct-l-diversity:l=3")


def anatomy(records: int) -> None:
    """The search of Anatomy on a large census, without reading and publishing."""
    data = shoal.read(shoal.samples.census(records), quasi=CENSUS, sensitive=["occupation"])
    policy = shoal.Policy(models=(shoal.FrequencyLDiversity(l=4),), suppression=GRANTED, seed=1)
    started = time.process_time()
    recoding = shoal.algorithms.Anatomy().search(data, policy, shoal.Run())
    seconds = time.process_time() - started
    print(f"\nAnatomy, {records:,} records, l = 4: {recoding.facts['groups']:,} groups in {seconds:.1f} s")


if __name__ == "__main__":
    table = adult(EIGHT, "occupation")
    row(table, "bucket-clustering:refine=true,time_limit=1", "frequency-l-diversity:l=3")  # compiles
    over_l(table, range(2, 11))
    beside_k_member(table)
    anatomy(1_000_000)
