"""Families that are fitted to columns at the edge: all values the same, and values whose squares are infinite."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.perturbation.distortion import fitted

FAMILIES = ["best", "normal", "uniform", "empirical", "lognormal"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("error")
def test_values_that_are_all_the_same_stay_so(family: str) -> None:
    drawn = fitted(np.full(20, 0.1), family).draw(np.random.default_rng(0), 5)
    assert drawn == pytest.approx([0.1] * 5)


@pytest.mark.filterwarnings("error")
def test_huge_values_are_fitted_as_small_ones_are() -> None:
    values = np.sort(np.random.default_rng(1).normal(10.0, 1.0, 200))
    scale = 2.0**600
    for family in ("best", "normal", "uniform"):
        small, huge = (fitted(each, family).draw(np.random.default_rng(2), 9) for each in (values, values * scale))
        assert np.array_equal(small * scale, huge)


def taxes() -> np.ndarray:
    """Fifty people near 0: a normal distribution fits them best, and a sixth of it is below 0."""
    return np.sort(np.abs(np.random.default_rng(4).normal(3.0, 3.0, 50)).round(2))


@pytest.mark.parametrize("family", ["best", "normal"])
def test_a_column_without_negative_values_gets_none_unless_that_is_allowed(family: str) -> None:
    values = taxes()
    fit = fitted(values, family)
    assert fit.draw(np.random.default_rng(1), 5000).min() >= 0
    assert fitted(values, "normal", negative=True).draw(np.random.default_rng(1), 5000).min() < 0
    # A column that has some is what it is.
    assert fitted(values - 5, "normal").draw(np.random.default_rng(1), 5000).min() < -5


def test_a_normal_distribution_without_what_is_below_zero_is_that_of_scipy() -> None:
    from scipy.stats import kstest, truncnorm

    values = taxes()
    fit, mean, deviation = fitted(values, "normal"), values.mean(), values.std()
    other = truncnorm(-mean / deviation, np.inf, mean, deviation)
    assert fit.share(values) == pytest.approx(other.cdf(values))
    assert kstest(fit.draw(np.random.default_rng(2), 4000), other.cdf).pvalue > 0.001


def test_the_family_and_its_distance_are_told() -> None:
    """As a figure and as a sentence; a family that does not fit shows it."""
    table = pl.DataFrame({"age": range(20, 60), "gain": [0] * 36 + [10, 20, 5000, 99999]})
    data = shoal.read(table, quasi=["age", "gain"], kinds={"gain": "numeric"})
    release = shoal.anonymize(data, algorithm="distortion")
    assert min(release.frame["gain"]) >= 0
    told = release.recoding.facts["fitted"]
    assert told["age"]["family"] == "uniform" and told["age"]["distance"] < 0.03
    assert told["gain"]["distance"] > 0.5
    (note,) = [note for note in release.notes if "distribution" in note]
    assert "age: uniform" in note and f"{told['gain']['distance']:.0%}" in note.replace(" %", "%")
