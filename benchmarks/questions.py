"""Questions about large tables on every engine: `python -m benchmarks.questions 1 10 --engine duckdb` (millions).

The twelve questions, the detection of roles, dependencies between columns, attacks on classes and evaluation, each with
its time, beside the engine's own `GROUP BY` of the same columns, and with the peak of memory. Where the default engine
runs too, the answers are compared.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.engines import COLUMNS, SENSITIVE
from benchmarks.scale import Work, generated, own

ASKED: dict[int, dict[str, Any]] = {
    1: {"attributes": COLUMNS, "k": 5}, 2: {"attributes": COLUMNS}, 3: {"k": 5}, 4: {},
    5: {"attributes": COLUMNS, "k": 5, "delta": 0.05}, 6: {"attributes": COLUMNS, "delta": 0.05},
    7: {"k": 5, "delta": 0.05}, 8: {"delta": 0.05},
    9: {"attributes": COLUMNS, "k": 5, "delta": "ask"}, 10: {"k": 5, "delta": "ask"},
    11: {"attributes": COLUMNS, "delta": "ask"}, 12: {"delta": "ask"},
}  # fmt: skip
ATTACKS = (
    "prosecutor", "journalist", "marketer", "homogeneity", "skewness", "similarity", "background-knowledge",
    "disclosure", "membership", "population-uniqueness",
)  # fmt: skip

_READING = """
import shoal
from shoal.errors import NotDefined
engine = {engine!r}
start = shoal.samples.census(2000)
small = shoal.read(start, quasi={columns!r}, sensitive=[{sensitive!r}], engine=engine)
{started}
lap("starting")
stages.clear()
answer = {{}}
"""
_READ = """
data = shoal.read({table!r}, quasi={columns!r}, sensitive=[{sensitive!r}], engine=engine,
    hierarchies=shoal.samples.hierarchies("census"))
lap("reading")
data.summary
lap("summary")
"""


def _script(table: Path, engine: str, started: str, work: str, *, read: bool = True) -> str:
    given = {"engine": engine, "columns": COLUMNS, "sensitive": SENSITIVE, "table": str(table)}
    return _READING.format(started=started, **given) + (_READ.format(**given) if read else "") + work


def _questions(table: Path, engine: str) -> str:
    started = f"for each in {list(ASKED.values())!r}:\n    shoal.ask(small, **each)"
    work = (
        f"for number, each in {ASKED!r}.items():\n"
        "    found = shoal.ask(data, **each).as_dict()\n"
        "    answer[number] = [found['answer'], found['proven']]\n"
        "    lap(f'question {number}')\n"
    )
    return _script(table, engine, started, work)


def _detection(table: Path, engine: str) -> str:
    work = f"answer = shoal.detect({str(table)!r}, engine=engine, time_limit=None).as_dict()\nlap('detection')"
    return _script(table, engine, "shoal.detect(start, engine=engine)", work, read=False)


def _dependencies(table: Path, engine: str) -> str:
    work = f"answer = shoal.dependencies({str(table)!r}, engine=engine, time_limit=None).as_dict()\nlap('dependencies')"
    return _script(table, engine, "shoal.dependencies(start, engine=engine)", work, read=False)


def _attacks(table: Path, engine: str) -> str:
    made = "shoal.anonymize({}, 'k-anonymity:k=5', algorithm='mondrian', seed=1)"
    started = (
        f"release = {made.format('small')}\nshoal.attack(small, release)\n"
        "from shoal.api import quick_metrics\nshoal.evaluate(small, release, *quick_metrics(), baselines=False)\n"
    )
    work = (
        f"release = {made.format('data')}\nlap('release')\n"
        f"for each in {ATTACKS!r}:\n"
        "    try:\n"
        "        answer[each] = shoal.attack(data, release, each)[0].as_dict()\n"
        "    except NotDefined as reason:\n"
        "        answer[each] = str(reason)\n"
        "    lap(each)\n"
        "answer['evaluation'] = shoal.evaluate(data, release, *quick_metrics(), baselines=False).as_dict()\n"
        "lap('evaluation')\n"
    )
    return _script(table, engine, started, work)


def named(folder: Path, millions: int) -> Path:
    """The same records, each with a number of its own, and an amount that hardly repeats."""
    import duckdb

    table = generated(folder, millions)
    path = folder / f"named-{millions}.parquet"
    if not path.exists():
        row = "row_number() OVER ()"
        duckdb.connect().execute(
            f"COPY (SELECT *, 'P' || lpad(CAST({row} * 7919 % 1000000007 AS VARCHAR), 10, '0') AS person, "
            f"({row} * 104729 % 1000003) / 7 AS amount FROM '{table}/*.parquet') TO '{path}' (FORMAT parquet)"
        )
    return path


PARTS = {
    "the twelve questions": _questions, "detection": _detection, "dependencies": _dependencies,
    "attacks and evaluation": _attacks,
    "detection with an identifier": _detection, "dependencies with an identifier": _dependencies,
}  # fmt: skip


def questions(millions: int, folder: Path, engine: str, parts: list[str], *, compare: bool) -> None:
    table = generated(folder, millions)
    print(f"{millions} million census rows, {engine}:")
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    grouped = own(
        "DuckDB's own GROUP BY of the quasi-identifiers",
        f"CREATE TABLE t AS SELECT {names}, count(*) FROM '{table}/*.parquet' GROUP BY ALL", folder,
    )  # fmt: skip
    grouped.tell()
    every = own(
        "DuckDB's own GROUP BY of all columns",
        f"CREATE TABLE t AS SELECT *, count(*) FROM '{table}/*.parquet' GROUP BY ALL", folder,
    )  # fmt: skip
    every.tell()
    for name, script in PARTS.items():
        if parts and not any(part in name for part in parts):
            continue
        looked = named(folder, millions) if name.endswith("identifier") else table
        work = Work(name, script(looked, engine))
        work.tell([every])
        if compare:
            other = Work(f"{name}, the default engine", script(looked, "embedded"))
            other.tell([every])
            print(f"    the same answers: {other.answer == work.answer}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", type=int, nargs="*", default=[1])
    parser.add_argument("--engine", default="duckdb:memory_limit=4GB")
    parser.add_argument("--part", action="append", default=[], help="a word of what is run; by default everything")
    parser.add_argument("--compare", action="store_true", help="run the default engine, too")
    parser.add_argument("--folder", type=Path, help="where tables are kept; by default they are removed at the end")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for millions in given.millions:
            questions(millions, given.folder or Path(folder), given.engine, given.part, compare=given.compare)


if __name__ == "__main__":
    main()
