"""Attacks that are made together share what they make of the attacker's tables; each still says what it says alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.adversary.fitting import pairs

NAMES = ("background-knowledge", "homogeneity", "journalist", "linkage", "marketer", "membership")


@pytest.fixture(scope="module")
def data() -> shoal.Dataset:
    return shoal.read(_table(60, 1), quasi=["age", "sex"], sensitive=["disease"])


@pytest.fixture(scope="module")
def release(data: shoal.Dataset) -> shoal.Release:
    return shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=2**70)


def _table(rows: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    ages, diseases = draw.integers(20, 60, rows), draw.choice(["flu", "hiv", "cold"], rows)
    return pl.DataFrame({"age": ages, "sex": draw.choice(["f", "m"], rows), "disease": diseases})


def test_together_they_say_what_each_says_alone(data: shoal.Dataset, release: shoal.Release) -> None:
    tables = {
        "external": shoal.read(_table(200, 2).drop("disease"), quasi=["age", "sex"]),
        "held_out": shoal.read(_table(50, 3), quasi=["age", "sex"], sensitive=["disease"]),
    }
    together = shoal.attack(data, release, *NAMES, **tables)
    for name, attempt in zip(NAMES, together, strict=True):
        assert shoal.attack(data, release, name, **tables)[0].as_dict() == attempt.as_dict(), name
    other = shoal.attack(data, release, "linkage", external=tables["held_out"])[0]
    assert other.as_dict() != together[NAMES.index("linkage")].as_dict()


def test_candidates_are_those_of_the_people_who_are_asked_about(release: shoal.Release) -> None:
    """More tables of people than are remembered, in turns."""
    cells, draw = release.view.cells(), np.random.default_rng(4)
    tables = [np.stack([draw.integers(0, 30, 9), draw.integers(0, 2, 9)]).astype(np.int32) for _ in range(4)]
    for people in (*tables, *tables[::-1], tables[0]):
        candidates = release.view.candidates(people)
        fits = [classes.tolist() for _, classes in pairs(cells.low, cells.high, people)]
        assert candidates.classes.tolist() == [each for block in fits for each in block]
    assert release.view.candidates(tables[0]) is candidates
