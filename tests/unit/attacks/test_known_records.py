"""Known records: people who are found by the distances between them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks import known_records
from shoal.attacks.known_records import EXACT, located
from shoal.core.run import Run
from shoal.errors import CancelledError


def _one_by_one(people: np.ndarray, records: np.ndarray) -> list[int] | None:
    """The first records, in their order, that are as far apart as people are; each way is tried to its end."""

    def apart(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.linalg.norm(one - other))

    def longer(way: list[int]) -> list[int] | None:
        if len(way) == len(people):
            return way
        for record in range(len(records)):
            wanted = [abs(apart(records[record], records[at]) - apart(people[len(way)], people[place])) <= EXACT
                      for place, at in enumerate(way)]  # fmt: skip
            if record not in way and all(wanted) and (found := longer([*way, record])) is not None:
                return found
        return None

    return next((way for first in range(len(records)) if (way := longer([first])) is not None), None)


def test_the_records_are_those_that_a_search_one_by_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers, of which many are equally far apart, and numbers of which none are; several blocks of records."""
    monkeypatch.setattr(known_records, "PAIRS", 40)
    draw, lengths = np.random.default_rng(4), []
    for case in range(24):
        records = draw.normal(size=(12, 2)) if case % 3 else draw.integers(0, 4, size=(12, 2)).astype(float)
        people = records[draw.permutation(12)[:3]] @ np.array([[0.6, 0.8], [-0.8, 0.6]]) + 1.0
        if case % 4 == 3:
            people = people + draw.normal(size=people.shape)
        found, wanted = located(people, records, Run()), _one_by_one(people, records)
        assert (None if found is None else found.tolist()) == wanted
        lengths.append(0 if wanted is None else len(wanted))
    assert {0, 3} == set(lengths)


def test_it_stops_when_it_is_told_to() -> None:
    shares: list[float] = []

    def listen(share: float, doing: str) -> None:
        shares.append(share)
        if len(shares) == 3:
            run.cancel()

    run = Run(listen)
    draw = np.random.default_rng(5)
    with pytest.raises(CancelledError):
        located(draw.normal(size=(4, 3)), draw.normal(size=(2000, 3)), run)
    assert len(shares) == 3 and shares[0] == 0.0 < shares[-1] < 0.1
