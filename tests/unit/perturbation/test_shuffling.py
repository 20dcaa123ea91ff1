"""Shuffling: the values stay, their relations nearly, and the tie to the person goes."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError
from shoal.perturbation.shuffling import normal_scores, simulate

cell = st.one_of(st.integers(0, 12), st.none())


@given(st.lists(st.tuples(cell, cell, cell), min_size=2, max_size=30), st.integers(0, 99))
@settings(max_examples=count(12, 100), deadline=None)
def test_every_column_keeps_its_values(rows: list[tuple[int | None, ...]], seed: int) -> None:
    table = pl.DataFrame(rows, schema=dict.fromkeys("abc", pl.Int64), orient="row").with_row_index("row")
    numeric = [name for name in "ab" if table[name].count()]
    if not numeric:
        return
    data = shoal.read(table, quasi=numeric, sensitive=["c"])
    release = shoal.anonymize(data, algorithm="shuffling", seed=seed, allow_plain=["row"])
    after = release.frame.sort("row")
    for name in numeric:
        assert after[name].sort().equals(table[name].sort())
        assert after[name].is_null().equals(table[name].is_null())
    assert after["c"].equals(table["c"])


def test_correlations_stay_and_values_of_a_person_go() -> None:
    generator = np.random.default_rng(1)
    given = generator.normal(size=4000)
    own = generator.normal(size=4000)
    table = pl.DataFrame({"age": given, "wage": np.exp(given + own), "wealth": (own + 0.5 * given) ** 3})
    data = shoal.read(table.with_row_index("row"), quasi=["age"], sensitive=["wage", "wealth"])
    method = "shuffling:columns=wage|wealth,given=age"
    after = shoal.anonymize(data, algorithm=method, seed=2, allow_plain=["row"]).frame.sort("row")

    def ranked(frame: pl.DataFrame, one: str, other: str) -> float:
        return float(frame.select(pl.corr(one, other, method="spearman")).item())

    for one, other in (("age", "wage"), ("age", "wealth"), ("wage", "wealth")):
        assert ranked(after, one, other) == pytest.approx(ranked(table, one, other), abs=0.03)
    # What a wage tells beyond the age was the person's own; of the shuffled wage it is not.
    left = np.log(after["wage"].to_numpy()) - given
    assert abs(np.corrcoef(left, own)[0, 1]) < 0.05


def test_a_column_is_shuffled_or_given() -> None:
    data = shoal.read(pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}), quasi=["a", "b"])
    with pytest.raises(ParameterError, match="'a' is to be shuffled and given"):
        shoal.anonymize(data, algorithm="shuffling:columns=a,given=a")
    with pytest.raises(ParameterError, match="'b' is not numeric"):
        shoal.anonymize(data, algorithm="shuffling:columns=a,given=b")


@pytest.mark.parametrize("seed", range(4))
def test_normal_scores_by_hand(seed: int) -> None:
    """Mean ranks as quantiles, by counting for each value those below and those equal; in the mean they are 0."""
    generator = np.random.default_rng(seed)
    column = generator.integers(0, 6, 40).astype(float)
    column[generator.random(40) < 0.1] = np.nan
    present = column[~np.isnan(column)]
    expected = np.array(
        [
            NormalDist().inv_cdf(((present < each).sum() + (present <= each).sum()) / (2 * len(present)))
            for each in present
        ]
    )
    scores = normal_scores(column[:, None])[:, 0]
    np.testing.assert_allclose(scores[~np.isnan(column)], expected - expected.mean(), atol=1e-12)
    assert not scores[np.isnan(column)].any()


def test_what_is_simulated_has_the_correlations_of_the_scores() -> None:
    generator = np.random.default_rng(5)
    known = generator.standard_normal((60_000, 2))
    hidden = known @ np.array([[0.6, 0.2], [0.1, -0.7]]) + 0.5 * generator.standard_normal((60_000, 2))
    simulated = simulate(hidden, known, generator)
    before = np.corrcoef(np.concatenate([hidden, known], axis=1).T)
    after = np.corrcoef(np.concatenate([simulated, known], axis=1).T)
    np.testing.assert_allclose(after, before, atol=0.02)
    beyond = hidden - known @ np.linalg.lstsq(known, hidden, rcond=None)[0]
    ties = np.corrcoef(np.concatenate([beyond, simulated], axis=1).T)[:2, 2:]
    assert np.abs(ties).max() < 0.02, "a simulated value depends on the true one beyond what is given"
