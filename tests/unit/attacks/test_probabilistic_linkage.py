"""Linkage by weights: a list without errors links as the exact join does, and one with errors still finds people."""

from __future__ import annotations

from functools import cache
from threading import Timer
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
import splink
from counts import LONG

import shoal
from shoal.attacks.probabilistic_linkage import _stopped_by
from shoal.core.run import Run
from shoal.errors import CancelledError, NotDefined, ParameterError

QUASI = ["age", "sex", "zip", "job"]
PEOPLE = 300


def people(count: int = PEOPLE) -> pl.DataFrame:
    generator = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "name": [f"p{number}" for number in range(count)],
            "age": generator.integers(20, 60, count),
            "sex": generator.choice(["f", "m"], count),
            "zip": generator.choice(list("abcdefgh"), count),
            "job": generator.choice(list("uvwxyz"), count),
        }
    )


@cache
def made() -> tuple[shoal.Dataset, shoal.Release]:
    data = shoal.read(people(), quasi=QUASI, identifiers=["name"])
    return data, shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)


def test_entries_that_are_wrong() -> None:
    """Three in ten entries have another zip: the exact join loses most of them, weights find their class again."""
    data, release = made()
    generator = np.random.default_rng(4)
    table = people()
    moved = generator.random(len(table)) < 0.3
    elsewhere = np.where(moved, generator.choice(list("abcdefgh"), len(table)), table["zip"].to_numpy())
    changed = table.with_columns(zip=pl.Series(elsewhere.tolist()))
    register = shoal.read(changed, quasi=QUASI)
    (found,) = shoal.attack(data, release, "probabilistic-linkage:identifier=name", external=register)
    same = (changed["zip"] == table["zip"]).mean()
    right = found.detail["right_class"]
    assert found.detail["in_release"] == found.detail["linked"] == PEOPLE and found.interval is None
    assert right > 0.5 and found.baseline == pytest.approx(1 / PEOPLE)
    assert found.success <= right / 3 + 1e-9, "of a class of three or more, one is picked"
    (exact,) = shoal.attack(data, release, "linkage", external=register)
    assert exact.detail["in_table"] < PEOPLE * (same + 0.1), "those who moved are not found at all"
    if LONG:  # drawing some of them takes as long as all of them
        (some,) = shoal.attack(data, release, "probabilistic-linkage:identifier=name,people=60", external=register)
        low, high = some.interval or (1, 0)
        assert some.detail["linked"] == 60 and low <= some.success <= high


def test_a_list_without_errors() -> None:
    """The classes are boxes side by side: of those that agree with somebody in all columns but one, one agrees in that
    too. Agreeing does not count against the person for that."""
    quasi = ["age", "gender", "education", "marital-status", "race"]
    table = shoal.samples.census(500, seed=3).with_row_index("name")
    data = shoal.read(table, quasi=quasi, hierarchies=shoal.samples.hierarchies("census"))
    release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, "probabilistic-linkage:identifier=name", external=data)
    (exact,) = shoal.attack(data, release, "linkage", external=data)
    assert found.detail["right_class"] == 1.0
    assert found.success == pytest.approx(exact.success) and found.worst == pytest.approx(exact.worst)


def test_what_it_needs() -> None:
    data, release = made()
    with pytest.raises(NotDefined, match="no list of people"):
        shoal.attack(data, release, "probabilistic-linkage:identifier=name")
    with pytest.raises(ParameterError, match="no column 'who'"):
        shoal.attack(data, release, "probabilistic-linkage:identifier=who", external=data)
    ages = shoal.read(people().select("name", "age"), quasi=["age"])
    with pytest.raises(NotDefined, match="shares one column"):
        shoal.attack(data, release, "probabilistic-linkage:identifier=name", external=ages)
    strangers = shoal.read(people().with_columns(name=pl.lit("x") + pl.col("name")), quasi=QUASI)
    with pytest.raises(NotDefined, match="nobody on the list"):
        shoal.attack(data, release, "probabilistic-linkage:identifier=name", external=strangers)


def test_a_cancelled_run_ends_between_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    data, release = made()
    run = Run()

    class Linker(splink.Linker):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            run.cancel()

    monkeypatch.setattr(splink, "Linker", Linker)
    with pytest.raises(CancelledError):
        shoal.attack(data, release, "probabilistic-linkage:identifier=name", external=data, run=run)


def test_a_cancelled_run_ends_in_the_middle_of_a_query() -> None:
    run, connection = Run(), duckdb.connect(":memory:")
    pairs = "SELECT sum(one.range * other.range) FROM range(50_000) AS one, range(50_000) AS other"
    timer = Timer(0.2, run.cancel)
    timer.start()
    with pytest.raises(CancelledError) as ended, _stopped_by(run, connection):
        connection.execute(pairs).fetchall()
    timer.join()
    assert ended.value.__suppress_context__
