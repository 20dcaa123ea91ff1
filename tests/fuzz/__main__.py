"""Runs cases of the fuzzer: `python -m tests.fuzz 17` one, `--cases 5000 --seed 1` many, `--simplest` shrinks one."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections import Counter
from typing import Any

from tests.fuzz.case import Case, simpler
from tests.fuzz.drawing import drawn
from tests.fuzz.running import Outcome, run

SPAN = 1_000_000
"""Cases of one seed: case `i` of seed `s` is number `s * SPAN + i`."""
PATIENCE = 180.0
"""Seconds after which a case is taken to hang."""


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
    found = True
    while found:
        found = False
        for other in simpler(case):
            try:
                same = watched(other).broken == broken
            except Exception:  # it is too simple for the fuzzer itself
                continue
            if same:
                case, found = other, True
                break
    return case


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("number", nargs="*", type=int, help="cases to run again")
    parser.add_argument("--cases", type=int, default=1000, help="how many cases of the seed to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simplest", action="store_true", help="shrink the cases that fail")
    chosen = parser.parse_args()
    numbers = chosen.number or range(chosen.seed * SPAN, chosen.seed * SPAN + chosen.cases)
    started, states, kinds = time.perf_counter(), Counter[str](), Counter[str]()
    for number in numbers:
        case: Any = drawn(number)
        outcome = watched(case)
        states[outcome.state] += 1
        if outcome.broken is not None:
            kinds[outcome.broken] += 1
            if chosen.simplest:
                case = simplest(case, outcome.broken)
            print(f"case {number} FAILED: {outcome.broken}\n  {case}", flush=True)
            if not chosen.simplest:
                print(f"  again, and simpler: python -m tests.fuzz {number} --simplest", flush=True)
        elif chosen.number:
            print(f"case {number} {outcome.state}: {case}")
    for kind, count in kinds.most_common():
        print(f"{count:5} × {kind}")
    figures = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    print(f"{states.total()} cases in {time.perf_counter() - started:.0f} s: {figures}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
