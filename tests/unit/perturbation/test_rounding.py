"""Rounding: multiples of the base, near, and unbiased where it is random."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError, SchemaError
from shoal.perturbation.rounding import rounded

BASES = st.sampled_from([0.01, 0.1, 0.5, 3.0, 5.0, 10.0, 1000.0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), BASES, st.integers(0, 9))
@settings(max_examples=count(42, 300), deadline=None)
def test_values_become_multiples_nearby(values: list[float], base: float, seed: int) -> None:
    before = np.array(values)
    for generator, most in ((None, 0.5), (np.random.default_rng(seed), 1.0)):
        after = rounded(before, base, generator)
        assert np.abs(after / base - np.rint(after / base)).max() < 1e-6
        assert np.abs(after - before).max() <= most * base * (1 + 1e-9) + 1e-9
        assert np.array_equal(rounded(after, base, generator), after), "a multiple stays"


def test_random_rounding_keeps_values_on_average() -> None:
    after = rounded(np.full(20_000, 13.0), 5, np.random.default_rng(1))
    assert set(after) == {10.0, 15.0} and after.mean() == pytest.approx(13, abs=0.06)


def test_columns_have_bases_of_their_own() -> None:
    table = pl.DataFrame({"age": [21, 24, None], "wage": [1234, 1250, 1350]})
    data = shoal.read(table, quasi=["age", "wage"])
    frame = shoal.anonymize(data, algorithm="rounding:base=5,bases=wage=100").frame
    assert sorted(frame.rows(), key=str) == [(20, 1200), (25, 1200), (None, 1400)]
    with pytest.raises(ParameterError, match="a base must be above 0"):
        shoal.anonymize(data, algorithm="rounding:bases=wage=0")
    with pytest.raises(SchemaError, match="size"):
        shoal.anonymize(data, algorithm="rounding:bases=size=5")


def test_an_attacker_knows_how_far_values_move() -> None:
    data = shoal.read(pl.DataFrame({"a": [0.0, 1, 2, 10, 11, 12]}), quasi=["a"])
    found = shoal.attack(data, shoal.anonymize(data, algorithm="rounding:base=10"), "assignment-linkage")[0]
    assert found.success == pytest.approx(1 / 3)
