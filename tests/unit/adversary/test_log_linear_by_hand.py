"""The log-linear fit and its risk, against the definitions: margins, no three-way interaction, a Poisson mean."""

from __future__ import annotations

from itertools import combinations, product
from math import exp, factorial

import numpy as np
import pytest

from shoal.adversary.log_linear import cell_means, risk_of_uniques
from shoal.core.run import Run


@pytest.mark.parametrize("seed", range(5))
def test_two_way_margins_are_kept_and_nothing_more_is_fitted(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = (2, 3, 2)
    cells = np.array(list(product(*map(range, shape)))).T.astype(np.int32)
    amounts = generator.integers(1, 50, cells.shape[1]).astype(float)
    fitted = cell_means(cells, amounts, interactions=True, run=Run()).reshape(shape)
    table = amounts.reshape(shape)
    for axes in combinations(range(3), 2):
        (other,) = set(range(3)) - set(axes)
        np.testing.assert_allclose(fitted.sum(axis=other), table.sum(axis=other), rtol=1e-6)
    odds = fitted[0, :, 0] * fitted[1, :, 1] / (fitted[0, :, 1] * fitted[1, :, 0])
    np.testing.assert_allclose(odds, odds[0], rtol=1e-5)
    assert not np.allclose(table[0, :, 0] * table[1, :, 1] / (table[0, :, 1] * table[1, :, 0]), odds[0])


@pytest.mark.parametrize("seed", range(3))
def test_main_effects_are_the_product_of_shares(seed: int) -> None:
    generator = np.random.default_rng(seed)
    keys, amounts = generator.integers(0, 3, (3, 12)).astype(np.int32), generator.random(12) + 0.1
    means = cell_means(keys, amounts, interactions=False, run=Run())
    for place in range(12):
        shares = [amounts[column == column[place]].sum() / amounts.sum() for column in keys]
        assert means[place] == pytest.approx(amounts.sum() * np.prod(shares))


@pytest.mark.parametrize("mean", [0.3, 2.0, 7.5])
@pytest.mark.parametrize("share", [0.01, 0.4, 1.0])
def test_the_risk_is_that_of_poisson_others(mean: float, share: float) -> None:
    others = mean * (1 - share)
    chances = [exp(-others) * others**count / factorial(count) for count in range(80)]
    unique, right = risk_of_uniques(np.array([mean]), np.array([share]))
    assert unique[0] == pytest.approx(chances[0])
    assert right[0] == pytest.approx(sum(chance / (1 + count) for count, chance in enumerate(chances)))
