"""Rows of a chain one column further, held against plain Python."""

import numpy as np
import pytest

from shoal.kernels.condition_chains import further


def _plainly(numbers, weights, codes, factors, nexts):
    found = {}
    for number, weight in zip(numbers, weights, strict=True):
        if factors[codes[number]] > 0:
            there = int(nexts[number])
            found[there] = found.get(there, 0.0) + weight * factors[codes[number]]
    return found


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize("seed", range(4))
def test_it_counts_what_is_left_of_each_number(size, seed):
    generator = np.random.default_rng(seed)
    codes, nexts = generator.integers(0, 5, 60).astype(np.int32), generator.integers(0, size, 60).astype(np.int32)
    factors = np.array([0.0, 0.25, 0.5, 1.0, 0.0])
    numbers = generator.permutation(60)[:40].astype(np.int32)
    weights = generator.random(40) + 0.5
    found, left, once = further(numbers, weights, codes, factors, nexts, size)
    wanted = _plainly(numbers, weights, codes, factors, nexts)
    assert once == (size <= 7)
    if once:
        assert found.tolist() == sorted(wanted)
    assert sum(left) == pytest.approx(sum(wanted.values()))
    together = {}
    for number, weight in zip(found.tolist(), left.tolist(), strict=True):
        together[number] = together.get(number, 0.0) + weight
    assert together == pytest.approx(wanted)


def test_nothing_is_left_of_nothing():
    none = np.zeros(0, np.int32)
    found, left, _ = further(none, np.zeros(0), np.array([0], np.int32), np.array([1.0]), np.array([0], np.int32), 1)
    assert not len(found) and not len(left)
