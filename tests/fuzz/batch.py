"""Many cases of the fuzzer, by several processes; those that fail are made simpler."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import typer.main
from tests.fuzz.case import Case, simpler
from tests.fuzz.coverage import counted, table
from tests.fuzz.drawing import drawn
from tests.fuzz.running import MEMORY, Outcome, run

SPAN = 1_000_000
"""Cases of one seed: case `i` of seed `s` is number `s * SPAN + i`."""
PATIENCE = 300.0
"""Seconds after which a case is taken to hang."""
SHRUNK = 3
"""Cases that break the same promise and are shrunk; those after them are only listed."""
STEPS = 400
"""Simpler cases that are tried at most."""
CHUNK = 50

Report = tuple[int, Outcome, Counter[tuple[str, str]]]


def watched(case: Case) -> Outcome:
    """Runs a case; one that hangs ends the process and says which it is."""

    def give_up() -> None:
        print(f"case {case.number} HANGS: {case}", flush=True)
        os._exit(1)

    timer = threading.Timer(PATIENCE, give_up)
    timer.daemon = True
    timer.start()
    try:
        return run(case)
    finally:
        timer.cancel()


def simplest(case: Case, broken: str) -> Case:
    """A case that breaks the same promise, and none of the simpler ones next to it does."""
    tried, progress = 0, True
    while progress and tried < STEPS:
        progress = False
        for other in simpler(case):
            tried += 1
            try:
                same = watched(other).broken == broken
            except Exception:  # it is too simple for the fuzzer itself
                continue
            if same:
                case, progress = other, True
                break
            if tried >= STEPS:
                break
    return case


def case_of(number: int, engine: str | None) -> Case:
    case = drawn(number)
    return case if engine is None else replace(case, engine=engine, repeated=not case.steps, command=False)


def begin(engine: str | None) -> None:
    """Starts what an engine needs, before a case has to wait for it: a session of Spark on this machine."""
    if engine == "spark":
        sys.path.insert(0, str(Path(__file__).parents[1]))
        import cluster
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", cluster.HERE)
        SparkSession.builder.master("local[2]").config(map=cluster.SETTINGS).getOrCreate()


def settle() -> None:
    """Makes a process ready for many small cases: one thread, marks of writes in memory, where bringing them to the
    disk costs nothing, the command built once, and garbage looked for less often."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    if os.access(MEMORY, os.W_OK):
        folder = tempfile.mkdtemp(dir=MEMORY)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["XDG_STATE_HOME"] = folder
    typer.main.get_command = cache(typer.main.get_command)
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def reports(numbers: Iterable[int], engine: str | None) -> list[Report]:
    """How each of some cases ended."""
    found = []
    begin(engine)
    for number in numbers:
        case = case_of(number, engine)
        outcome = watched(case)
        found.append((number, outcome, counted(case, outcome)))
    return found


def all_reports(numbers: list[int], engine: str | None, processes: int) -> Iterator[Report]:
    """The same by several processes."""
    chunks = [numbers[begin : begin + CHUNK] for begin in range(0, len(numbers), CHUNK)]
    if processes == 1 or len(chunks) == 1:
        settle()
        for number in numbers:
            yield from reports([number], engine)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=settle) as pool:
        for some in pool.map(reports, chunks, [engine] * len(chunks)):
            yield from some


def main(description: str | None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=description)
    parser.add_argument("number", nargs="*", type=int, help="cases to run again")
    parser.add_argument("--cases", type=int, default=1000, help="how many cases of the seed to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="how many processes share them")
    parser.add_argument("--engine", help="run all of them on this engine, beside the default one")
    parser.add_argument("--as-drawn", action="store_true", help="do not shrink the cases that fail")
    chosen = parser.parse_args()
    numbers = chosen.number or list(range(chosen.seed * SPAN, chosen.seed * SPAN + chosen.cases))
    started, kinds, seen = time.perf_counter(), Counter[str](), Counter[tuple[str, str]]()
    try:
        for number, outcome, drawn_by_it in all_reports(numbers, chosen.engine, chosen.processes):
            seen += drawn_by_it
            if outcome.broken is not None:
                kinds[outcome.broken] += 1
                told(
                    number,
                    outcome.broken,
                    chosen.engine,
                    shrink=kinds[outcome.broken] <= SHRUNK * (not chosen.as_drawn),
                )
            elif chosen.number:
                print(f"case {number} {outcome.state}: {case_of(number, chosen.engine)}")
    except BrokenProcessPool:
        print("a process ended before its cases did; the case that hangs is named above")
        return 1
    seconds = time.perf_counter() - started
    print(table(seen))
    for kind, count in kinds.most_common():
        print(f"{count:5} × {kind}")
    print(
        f"{len(numbers):,} cases in {seconds:,.0f} s, {len(numbers) / seconds:.1f} a second: "
        f"{kinds.total():,} broken promises"
    )
    return 1 if kinds else 0


def told(number: int, broken: str, engine: str | None, *, shrink: bool) -> None:
    """Prints a case that failed, as simple as it gets, and the command that runs it again."""
    case = case_of(number, engine)
    print(f"case {number} FAILED: {broken}\n  {case}")
    if shrink:
        print(f"  simplest: {simplest(case, broken)}")
    print(f"  again: python -m tests.fuzz {number}{'' if engine is None else f' --engine {engine}'}", flush=True)
