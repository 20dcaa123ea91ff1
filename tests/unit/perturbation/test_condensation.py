"""Condensation: new records have the means and covariances of their groups, and are nobody's."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count

import shoal
from shoal.core.run import Run
from shoal.errors import InfeasibleError
from shoal.kernels.nearest import nearest_groups
from shoal.perturbation.condensation import Condensation, drawn


def test_draws_have_the_moments_of_the_group() -> None:
    """Means and covariances on average, within four standard errors of so many draws; the axes are uniform, so no
    draw is farther from the mean along one than √3 deviations."""
    generator = np.random.default_rng(1)
    values = generator.normal(size=(6, 3)) @ np.array([[1.0, 5.0, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 30.0]]) + [
        5,
        -2,
        100,
    ]
    groups = np.stack([values] * count(1500, 20000))
    draws = drawn(groups, generator.uniform(-np.sqrt(3), np.sqrt(3), groups.shape)).reshape(-1, 3)
    error = 4 / np.sqrt(len(draws))
    assert np.abs(draws.mean(axis=0) - values.mean(axis=0)) == pytest.approx(0, abs=error * values.std(axis=0).max())
    true, found = np.cov(values.T, bias=True), np.cov(draws.T, bias=True)
    sizes = np.sqrt(np.outer(np.diag(true), np.diag(true)))
    assert np.abs((found - true) / sizes).max() < error
    scale = np.abs(values).max(axis=0)
    variances, axes = np.linalg.eigh(np.cov((values / scale).T, bias=True))
    along = (draws - values.mean(axis=0)) / scale @ axes / np.sqrt(variances)
    assert 1.7 < np.abs(along).max() <= np.sqrt(3) + 1e-9


def test_every_group_is_a_record_and_those_nearest_to_it() -> None:
    """Whichever records begin groups, one group of each has nobody left outside who was nearer when it was made."""
    points = np.random.default_rng(2).normal(size=(23, 2))
    owners = Condensation(k=5).grouped(points, np.random.default_rng(3), Run())
    sizes = np.bincount(owners)
    assert len(sizes) == 4 and sizes.min() >= 5 and sizes.sum() == 23
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    inside = owners == 0  # nobody was in a group before it
    others = apart[~inside][:, inside].min(axis=0)
    fifth = np.sort(apart[inside][:, inside], axis=1)[:, 4]
    assert (fifth <= others + 1e-12).any()


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 19, 128, 129, 300])
@pytest.mark.parametrize("decimals", [0, 9])
def test_groups_are_those_of_numpy_to_the_last_bit(columns: int, decimals: int) -> None:
    """Also where many are equally near, and where numpy sums in lanes and by halves."""
    points = np.random.default_rng(columns).normal(size=(61, columns)).round(decimals)
    left, owners, group = np.random.default_rng(3).permutation(61), np.full(61, -1), 0
    found, flag = owners.copy(), np.zeros(1, np.uint8)
    nearest_groups(points, left.copy(), 7, found, flag)
    while len(left) >= 7:
        near = np.argsort(((points[left] - points[left[0]]) ** 2).sum(axis=1), kind="stable")[:7]
        owners[left[near]], group, left = group, group + 1, np.delete(left, near)
    assert found.tolist() == owners.tolist()


def test_records_are_those_drawn_group_by_group() -> None:
    """Groups of several sizes, some of which lack a value: to the last bit what each gives on its own."""
    draw = np.random.default_rng(5)
    values = draw.normal(size=(400, 3)) * [1, 100, 1e6]
    values[draw.random(400) < 0.3, 1] = np.nan
    values[:40, 2], values[7] = np.nan, np.nan
    data = shoal.read(pl.DataFrame(values, schema=list("abc")).fill_nan(None), quasi=list("abc"))
    made, condensation = Condensation(k=6), np.random.default_rng(8)
    found, facts = made.perturbed(data, values, ("a", "b", "c"), 8, Run())
    one = np.zeros(400, np.int64)
    owners = made.groups(values, one, np.arange(400), list("abc"), condensation, Run())
    expected = values.copy()
    for group in range(facts["groups"]):
        members = np.flatnonzero(owners == group)
        cells = np.ix_(members, np.flatnonzero(~np.isnan(values[members[0]])))
        scale = np.abs(values[cells]).max(axis=0)
        means = (values[cells] / scale).mean(axis=0)
        apart = values[cells] / scale - means
        variances, axes = np.linalg.eigh(apart.T @ apart / len(members))
        steps = condensation.uniform(-np.sqrt(3), np.sqrt(3), apart.shape) * np.sqrt(np.maximum(variances, 0))
        expected[cells] = (means + steps @ axes.T) * scale
    assert len(set(np.bincount(owners[owners >= 0]))) > 1 and np.array_equal(found, expected, equal_nan=True)


def test_means_and_covariances_of_the_table_and_of_each_stratum() -> None:
    generator = np.random.default_rng(4)
    sex = generator.choice(list("fm"), 3000)
    values = generator.normal(size=(3000, 2)) @ np.array([[2.0, 1.5], [0.0, 1.0]]) + (sex == "f")[:, None] * [5.0, -3.0]
    table = pl.DataFrame({"sex": sex, "a": values[:, 0], "b": values[:, 1]})
    data = shoal.read(table, quasi=["sex", "a", "b"])
    release = shoal.anonymize(data, algorithm="condensation:k=20,strata=sex")
    assert release.recoding.facts["groups"] <= 150 and not release.claims
    for name in "fm":
        old, new = (each.filter(pl.col("sex") == name).select("a", "b").to_numpy() for each in (table, release.frame))
        assert new.mean(axis=0) == pytest.approx(old.mean(axis=0), abs=0.06)
        assert np.cov(new.T) == pytest.approx(np.cov(old.T), rel=0.1)
    assert not set(table["a"]) & set(release.frame["a"])


def test_people_count_not_records_and_small_strata_are_refused() -> None:
    table = pl.DataFrame({"who": [1, 1, 1, 1, 2, 3, 4, 5], "a": [1.0, 2, 3, 4, 50, 59, 70, 80], "row": range(8)})
    data = shoal.read(table, quasi=["a"], person="who")
    release = shoal.anonymize(data, algorithm="condensation:k=2", allow_plain=["row"])
    assert release.recoding.facts["groups"] <= 2, "four records of one person are one person"
    with pytest.raises(InfeasibleError, match="fewer than k = 6 people"):
        shoal.anonymize(data, algorithm="condensation:k=6")


def test_what_is_missing_stays_missing_and_huge_numbers_do_no_harm() -> None:
    table = pl.DataFrame({"a": [1e200, 2e200, 3e200, 4e200] * 5, "b": [1.0, None, 3.0, None] * 5, "row": range(20)})
    after = shoal.anonymize(
        shoal.read(table.with_columns(pl.col("a") / 1e190), quasi=["a", "b"]), algorithm="condensation:k=3",
        allow_plain=["row"],
    ).frame.sort("row")  # fmt: skip
    assert after["b"].is_null().equals(table["b"].is_null()) and after["a"].is_finite().all()
    assert np.isfinite(drawn(table.select("a").to_numpy()[None], np.ones((1, 20, 1)))).all()


def test_a_group_whose_records_are_alike_shows_them() -> None:
    """What the page says that it does not protect: nothing is drawn around records that do not vary."""
    table = pl.DataFrame({"a": [7.0] * 5 + [9.0] * 5, "b": [1.0] * 10})
    release = shoal.anonymize(shoal.read(table, quasi=["a", "b"]), algorithm="condensation:k=5")
    assert sorted(release.frame["a"].round(9)) == sorted(table["a"])


def test_linkage_falls_with_k() -> None:
    data = shoal.read(shoal.samples.heart_statlog(), quasi=["age", "resting-blood-pressure", "cholesterol"])
    linked = [
        shoal.attack(data, shoal.anonymize(data, algorithm=f"condensation:k={k}"), "distance-linkage")[0].success
        for k in (2, 30)
    ]
    assert linked[0] > 0.2 and linked[1] < 0.1
