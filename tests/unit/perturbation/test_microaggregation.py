"""Microaggregation: groups of enough people in their strata, with means that stay."""

from __future__ import annotations

import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError
from shoal.perturbation import _groups

rows = st.lists(st.tuples(st.sampled_from("fm"), st.integers(0, 20), st.integers(0, 20)), min_size=6, max_size=40)


@given(rows, st.integers(2, 4), st.booleans())
@settings(max_examples=count(12, 150), deadline=None)
def test_means_stay_by_stratum_and_values_stand_for_k(entries: list[tuple[str, int, int]], k: int, each: bool) -> None:
    table = pl.DataFrame(entries, schema=["sex", "a", "b"], orient="row").with_row_index("row")
    data = shoal.read(table, quasi=["sex", "a", "b"])
    method = shoal.perturbation.Microaggregation(k=k, strata=("sex",), separately=each)
    if table.group_by("sex").len()["len"].min() < k:
        with pytest.raises(InfeasibleError, match=f"fewer than k = {k} people"):
            shoal.anonymize(data, algorithm=method)
        return
    after = shoal.anonymize(data, algorithm=method, allow_plain=["row"]).frame.sort("row")
    for _, part in after.group_by("sex"):
        true = table.filter(pl.col("row").is_in(part["row"].implode()))
        for name in "ab":
            assert part[name].mean() == pytest.approx(true[name].mean(), rel=1e-9)
        for names in (["a"], ["b"]) if each else (["a", "b"],):
            rounded = part.with_columns(pl.col("a", "b").cast(pl.Float64).round(6))
            assert rounded.group_by(names).len()["len"].min() >= k


def test_people_count_not_records() -> None:
    table = pl.DataFrame({"who": [1, 1, 1, 2, 3, 4, 5], "a": [1, 2, 3, 50, 59, 70, 80]})
    data = shoal.read(table, quasi=["a"], person="who")
    after = shoal.anonymize(data, algorithm="microaggregation:k=2").frame["a"]
    assert sorted(after) == [23, 23, 23, 23, 23, 75, 75]
    with pytest.raises(InfeasibleError, match=r"1 strata have fewer than k = 6 people .* 5 people"):
        shoal.anonymize(data, algorithm="microaggregation:k=6")


def test_what_is_missing_stays_and_large_strata_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_groups, "BLOCK", 16)
    table = pl.DataFrame({"a": range(100), "b": [place % 7 for place in range(100)], "row": range(100)})
    table = table.with_columns(b=pl.when(pl.col("row") % 10 == 0).then(None).otherwise("b"))
    data = shoal.read(table, quasi=["a", "b"])
    after = shoal.anonymize(data, algorithm="microaggregation:k=3", allow_plain=["row"]).frame.sort("row")
    assert after["b"].is_null().equals(table["b"].is_null())
    assert after.group_by("a", "b").len()["len"].min() >= 3
    assert after.select(pl.col("a", "b").mean()).row(0) == pytest.approx(table.select(pl.col("a", "b").mean()).row(0))


def test_weighted_means_stay() -> None:
    table = pl.DataFrame({"a": [10, 20, 90, 100], "w": [1, 3, 1, 1], "row": range(4)})
    data = shoal.read(table, quasi=["a"], weight="w")
    after = shoal.anonymize(data, algorithm="microaggregation:k=2", allow_plain=["row"]).frame.sort("row")["a"]
    assert after.to_list() == [17.5, 17.5, 95, 95]
