"""A minute of the fuzzer: the same cases every time. `make fuzz` runs thousands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fuzz.definitions import DEFINITIONS, OF_SIZES
from tests.fuzz.drawing import algorithms, drawn
from tests.fuzz.running import run

from shoal import registry

CASES, BATCH = 1000, 50

UNREAD = ("m-invariance",)
"""What the fuzzer's reader does not know how to read: its groups show values that nobody has."""


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_no_promise_is_broken(first: int) -> None:
    # The engine that every release is compared with; `make fuzz` tries the others too.
    cases = {number: replace(drawn(number), engine="embedded") for number in range(first, first + BATCH)}
    cases = {number: case for number, case in cases.items() if case.algorithm[0] not in UNREAD}
    outcomes = {number: run(case) for number, case in cases.items()}
    broken = [
        f"python -m tests.fuzz {number}: {outcome.broken}\n  {cases[number]}"
        for number, outcome in outcomes.items()
        if outcome.broken is not None
    ]
    assert not broken, "\n" + "\n".join(broken)
    published = [number for number, outcome in outcomes.items() if outcome.state == "published"]
    assert len(published) > BATCH / 4, "a fuzzer whose cases are refused finds nothing"


def test_every_algorithm_has_its_turn() -> None:
    wanted = {name for name, _ in algorithms()}
    assert {drawn(number).algorithm[0] for number in range(2 * BATCH)} == wanted


def test_a_number_is_always_the_same_case() -> None:
    assert str(drawn(7)) == str(drawn(7)) and drawn(7).columns == drawn(7).columns


def test_every_model_has_its_definition_here() -> None:
    assert {*DEFINITIONS, *OF_SIZES} == set(registry.names("models"))
