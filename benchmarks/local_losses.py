"""What every local algorithm loses by LM, k = 5: on the census at three sizes, on Adult and on two small samples.

`python -m benchmarks.local_losses --beside FOLDER` puts another version next to it, whose sources are in FOLDER: a
result may change only for the better. Both versions run in processes of their own, on the same tables and seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import shoal
from benchmarks.measuring import told_by

CENSUS = ["age", "gender", "education", "marital-status", "race", "work-class", "country", "occupation", "salary-class"]
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
TABLES = ("census 1000", "census 10000", "census 100000", "adult", "haberman", "heart")
ALGORITHMS = (
    "mondrian:numeric=interval", "k-member", "two-phase", "oka", "mst:numeric=interval", "mdav:numeric=interval",
    "k-means",
)  # fmt: skip
SLOW, FEW = "k-means", 50_000
"""An algorithm that nobody would take for large tables, and the records up to which it is run."""


def opened(name: str) -> shoal.Dataset:
    kind, _, rows = name.partition(" ")
    if kind == "census":
        hierarchies = shoal.samples.hierarchies("census")
        return shoal.read(shoal.samples.census(int(rows)), quasi=CENSUS, hierarchies=hierarchies)
    if kind == "adult":
        return shoal.read(
            shoal.samples.adult().drop("education-num"), quasi=ADULT, hierarchies=shoal.samples.hierarchies("adult")
        )
    table = shoal.samples.haberman() if kind == "haberman" else shoal.samples.heart_statlog()
    return shoal.read(table, quasi=table.columns[:-1])


def chosen(records: int) -> list[str]:
    """The algorithms for a table of so many records, each also with refinement."""
    plain = [name for name in ALGORITHMS if records <= FEW or name != SLOW]
    return [form for name in plain for form in (name, f"{name}{',' if ':' in name else ':'}refine=true")]


def losses(tables: list[str]) -> None:
    """Prints a line for each table and algorithm: the loss, and the processor seconds of search, release and check."""
    for table in tables:
        data = opened(table)
        for algorithm in chosen(data.records):
            started = time.process_time()
            release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=algorithm, seed=1)
            spent = time.process_time() - started
            print(json.dumps([table, algorithm, shoal.metrics.Lm().score(data, release).value, spent]), flush=True)


def of_version(sources: Path, tables: list[str]) -> dict[tuple[str, str], tuple[float, float]]:
    """What a version loses, and its seconds; compiled kernels are on disk when that is measured."""
    told_by(sources, "local_losses", "--raw", "--tables", "haberman")
    found = told_by(sources, "local_losses", "--raw", "--tables", *tables)
    return {(table, algorithm): (loss, spent) for table, algorithm, loss, spent in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=TABLES)
    parser.add_argument("--beside", type=Path, help="the folder with the sources of another version")
    parser.add_argument("--raw", action="store_true", help="print lines for another program")
    given = parser.parse_args()
    if given.raw:
        losses(given.tables)
        return
    now = of_version(Path(shoal.__file__).parents[1], given.tables)
    before = of_version(given.beside, given.tables) if given.beside else {}
    for (table, algorithm), (loss, spent) in now.items():
        told = f"{table:14} {algorithm:40} {loss:.5f} in {spent:6.1f} s"
        if (table, algorithm) in before:
            past, took = before[table, algorithm]
            verdict = "NOT as good" if loss > past * (1 + 1e-9) else "as good" if loss > past * 0.9999 else "better"
            told += f"; before {past:.5f} in {took:6.1f} s, ratio {loss / past:.3f}: {verdict}"
        print(told, flush=True)


if __name__ == "__main__":
    main()
