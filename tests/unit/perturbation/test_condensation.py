"""Condensation: new records have the means and covariances of their groups, and are nobody's."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from counts import count

import shoal
from shoal.core.run import Run
from shoal.errors import InfeasibleError
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
    draws = np.stack([drawn(values, generator) for _ in range(count(1500, 20000))]).reshape(-1, 3)
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
    assert np.isfinite(drawn(table.select("a").to_numpy(), np.random.default_rng(1))).all()


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
