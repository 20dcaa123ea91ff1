"""Families that are fitted to columns at the edge: all values the same, and values whose squares are infinite."""

import numpy as np
import pytest

from shoal.perturbation.distortion import fitted

FAMILIES = ["best", "normal", "uniform", "empirical", "lognormal"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("error")
def test_values_that_are_all_the_same_stay_so(family: str) -> None:
    drawn = fitted(np.full(20, 0.1), family)(np.random.default_rng(0), 5)
    assert drawn == pytest.approx([0.1] * 5)


@pytest.mark.filterwarnings("error")
def test_huge_values_are_fitted_as_small_ones_are() -> None:
    values = np.sort(np.random.default_rng(1).normal(10.0, 1.0, 200))
    scale = 2.0**600
    for family in ("best", "normal", "uniform"):
        small, huge = (fitted(each, family)(np.random.default_rng(2), 9) for each in (values, values * scale))
        assert np.array_equal(small * scale, huge)
