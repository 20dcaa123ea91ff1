"""How attributes are put into columns, against the definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms._columns import associations, chosen_columns, mean_square_contingency, medoids


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30))
def test_contingency_by_its_definition(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    table = np.zeros((4, 5))
    np.add.at(table, (left, right), 1 / len(pairs))
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    least = min(table.shape) - 1
    phi = float(((table - expected) ** 2 / expected).sum()) / least if least else 0.0
    assert mean_square_contingency(left, right, np.ones(len(pairs), np.int64)) == pytest.approx(phi, abs=1e-12)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7))
def test_no_swap_of_a_medoid_is_better(seed: int, things: int, count: int) -> None:
    distances = np.random.default_rng(seed).random((things, things)).round(1)
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    owners = medoids(distances, count)
    chosen = sorted(set(owners.tolist()))
    assert len(chosen) == min(count, things) and all(owners[each] == each for each in chosen)

    def cost(some: list[int]) -> float:
        return float(distances[:, some].min(axis=1).sum())

    assert distances[np.arange(things), owners].sum() == pytest.approx(cost(chosen))
    others = [
        sorted(some)
        for some in combinations(range(things), len(chosen))
        if len(set(some) & set(chosen)) == len(chosen) - 1
    ]
    assert all(cost(some) >= cost(chosen) - 1e-9 for some in others)


def test_numbers_are_binned_first() -> None:
    """Unbinned, a number that nobody shares determines everything."""
    generator = np.random.default_rng(1)
    table = pl.DataFrame(
        {"pay": generator.random(500), "sex": generator.choice(["f", "m"], 500), "ill": ["a", "b"] * 250}
    )
    data = shoal.read(table, quasi=["pay", "sex"], sensitive=["ill"])
    assert associations(data, 1000)[1][0, 2] == pytest.approx(1)
    assert associations(data, 5)[1][0, 2] < 0.1


@pytest.mark.parametrize("number", [1, 2, 3, 9])
@pytest.mark.parametrize("beside", [0, 1, 9])
def test_every_attribute_stands_in_one_column(number: int, beside: int) -> None:
    quasi = ["age", "sex", "race", "education", "education-num"]
    data = shoal.read(shoal.samples.adult().head(500), quasi=quasi, sensitive=["occupation"])
    columns = chosen_columns(data, number, beside, 10)
    assert sorted(name for column in columns for name in column) == sorted([*quasi, "occupation"])
    assert "occupation" in columns[-1] and len(columns[-1]) <= beside + 1
    assert len(columns) <= max(number, 2)
    if number == 3 and beside == 0:
        assert any({"education", "education-num"} <= set(column) for column in columns)
