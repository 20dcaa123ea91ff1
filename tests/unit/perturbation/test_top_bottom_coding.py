"""Top and bottom coding: the mean of a column stays, and tails have enough people."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError, ParameterError, SchemaError

numbers = st.lists(st.one_of(st.integers(-50, 50), st.none()), min_size=8, max_size=40)


def coded(values: list[float | None], **more: object) -> pl.Series:
    table = pl.DataFrame({"a": pl.Series(values, dtype=pl.Float64)}).with_row_index("row")
    data = shoal.read(table, quasi=["a"])
    method = shoal.perturbation.TopBottomCoding(**more)
    return shoal.anonymize(data, algorithm=method, allow_plain=["row"]).frame.sort("row")["a"]


@given(numbers, st.integers(2, 4), st.sampled_from(["1%", "10%", "30%"]), st.booleans())
@settings(max_examples=count(12, 150), deadline=None)
def test_the_mean_stays_and_each_tail_has_k_people(values: list[int | None], k: int, share: str, both: bool) -> None:
    more = {"top": (f"a={share}",), "bottom": (f"a={share}",) if both else (), "k": k}
    try:
        after = coded(values, **more)
    except (InfeasibleError, ParameterError) as error:
        assert "fewer than k" in str(error) or "overlap" in str(error)
        return
    except SchemaError:
        assert all(value is None for value in values)
        return
    before = pl.Series("a", values, dtype=pl.Float64)
    assert after.is_null().equals(before.is_null())
    assert after.mean() == pytest.approx(before.mean(), rel=1e-12, abs=1e-12)
    present = before.drop_nulls().sort(descending=True)
    bound = present[max(int(np.ceil(len(present) * float(share[:-1]) / 100)), k) - 1]
    tail = before >= bound
    assert after.filter(tail).n_unique() == 1 and tail.sum() >= k
    if not both:
        assert after.filter(~tail).equals(before.filter(~tail))


def test_a_tail_begins_at_a_value() -> None:
    assert coded([1, 2, 3, 85, 90, 95], top=("a=85",), k=3).to_list() == [1, 2, 3, 90, 90, 90]
    assert coded([1, 2, 3, 85, 90, 95], bottom=("a=2",), k=2).to_list() == [1.5, 1.5, 3, 85, 90, 95]
    with pytest.raises(InfeasibleError, match="1 people are in the top tail, fewer than k = 3"):
        coded([1, 2, 3, 4, 5, 99], top=("a=50",))


def test_people_count_not_records() -> None:
    table = pl.DataFrame({"who": [1, 1, 1, 2, 3, 4], "a": [99, 98, 97, 50, 40, 30]})
    data = shoal.read(table, quasi=["a"], person="who")
    with pytest.raises(InfeasibleError, match="1 people are in the top tail"):
        shoal.anonymize(data, algorithm="top-bottom-coding:top=a=90")
    after = shoal.anonymize(data, algorithm="top-bottom-coding:top=a=1%").frame["a"]
    assert after.sort().to_list() == [30.0] + [76.8] * 5


@pytest.mark.parametrize(
    ("more", "says"),
    [({"top": ("a",)}, "top: write COLUMN=VALUE"), ({"top": ("a=x",)}, "top: what stands after the = must be a number"),
     ({"bottom": ("a=0%",)}, "bottom: a share must be above 0%"), ({"top": ("a=1", "a=2")}, "named twice"),
     ({"top": ("a=60%",), "bottom": ("a=60%",)}, "'a': the two tails overlap")],
)  # fmt: skip
def test_wrong_tails_are_explained(more: dict[str, tuple[str, ...]], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        coded(list(range(10)), **more)


def test_an_attacker_knows_which_tail_a_record_is_in() -> None:
    table = pl.DataFrame({"a": [1.0, 2, 3, 70, 80, 90]})
    data = shoal.read(table, quasi=["a"])
    release = shoal.anonymize(data, algorithm="top-bottom-coding:top=a=70")
    found = shoal.attack(data, release, "assignment-linkage")[0]
    assert found.success == pytest.approx((3 + 3 * (1 / 3)) / 6)


def test_weighted_means_stay() -> None:
    table = pl.DataFrame({"a": [1.0, 2, 3, 70, 80, 90], "w": [10.0, 20, 10, 5, 1, 4], "row": range(6)})
    data = shoal.read(table, quasi=["a"], weight="w")
    method = "top-bottom-coding:top=a=70"
    after = shoal.anonymize(data, algorithm=method, allow_plain=["row"]).frame.sort("row")["a"]
    assert after.to_list() == [1, 2, 3, 79, 79, 79]
    alike = shoal.read(table.with_columns(w=1.0), quasi=["a"], weight="w")
    assert sorted(shoal.anonymize(alike, algorithm=method, allow_plain=["row"]).frame["a"]) == [1, 2, 3, 80, 80, 80]
