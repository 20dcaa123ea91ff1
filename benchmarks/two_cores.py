"""Every place where work is shared among threads or processes: what two of them take beside one.

`python -m benchmarks.two_cores` measures all places, `python -m benchmarks.two_cores search files` some of them. The
clock is that of `cores.py`, two idle cores, whatever else this machine is doing; with `--quiet`, where nothing else
runs, it is the machine's own. "Stage" is the work that is shared, "all" what it is part of, with everything that one
thread does alone.

With `--quiet` there is a limit beside each ratio: two programs do the whole stage at the same time, each on one thread.
They wait for nothing but the machine (its memory, its caches, its clock speed), so sharing the stage gains no more.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numba
import numpy as np
import polars as pl
import pyarrow as pa

import shoal
from benchmarks.balance import sweep
from benchmarks.cores import scheduled
from benchmarks.full_domain import ELSEWHERE, couples
from benchmarks.full_domain import adult as adult_for_searches
from benchmarks.local_recoding import NINE, adult
from shoal.algorithms import _growth, _records, _refinement, mondrian, mst
from shoal.algorithms.full_domain import _checker
from shoal.core import grouping
from shoal.core.contracts.model import Model
from shoal.core.costs import loss_costs
from shoal.core.policy import Policy
from shoal.core.run import Run
from shoal.engines.common import fields, hashing, lines
from shoal.overlap import points
from shoal.publishing import divided_table
from shoal.utility import certificate

REPEATS = 3
LONG_ENOUGH = 0.5
"""Seconds for which work is repeated on each number of threads, if it is shorter; a piece of milliseconds wavers."""
QUIET = "--quiet" in sys.argv
CENSUS = ["age", "gender", "education", "marital-status", "race", "work-class", "country", "occupation", "salary-class"]


class Row(NamedTuple):
    """A place, some work to measure it by, and the functions that make up the stage, by default the whole work."""

    place: str
    work: Callable[[], Any]
    stages: tuple[tuple[Any, str], ...] = ()


class Spent(NamedTuple):
    """Seconds of the stage and of everything, and the processor time of all threads together."""

    stage: float
    everything: float
    processor: float


def census(records: int) -> shoal.Dataset:
    table = shoal.samples.census(records, seed=7)
    return shoal.read(table, quasi=CENSUS, hierarchies=shoal.samples.hierarchies("census"))


def searching(data: shoal.Dataset, algorithm: str, *models: Model, suppression: float = 0.0) -> Callable[[], Any]:
    method = shoal.job.plugin("algorithms", algorithm)
    policy = Policy(models=models or (shoal.KAnonymity(k=5),), seed=1, suppression=suppression)
    assert len(data.summary)  # grouped before anything is measured
    return lambda: method.search(data, policy, Run())


def groupings() -> Iterator[Row]:
    data = census(10_000_000)
    stage = ((grouping, "_threaded"),)
    for what, chosen in (
        ("sorting, most distinct", CENSUS),
        ("sorting, many distinct", ["age", "gender", "education", "marital-status", "race", "country", "salary-class"]),
        ("a hash table", ["gender", "marital-status", "race", "work-class", "country", "occupation"]),
        ("a table of counts", ["gender", "education", "marital-status", "race", "work-class"]),
    ):
        columns = [data.codes(name) for name in chosen]
        radices = [data.hierarchies[data.schema.quasi.index(name)].size for name in chosen]
        yield Row(f"grouping 10 million rows, {what}", partial(grouping.group, columns, radices), stage)
        if chosen is CENSUS:
            keys = grouping.group(columns, radices).keys
            yield Row("numbering 10 million rows", partial(grouping.located, columns, radices, keys), stage)


def local_recodings() -> Iterator[Row]:
    data = adult(NINE)
    tuples = np.ascontiguousarray(data.summary.keys.T)
    yield Row("spanning tree", lambda: mst.spanning_tree(tuples, data.hierarchies, Run()), ((mst, "in_portions"),))
    records = _records.Records.of(data, Policy(models=(shoal.KAnonymity(k=5),), seed=1), ("interval",) * len(NINE))

    def neighbours() -> None:
        records._nearest.clear()
        records.nearest(32, Run())

    yield Row("neighbours of tuples", neighbours, ((_records, "in_portions"),))
    refining = searching(data, "mondrian:refine=true")
    yield Row("refinement: proposals", refining, ((_refinement, "in_slices"),))
    yield Row("refinement: rebuilding", refining, ((_refinement._ClusterSearch, "_rebuilt"),))
    numbers = np.random.default_rng(1).normal(size=(20_000, 8))
    yield Row("neighbours of points", lambda: nearest(numbers))
    intervals = [tree.ordered for tree in data.hierarchies]
    costs = loss_costs(data.hierarchies, list(data.summary.keys), intervals)
    prices = certificate._Prices(data.summary, costs, intervals, 5, Run())
    first = prices.prices

    def growing() -> None:
        prices.prices = first
        prices.grow()

    yield Row("certificate, a round", growing)


def nearest(numbers: Any) -> None:
    """As the refinement of groups by squares looks for neighbours."""
    from shoal.kernels import squares

    near, run = np.zeros((len(numbers), 10), np.int32), Run()
    _records.in_portions(lambda begin, end: squares.nearest(numbers, near, begin, end, run.flag), len(numbers), run, "")


def large_tables() -> Iterator[Row]:
    data, fewer = census(1_000_000), census(60_000)
    yield Row("mondrian, a million records", searching(data, "mondrian"), ((mondrian.Cutter, "_cut"),))
    growing = searching(fewer, "k-member")

    def grown() -> None:
        with mock.patch.object(_growth, "BLOCK", 1 << 12):  # a million records take minutes
            growing()

    yield Row("k-member in blocks", grown)
    solving = searching(data, "in-blocks:base=mondrian,records=100000")
    yield Row("in-blocks, a million records", solving, ((divided_table.Whole, "worked_on"),))


def searches() -> Iterator[Row]:
    stage = ((_checker.Checker, "_share"),)
    models, limit, _ = ELSEWHERE["t-closeness 0.2, hierarchical distance"]
    for what, data, limited, asked, share in (
        ("Adult, t-closeness", adult_for_searches(sensitive=True), "optimal", models, limit),
        ("Adult, k-anonymity", adult_for_searches(), "optimal", (), 0.02),
        ("300,000 of the census", census(300_000), "optimal", (), 0.02),
        ("100,000 couples", couples(100_000, fewer_levels=True), "optimal:check_limit=3000", (), 0.02),
        ("300,000 couples", couples(300_000, fewer_levels=True), "optimal:check_limit=2000", (), 0.02),
    ):
        yield Row(f"search: {what}", searching(data, limited, *asked, suppression=share), stage)


def files() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "census.csv", Path(folder) / "out.csv"
        shoal.samples.census(2_000_000, seed=7).write_csv(path)
        yield Row("CSV in, 2 million rows", lambda: shoal.read(path, quasi=CENSUS).records, ((fields, "columns"),))
        hashes = np.random.default_rng(1).integers(0, 1 << 63, 10_000_000).astype(np.uint64)
        yield Row("order of 10 million hashes", lambda: hashing.ascending(hashes))
        release = shoal.anonymize(census(1_000_000), shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
        coded = release.frame.select(pl.all().cast(pl.String).cast(pl.Categorical)).to_arrow()
        coded = pa.concat_tables([coded] * 8).combine_chunks()
        yield Row("CSV lines, 8 million rows", lambda: sum(len(each) for each in lines.of_codes(coded, ",")))
        yield Row("written, read back, verified", lambda: release.write(out))


ROWS = {
    "grouping": groupings,
    "local": local_recodings,
    "large": large_tables,
    "search": searches,
    "files": files,
}


def spent(row: Row, threads: int) -> Spent:
    numba.set_num_threads(threads)
    pa.set_cpu_count(threads)
    with scheduled(*row.stages, quiet=QUIET) as schedule:
        row.work()
    return Spent(schedule.stage if row.stages else schedule.now, schedule.now, schedule.spent)


def repeats(once: Spent) -> int:
    return max(REPEATS, round(LONG_ENOUGH / once.everything))


def in_threads(row: Row) -> tuple[Spent, Spent]:
    """The least of several runs on one thread and on two, in turn, after one that compiles."""
    spent(row, 2)
    pairs = [(spent(row, 1), spent(row, 2)) for _ in range(repeats(spent(row, 1)))]
    one, two = (min(each, key=lambda found: found.everything) for each in zip(*pairs, strict=True))
    return one, two


def _side_by_side(name: str, often: dict[str, int], start: Any, results: Any) -> None:
    """What one of two programs takes for each row of a group, on one thread, while the other does the same."""
    for row in ROWS[name]():
        spent(row, 1)
        times = []
        for _ in range(often[row.place]):
            start.wait()
            times.append(spent(row, 1).stage)
        results.put((row.place, min(times)))
    start.wait()  # neither ends while the other still measures


def limits(name: str, often: dict[str, int]) -> dict[str, float]:
    """The seconds of each stage in a group when two programs do it at the same time, on one thread each, so many times:
    the least of the slower one."""
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(2), context.Queue()
    pair = [context.Process(target=_side_by_side, args=(name, often, start, results)) for _ in range(2)]
    for process in pair:
        process.start()
    for process in pair:
        process.join()
    found: dict[str, float] = {}
    while not results.empty():
        place, seconds = results.get()
        found[place] = max(found.get(place, 0.0), seconds)
    return found


def told(place: str, one: Spent, two: Spent, together: float | None = None) -> None:
    """A row; `together` is what the stage took each of two programs that ran at the same time."""
    ratios = [before / after if after else 1.0 for before, after in zip(one, two, strict=True)]
    limit = f"{2 * one.stage / together:.2f}" if together else ""
    print(
        f"| {place} | {one.stage:.3f} | {two.stage:.3f} | **{ratios[0]:.2f}** | {limit} | {one.everything:.3f} | "
        f"{two.everything:.3f} | {ratios[1]:.2f} | {two.processor:.3f} |",
        flush=True,
    )


def of_processes(work: Callable[[], Any], processes: int) -> Spent:
    """What this process takes, and each of those that it starts, which share the work evenly."""

    def used(whose: int) -> float:
        usage = resource.getrusage(whose)
        return usage.ru_utime + usage.ru_stime

    before, began = (used(resource.RUSAGE_SELF), used(resource.RUSAGE_CHILDREN)), time.perf_counter()
    work()
    clock = time.perf_counter() - began
    own, children = used(resource.RUSAGE_SELF) - before[0], used(resource.RUSAGE_CHILDREN) - before[1]
    if not QUIET:
        clock = own + children / processes
    return Spent(clock, clock, own + children)


def in_processes() -> None:
    numba.set_num_threads(1)
    key = points.draw()
    for count in (40_000, 60_000):
        items = os.urandom(points.BYTES * count)
        found = []
        for processes in (1, 2):
            with (
                mock.patch("os.cpu_count", lambda processes=processes: processes),
                mock.patch.object(points, "SHARE", 1.0),
            ):
                found.append(of_processes(lambda: points.multiply("hash", key, items), processes))  # noqa: B023
        told(f"overlap: {count:,} points", *found)
    sweep(1, range(2, 3))
    alone, both = of_processes(lambda: sweep(1), 1), of_processes(lambda: sweep(2), 2)
    told("sweep: 19 releases of 3,000 records", alone, both)


def of_duckdb() -> None:
    """DuckDB's own threads: the one that works most, of those that are there when the work is done."""

    def ticks() -> dict[str, float]:
        found = {}
        for task in Path("/proc/self/task").iterdir():
            with suppress(FileNotFoundError):
                found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
        return found

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.parquet"
        shoal.samples.census(10_000_000, seed=7).write_parquet(path)
        results = []
        for threads in (1, 2):
            data = shoal.read(path, quasi=CENSUS, engine=f"duckdb:threads={threads}")
            before, began = ticks(), time.perf_counter()
            assert len(data.summary)
            clock = time.perf_counter() - began
            took = [after - before.get(task, 0.0) for task, after in ticks().items()]
            longest = clock if QUIET else max(took)
            results.append(Spent(longest, longest, sum(took)))
        told("DuckDB: grouping 10 million rows of Parquet", *results)


def main() -> None:
    wanted = [name for name in sys.argv[1:] if name != "--quiet"] or [*ROWS, "processes", "duckdb"]
    print(
        "| place | stage, one thread | two | ratio | limit | all, one thread | two | ratio | processor time of both |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in wanted:
        if name in ROWS:
            measured = [(row.place, *in_threads(row)) for row in ROWS[name]()]
            together = limits(name, {place: repeats(one) for place, one, _ in measured}) if QUIET else {}
            for place, one, two in measured:
                told(place, one, two, together.get(place))
        elif name == "processes":
            in_processes()
        else:
            of_duckdb()


if __name__ == "__main__":
    main()
