"""This version beside another one, whose sources are in a folder: `python -m benchmarks.versions FOLDER`.

Both do the same work in processes of their own, in turn, so that whatever slows the machine down slows both; the least
of several medians counts. A result may differ by rounding alone.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import shoal
from benchmarks.engines import COLUMNS, SENSITIVE
from benchmarks.full_domain import ELSEWHERE, adult
from benchmarks.measuring import told_by
from shoal.core.policy import Policy
from shoal.core.run import Run

ROUNDS = 3
ROWS = 1_000_000


def median(work: Callable[[], object], repeats: int) -> float:
    """Of several runs after one that does not count, in milliseconds on the clock."""
    work()
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return 1000 * statistics.median(found)


def measured(folder: Path) -> None:
    """Prints a line for each work: its name, its milliseconds, and a figure of its result."""

    def tell(name: str, milliseconds: float, figure: float) -> None:
        print(json.dumps([name, milliseconds, figure]), flush=True)

    k = shoal.KAnonymity(k=5)
    data = adult()
    searches = {f"nine quasi-identifiers, ≤ {limit:.0%}": (data, (k,), limit) for limit in (0.0, 0.02, 1.0)}
    sensitive = adult(sensitive=True)
    searches |= {name: (sensitive, models, limit) for name, (models, limit, _) in ELSEWHERE.items()}
    for name, (table, models, limit) in searches.items():
        policy = Policy(models=models, suppression=limit)

        def search(table: shoal.Dataset = table, policy: Policy = policy) -> float:
            return float(shoal.algorithms.Optimal().search(table, policy, Run()).facts["score"])

        tell(f"{name}: the search", median(search, 20 if limit == 0 else 5), search())

    def published() -> shoal.Release:
        return shoal.anonymize(data, k, algorithm="optimal", suppression=0.0, seed=1)

    tell("nine quasi-identifiers, ≤ 0%: published and verified", median(published, 20), len(published().classes))
    source, out = folder / "census.csv", folder / "out.csv"
    trees = shoal.samples.hierarchies("census")

    def read() -> shoal.Dataset:
        return shoal.read(source, quasi=COLUMNS, sensitive=[SENSITIVE], hierarchies=trees)

    def from_file_to_file() -> int:
        release = shoal.anonymize(read(), "k-anonymity:k=10", algorithm="mondrian", seed=1)
        release.write(out)
        return len(release.classes)

    tell(f"{ROWS:,} rows of CSV: read", median(read, 3), read().records)
    tell(f"{ROWS:,} rows of CSV: to a Mondrian release in CSV", median(from_file_to_file, 2), from_file_to_file())


def of_version(sources: Path, folder: Path) -> dict[str, tuple[float, float]]:
    return {name: (spent, figure) for name, spent, figure in told_by(sources, "versions", "--raw", str(folder))}


def compared(other: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        shoal.samples.census(ROWS).write_csv(Path(place) / "census.csv")
        here = Path(shoal.__file__).parents[1]
        rounds = [(of_version(other, Path(place)), of_version(here, Path(place))) for _ in range(ROUNDS)]
    for name in rounds[0][0]:
        (before, old), (now, new) = (min(each[side][name] for each in rounds) for side in (0, 1))
        assert math.isclose(old, new, rel_tol=1e-9), f"{name}: {old} before, {new} now"
        print(f"{name}: {before:.1f} ms before, {now:.1f} ms now, ratio {before / now:.2f}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--raw", folder]:
            measured(Path(folder))
        case [folder] if Path(folder).is_dir():
            compared(Path(folder))
        case _:
            print("name the folder with the sources of another version: python -m benchmarks.versions FOLDER")
