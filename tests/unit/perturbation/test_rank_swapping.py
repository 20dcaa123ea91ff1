"""Rank swapping: how far values move, and what stays."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError, SchemaError
from shoal.perturbation.rank_swapping import swapped

numbers = st.lists(st.one_of(st.integers(0, 12).map(float), st.just(float("nan"))), min_size=1, max_size=40)


@given(numbers, st.integers(0, 10), st.integers(0, 99))
@settings(max_examples=count(56, 200), deadline=None)
def test_no_rank_moves_further_than_it_may(values: list[float], most: int, seed: int) -> None:
    before = np.array(values)
    after = swapped(before, most, np.random.default_rng(seed))
    missing = np.isnan(before)
    assert np.array_equal(np.isnan(after), missing)
    ordered = np.sort(before[~missing])
    assert np.array_equal(np.sort(after[~missing]), ordered)
    # Equal values share their ranks: some way to rank them keeps every move within the bound.
    for old, new in zip(before[~missing], after[~missing], strict=True):
        first, last = np.searchsorted(ordered, old, "left"), np.searchsorted(ordered, old, "right") - 1
        start, stop = np.searchsorted(ordered, new, "left"), np.searchsorted(ordered, new, "right") - 1
        assert max(start - last, first - stop, 0) <= most


@given(st.integers(2, 60), st.integers(1, 10), st.integers(0, 99))
@settings(max_examples=count(17, 60), deadline=None)
def test_different_values_keep_the_bound_exactly_and_move(count: int, most: int, seed: int) -> None:
    before = np.random.default_rng(seed).permutation(count).astype(np.float64)
    after = swapped(before, most, np.random.default_rng(seed))
    moves = np.abs(after - before)  # each value is its own rank
    assert moves.max() <= most
    assert (moves > 0).sum() >= count - most, "only values without a free partner stay"
    assert np.array_equal(after[np.argsort(before)][after[np.argsort(before)].astype(int)], np.arange(count)), "swaps"


def test_the_share_is_of_all_records_rounded_down() -> None:
    data = shoal.read(pl.DataFrame({"age": range(100), "row": range(100)}), quasi=["age"])
    for share, most in ((0.03, 3), (0.039, 3), (0.009, 0)):
        frame = shoal.anonymize(data, algorithm=f"rank-swapping:share={share}", seed=5, allow_plain=["row"]).frame
        assert (frame["age"] - frame["row"]).abs().max() == most


def test_missing_values_and_other_columns_stay() -> None:
    ages = [None if row % 7 == 3 else row for row in range(50)]
    table = pl.DataFrame({"age": ages, "weight": [float(row) for row in range(50)], "row": range(50)})
    data = shoal.read(table, quasi=["age", "weight"])
    method = "rank-swapping:share=0.2,columns=age"
    frame = shoal.anonymize(data, algorithm=method, seed=5, allow_plain=["row"]).frame.sort("row")
    assert frame["age"].is_null().to_list() == table["age"].is_null().to_list()
    assert frame["weight"].equals(table["weight"])
    assert not frame["age"].equals(table["age"]) and frame["age"].dtype == table["age"].dtype


def test_columns_that_have_no_ranks_are_refused() -> None:
    data = shoal.read(pl.DataFrame({"sex": ["f", "m"]}), quasi=["sex"])
    with pytest.raises(SchemaError, match="no quasi-identifier is numeric"):
        shoal.anonymize(data, algorithm="rank-swapping")
    with pytest.raises(ParameterError, match="'sex' is not numeric"):
        shoal.anonymize(data, algorithm="rank-swapping:columns=sex")
    with pytest.raises(SchemaError, match="no column named 'age'"):
        shoal.anonymize(data, algorithm="rank-swapping:columns=age")
