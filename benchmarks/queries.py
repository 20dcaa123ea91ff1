"""Random counts estimated from each form of release, beside the truth: how far off, and how much is certain."""

from __future__ import annotations

import time

import numpy as np

import shoal

QUASI = ["age", "workclass", "education", "marital-status", "race", "sex"]
SENSITIVE = "occupation"
L = 4
QUERIES = 200
METHODS = {
    "generalized (mondrian, refined)": "mondrian:refine=true",
    "generalized (bucket clustering)": "bucket-clustering",
    "multisets (of mondrian)": "multiset",
    "two tables (anatomy)": "anatomy",
    "two tables (bucketization)": "bucketization",
    "sliced": "slicing",
}


def drawn(data: shoal.Dataset, generator: np.random.Generator) -> dict[str, object]:
    """A range of ages, some values of two other columns, and some sensitive values."""
    low = int(generator.integers(17, 60))
    wanted: dict[str, object] = {"age": (low, low + int(generator.integers(5, 25)))}
    for name in (*generator.choice(QUASI[1:], 2, replace=False), SENSITIVE):
        hierarchy = data.schema[str(name)].hierarchy
        assert hierarchy is not None
        leaves = hierarchy.labels[0]
        wanted[str(name)] = generator.choice(leaves, max(1, len(leaves) // 2), replace=False).tolist()
    return wanted


def main() -> None:
    table = shoal.samples.adult().select(*QUASI, SENSITIVE)
    data = shoal.read(table, quasi=QUASI, sensitive=[SENSITIVE], hierarchies=shoal.samples.hierarchies("adult"))
    generator = np.random.default_rng(1)
    wanted = [drawn(data, generator) for _ in range(QUERIES)]
    truths = np.array([shoal.query(data, where=each).value for each in wanted], np.float64)
    kept = truths >= 30  # relative errors of next to nothing say nothing
    print(f"Adult, {len(table):,} records, frequency {L}-diversity, {int(kept.sum())} random counts of 30 or more")
    print(f"{'form':34}{'median error':>14}{'mean error':>12}{'certain width':>15}{'inside':>8}{'seconds':>9}")
    for name, method in METHODS.items():
        release = shoal.anonymize(data, f"frequency-l-diversity:l={L}", algorithm=method, seed=1)
        began = time.perf_counter()
        found = [shoal.query(release, where=each) for each in wanted]
        seconds = (time.perf_counter() - began) / QUERIES
        errors = np.abs(np.array([each.value for each in found]) - truths)[kept] / truths[kept]
        widths = np.array([(each.high or 0) - (each.low or 0) for each in found])[kept] / truths[kept]
        inside = all((each.low or 0) <= truth <= (each.high or 0) for each, truth in zip(found, truths, strict=True))
        print(
            f"{name:34}{np.median(errors):>14.1%}{errors.mean():>12.1%}{widths.mean():>15.1%}"
            f"{'yes' if inside else 'NO':>8}{seconds:>9.3f}"
        )


if __name__ == "__main__":
    main()
