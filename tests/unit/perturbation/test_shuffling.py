"""Shuffling: the values stay, their relations nearly, and the tie to the person goes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError

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
