"""A minute of the fuzzer: cases of one seed, the same ones every time. `make fuzz` runs thousands."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.fuzz.definitions import DEFINITIONS, OF_SIZES
from tests.fuzz.drawing import algorithms, drawn
from tests.fuzz.running import Outcome, run

from shoal import registry

CASES, BATCH = 240, 20


@pytest.fixture(scope="module")
def outcomes() -> dict[int, Outcome]:
    """How the cases that ran ended."""
    return {}


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_no_promise_is_broken(first: int, outcomes: dict[int, Outcome]) -> None:
    broken = []
    for number in range(first, first + BATCH):
        case = drawn(number)
        outcomes[number] = outcome = run(case)
        if outcome.broken is not None:
            broken.append(f"python -m tests.fuzz {number}: {outcome.broken}\n  {case}")
    assert not broken, "\n" + "\n".join(broken)


def test_most_cases_publish_something(outcomes: dict[int, Outcome]) -> None:
    """A fuzzer whose cases are all refused would find nothing."""
    if len(outcomes) < CASES:
        pytest.skip("only some of the cases ran in this process")
    published = Counter(
        drawn(number).algorithm[0] for number, outcome in outcomes.items() if outcome.state == "published"
    )
    assert published.total() > CASES / 2
    assert set(published) == {name for name, _ in algorithms()}


def test_every_model_has_its_definition_here() -> None:
    assert {*DEFINITIONS, *OF_SIZES} == set(registry.names("models"))
