"""The default, `auto`, beside every local algorithm with refinement: on Adult and on five tables as offices hold them.

`python -m benchmarks default` for the whole tables; the acceptance tests run the same on small ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import shoal
from benchmarks.local_recoding import NINE, adult

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "acceptance"))

from tables import PERSON, PLANTED, TABLES

RIVALS = ("mondrian", "k-member", "two-phase", "oka", "mst", "mst:cut=literal", "k-means", "mdav")
ALLOWED = 1.05
"""Times the loss of the best one that the default may lose."""


def office(name: str, **size: int) -> shoal.Dataset:
    """A table of an office with the roles that were planted in it; everything that has none is dropped."""
    roles = PLANTED[name]
    person = PERSON.get(name, [])
    dropped = [column for column in roles["identifiers"] if column not in person]
    kept = [*person, *roles["quasi"], *roles["sensitive"]]
    table = TABLES[name](**size).drop(dropped).select(kept)
    return shoal.read(table, quasi=roles["quasi"], sensitive=roles["sensitive"], person=person[0] if person else None)


def losses(
    data: shoal.Dataset, k: int = 5, seed: int = 1, rivals: Sequence[str] = RIVALS
) -> Mapping[str, tuple[float, float]]:
    """The loss LM and the seconds of the default, and of each of its rivals with refinement."""
    found = {}
    for name in ("auto", *rivals):
        rule = f"{',' if ':' in name else ':'}numeric=interval,refine=true"
        algorithm = name if name == "auto" else name + rule
        started = time.perf_counter()
        release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm=algorithm, seed=seed)
        found[name] = (float(shoal.metrics.Lm().score(data, release).value or 0), time.perf_counter() - started)
    return found


def show(name: str, data: shoal.Dataset) -> None:
    """A table of what each loses, and of how much more than the best one."""
    found = losses(data)
    best = min(loss for loss, _ in found.values())
    print(f"\n{name}: {data.records:,} records, {len(data.summary):,} distinct tuples, k = 5")
    print(f"{'algorithm':12} {'LM':>8} {'of the best':>12} {'seconds':>8}")
    for algorithm, (loss, seconds) in found.items():
        print(f"{algorithm:16} {loss:8.4f} {loss / best:12.3f} {seconds:8.1f}", flush=True)
    verdict = "within" if found["auto"][0] <= ALLOWED * best else "NOT within"
    print(f"auto is {verdict} {ALLOWED - 1:.0%} of the best one")


if __name__ == "__main__":
    for each in TABLES:
        show(each, office(each))
    show("Adult", adult(NINE))
