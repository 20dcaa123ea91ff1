"""Anatomy by hand: the eight patients of its paper, and the least that has to be left out."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms._eligibility import kept_counts
from shoal.api import publish
from shoal.core.recoding import Plan, Recoding
from shoal.errors import InfeasibleError

DISEASES = ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"]
PATIENTS = pl.DataFrame(
    {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMFFFF"),
        "zip": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
        "row": range(8),
        "disease": DISEASES,
    }
)


def read(table: pl.DataFrame) -> shoal.Dataset:
    quasi = [name for name in ("age", "sex", "zip") if name in table.columns]
    return shoal.read(table, quasi=quasi, sensitive=["disease"])


def reconstruction_error(release: shoal.Release, table: pl.DataFrame) -> Fraction:
    """Σ over people of the squared distance between what is true and what the person's group says."""
    shares: dict[int, dict[str, Fraction]] = {}
    sizes = dict(release.frame.group_by("group").len().rows())
    for group, disease, times in release.frames["sensitive"].rows():
        shares.setdefault(group, {})[disease] = Fraction(times, sizes[group])
    truth = dict(table.select("row", "disease").rows())
    total = Fraction(0)
    for row, group in release.frame.select("row", "group").rows():
        own = shares[group].get(truth[row], Fraction(0))
        others = [share for disease, share in shares[group].items() if disease != truth[row]]
        total += (1 - own) ** 2 + sum(share**2 for share in others)
    return total


def test_the_papers_groups_of_the_eight_patients() -> None:
    data = read(PATIENTS)
    # By quasi-identifiers the sixth and the seventh patient are one tuple, so the plan goes by record: both are in the
    # second group anyway.
    plan = Plan(
        data.summary.keys, np.repeat([0, 1], 4).astype(np.int32), np.zeros(8, np.bool_), np.zeros((0, 2), np.int32), (),
        True,
    )  # fmt: skip
    release = publish(data, Recoding(plan, form="two-table"))
    assert reconstruction_error(release, PATIENTS) == Fraction(9, 2)
    counted = {(group, disease): count for group, disease, count in release.frames["sensitive"].rows()}
    assert counted == {
        (0, "pneumonia"): 2, (0, "dyspepsia"): 2, (1, "flu"): 2, (1, "gastritis"): 1, (1, "bronchitis"): 1,
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_two_different_values_reach_the_least_error(seed: int) -> None:
    release = shoal.anonymize(read(PATIENTS), shoal.FrequencyLDiversity(l=2), algorithm="anatomy", seed=seed)
    assert reconstruction_error(release, PATIENTS) == 8 * (1 - Fraction(1, 2))


@pytest.mark.parametrize(("l", "left_out"), [(2, 4), (3, 7), (4, None)])
def test_seven_two_and_one(l: int, left_out: int | None) -> None:  # noqa: E741
    table = pl.DataFrame({"age": range(10), "disease": ["flu"] * 7 + ["hiv"] * 2 + ["cold"]})
    if left_out is None:
        with pytest.raises(InfeasibleError, match="different sensitive values"):
            shoal.anonymize(read(table), shoal.FrequencyLDiversity(l=l), algorithm="anatomy", suppression=1.0)
        return
    made = [shoal.FrequencyLDiversity(l=l)]
    release = shoal.anonymize(read(table), *made, algorithm="anatomy", suppression=left_out / 10)
    assert release.suppressed == left_out
    with pytest.raises(InfeasibleError, match=str(left_out)):
        shoal.anonymize(read(table), *made, algorithm="anatomy", suppression=(left_out - 1) / 10)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(1, 5))
@settings(max_examples=count(42, 150), deadline=None)
def test_no_more_records_can_be_kept(counts: list[int], l: int) -> None:  # noqa: E741
    """Against every way to cut the counts."""
    kept = kept_counts(np.array(counts), l)
    assert (kept <= counts).all() and l * kept.max() <= kept.sum()
    ways = product(*(range(count + 1) for count in counts))
    assert kept.sum() == max(sum(way) for way in ways if l * max(way) <= sum(way))


@given(st.lists(st.integers(0, 4), min_size=4, max_size=40), st.integers(2, 4), st.integers(0, 99))
@settings(max_examples=count(17, 60), deadline=None)
def test_every_group_has_l_or_more_different_values(codes: list[int], l: int, seed: int) -> None:  # noqa: E741
    table = pl.DataFrame({"age": range(len(codes)), "disease": [f"d{code}" for code in codes]})
    try:
        release = shoal.anonymize(
            read(table), shoal.FrequencyLDiversity(l=l), algorithm="anatomy", suppression=1.0, seed=seed
        )
    except InfeasibleError:
        assert len(set(codes)) < l
        return
    second = release.frames["sensitive"]
    assert second["count"].unique().to_list() == [1]
    assert second.group_by("group").len()["len"].min() >= l


def test_a_model_that_its_groups_break_is_refused_with_figures() -> None:
    """Groups of two different values say more about a rare one than t-closeness allows."""
    table = pl.DataFrame({"age": range(20, 30), "disease": ["flu"] * 4 + ["cold"] * 4 + ["hiv"] * 2})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    models = (shoal.FrequencyLDiversity(l=2), shoal.TCloseness(t=0.01))
    with pytest.raises(InfeasibleError, match=r"5 of 5 groups") as caught:
        shoal.anonymize(data, *models, algorithm="anatomy", seed=1)
    assert caught.value.attempt == {"least": 2, "groups": 5, "broken": 5}
