"""The order of values, held against the library's stable sort."""

import numpy as np
import pytest

from shoal.kernels.sorting import order_of


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 500])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_it_is_the_stable_order(count, dtype):
    values = np.random.default_rng(count).integers(-5, 6, count).astype(dtype)
    assert order_of(values).tolist() == np.argsort(values, kind="stable").tolist()
