"""A few hundred cases of the fuzzer, the same every time. `make fuzz` runs thousands."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from counts import count
from tests.fuzz import pools
from tests.fuzz.coverage import counted, table
from tests.fuzz.definitions import DEFINITIONS, OF_MATCHES, OF_OWNERS, OF_SETS, OF_SIZES
from tests.fuzz.drawing import algorithms, drawn
from tests.fuzz.running import Outcome, run

from shoal import registry

CASES, EVERY, BATCH = count(160, 2000), count(80, 2000), 20
"""Cases that are drawn, how many of the first are all tried, and how many at a time. Of the others those are tried that
bring an algorithm that had no turn yet."""


def used(number: int) -> set[str]:
    """The algorithms of a case."""
    return {step.algorithm[0] for step in drawn(number).steps or (drawn(number),)}


@cache
def tried() -> tuple[int, ...]:
    seen, numbers = set[str](), []
    for number in range(CASES):
        if number < EVERY or not used(number) <= seen:
            numbers.append(number)
            seen |= used(number)
    return tuple(numbers)


@pytest.mark.parametrize("first", range(0, CASES if EVERY == CASES else EVERY + BATCH, BATCH))
def test_no_promise_is_broken(first: int) -> None:
    # The engine that every release is compared with; `make fuzz` tries the others too.
    last = first + BATCH if first < EVERY else None
    cases = {number: replace(drawn(number), engine="embedded") for number in tried()[first:last]}
    outcomes = {number: run(case) for number, case in cases.items()}
    broken = [
        f"python -m tests.fuzz {number}: {outcome.broken}\n  {cases[number]}"
        for number, outcome in outcomes.items()
        if outcome.broken is not None
    ]
    assert not broken, "\n" + "\n".join(broken)
    published = [number for number, outcome in outcomes.items() if outcome.state == "published"]
    assert len(published) >= len(cases) / 4, "a fuzzer whose cases are refused finds nothing"


def test_every_algorithm_has_its_turn() -> None:
    wanted = {name for name, _ in algorithms()}
    assert set().union(*map(used, tried())) == wanted
    assert len(tried()) <= EVERY + BATCH


def test_everything_that_is_drawn_has_its_turn() -> None:
    drawn_of_all = sum((counted(drawn(number), Outcome("")) for number in range(200)), Counter[tuple[str, str]]())
    wanted = {
        ("people", "several records"), ("sensitive columns", "2 strict"), ("ledger", "series"), ("engine", "duckdb"),
        ("front end", "command"), *(("values", name) for name in pools.FAMILIES if name != "nested"),
    }  # fmt: skip
    assert wanted <= set(drawn_of_all)
    shown = table(drawn_of_all)
    assert all(kind in shown and name in shown for kind, name in wanted), "what is counted is shown"


def test_a_number_is_always_the_same_case() -> None:
    assert str(drawn(7)) == str(drawn(7)) and drawn(7).columns == drawn(7).columns


def test_every_model_has_its_definition_here() -> None:
    assert {*DEFINITIONS, *OF_MATCHES, *OF_SETS, *OF_SIZES, *OF_OWNERS} == set(registry.names("models"))
