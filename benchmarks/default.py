"""The default, `auto`, beside every local algorithm with refinement: for models of every family, on parts of Adult and
on tables as offices hold them.

`python -m benchmarks.default` for the grid; `--whole` for the whole of Adult and of a survey, by `auto` alone under
every model (`--whole t-closeness` for what has that word); `--sizes` for whole tables with k-anonymity. The acceptance
tests run some of it on small ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import shoal
from benchmarks.default_cases import CASES, SURVEY
from benchmarks.default_cases import TABLES as WHOLE
from benchmarks.local_recoding import NINE, adult
from shoal.errors import ShoalError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "acceptance"))

from tables import PERSON, PLANTED, TABLES

RIVALS = ("mondrian", "k-member", "two-phase", "oka", "mst", "mst:cut=literal", "k-means", "mdav")
DIVERSE = ("bucket-clustering", "l-member", "l-member:variant=intuitive")
SIZES: Sequence[str] = ("k-anonymity:k=5",)
POLICIES: Sequence[Sequence[str]] = (
    SIZES,
    ("k-anonymity:k=5", "distinct-l-diversity:l=3"),
    ("frequency-l-diversity:l=3",),
    ("frequency-l-diversity:l=5",),
    ("entropy-l-diversity:l=3",),
    ("recursive-l-diversity:c=2,l=3",),
    ("p-sensitive-k-anonymity:p=3,k=5",),
    ("alpha-k-anonymity:alpha=0.4,k=5",),
    ("k-anonymity:k=5", "beta-likeness:beta=2"),
    ("k-anonymity:k=5", "t-closeness:t=0.3"),
    ("k-anonymity:k=5", "t-closeness:t=0.2", "distinct-l-diversity:l=3"),
    ("k-anonymity:k=5", "t-closeness:t=0.15,distance=ordered"),
)
ALLOWED = 1.05
"""Times the loss of the best one that the default may lose."""


class Result(NamedTuple):
    """The loss LM of a release, and the processor seconds that it took; other programs do not change those."""

    loss: float
    seconds: float


def office(name: str, **size: int) -> shoal.Dataset:
    """A table of an office with the roles that were planted in it; everything that has none is dropped."""
    roles = PLANTED[name]
    person = PERSON.get(name, [])
    dropped = [column for column in roles["identifiers"] if column not in person]
    columns = [*person, *roles["quasi"], *roles["sensitive"]]
    table = TABLES[name](**size).drop(dropped).select(columns)
    return shoal.read(table, quasi=roles["quasi"], sensitive=roles["sensitive"], person=person[0] if person else None)


def part_of_adult(rows: int, sensitive: str | None = None) -> shoal.Dataset:
    """Records of Adult from all over the table, with all nine columns or one of them sensitive."""
    table = shoal.samples.adult().drop("education-num").gather_every(30162 // rows).head(rows)
    quasi = [name for name in NINE if name != sensitive]
    return shoal.read(
        table, quasi=quasi, sensitive=[sensitive] if sensitive else [], hierarchies=shoal.samples.hierarchies("adult")
    )


def measured(
    data: shoal.Dataset, algorithm: str, models: Sequence[str], seed: int = 1, suppression: float = 0.0
) -> Result | None:
    """What an algorithm loses; None where it refuses the policy."""
    started = time.process_time()
    try:
        release = shoal.anonymize(data, *models, algorithm=algorithm, suppression=suppression, seed=seed)
    except ShoalError:
        return None
    seconds = time.process_time() - started
    return Result(float(shoal.metrics.Lm().score(data, release).value or 0), seconds)


def losses(data: shoal.Dataset, models: Sequence[str] = SIZES, rivals: Sequence[str] = RIVALS) -> Mapping[str, Result]:
    """What the default loses, and each of its rivals with refinement that does not refuse the policy."""
    rules = {name: f"{name}{',' if ':' in name else ':'}numeric=interval,refine=true" for name in rivals}
    results = {name: measured(data, spelled, models) for name, spelled in {"auto": "auto", **rules}.items()}
    return {name: result for name, result in results.items() if result is not None}


def best(results: Mapping[str, Result]) -> str:
    """The rival that loses least."""
    return min((name for name in results if name != "auto"), key=lambda name: results[name].loss)


def show(name: str, data: shoal.Dataset) -> None:
    """A table of what each loses with k = 5, and of how much more than the best one."""
    results = losses(data)
    least = min(result.loss for result in results.values())
    print(f"\n{name}: {data.records:,} records, {len(data.summary):,} distinct tuples, k = 5")
    print(f"{'algorithm':16} {'LM':>8} {'of the best':>12} {'seconds':>8}")
    for algorithm, (loss, seconds) in results.items():
        print(f"{algorithm:16} {loss:8.4f} {loss / least:12.3f} {seconds:8.1f}", flush=True)


def grid(tables: Mapping[str, shoal.Dataset]) -> None:
    """A line for each table and policy: what the default loses, the best of all others, and processor seconds."""
    for name, data in tables.items():
        print(f"\n{name}: {data.records:,} records, {len(data.hierarchies)} quasi-identifiers")
        print(f"{'policy':70} {'auto':>7} {'s':>6} {'best':>7} {'s':>6} {'ratio':>6}  best of the others")
        for models in POLICIES:
            results = losses(data, models, (*RIVALS, *DIVERSE))
            if "auto" not in results:
                print(f"{' and '.join(models):70} no release")
                continue
            rival, own = best(results), results["auto"]
            other = results[rival]
            ratio = own.loss / other.loss if other.loss else 1.0
            print(
                f"{' and '.join(models):70} {own.loss:7.4f} {own.seconds:6.1f} {other.loss:7.4f} {other.seconds:6.1f} "
                f"{ratio:6.3f}  {rival}{'' if ratio <= ALLOWED else '  NOT within 5 %'}",
                flush=True,
            )


def whole(wanted: Sequence[str]) -> None:
    """The default on whole tables, under every model that it serves; only what has one of the words, where any are."""
    small = part_of_adult(300, "occupation")
    for models in (SIZES, ("entropy-l-diversity:l=3",), ("k-anonymity:k=5", "t-closeness:t=0.3")):
        measured(small, "auto", models)  # compiles
    opened = cache(lambda name: WHOLE[name]())
    for case in CASES:
        if wanted and not any(word in str(case) for word in wanted):
            continue
        if case.table.startswith("survey") and not SURVEY.is_file():
            continue
        options = dict(case.options)
        result = measured(opened(case.table), options.pop("algorithm", "auto"), case.models, **options)
        print(f"{case!s:100} {f'{result.loss:7.4f} {result.seconds:6.1f}' if result else 'no release'}", flush=True)


if __name__ == "__main__":
    if "--whole" in sys.argv:
        whole([word for word in sys.argv[1:] if word != "--whole"])
    elif "--sizes" in sys.argv:
        for each in TABLES:
            show(each, office(each))
        show("Adult", adult(NINE))
    else:
        few = {"rows": 420, "people": 300}
        offices = {
            "hospital admissions": few,
            "COVID register": few,
            "insurance claims": few,
            "panel survey": {"people": 120},
        }
        sensitive = ("occupation", "education", "salary-class")
        grid({f"Adult, {name}": part_of_adult(1000, name) for name in sensitive})
        grid({name: office(name, **size) for name, size in offices.items()})
