"""Rows of a chain one column further, held against plain Python."""

import numpy as np
import pytest

from shoal.kernels.condition_chains import SMALL, further, histograms_of_groups, shares_of_groups


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


def test_many_rows_are_merged_over_more_numbers_than_few_are():
    generator = np.random.default_rng(1)
    size = 60 * SMALL
    numbers = np.arange(2 * SMALL, dtype=np.int32)
    codes, nexts = np.zeros(2 * SMALL, np.int32), generator.integers(0, size, 2 * SMALL).astype(np.int32)
    for few, merged in ((numbers, True), (numbers[:SMALL], False)):
        weights = generator.random(len(few))
        found, left, once = further(few, weights, codes, np.array([0.5]), nexts, size)
        wanted = _plainly(few, weights, codes, [0.5], nexts)
        assert once == merged
        assert sum(left) == pytest.approx(sum(wanted.values()))
        if merged:
            assert found.tolist() == sorted(wanted)


@pytest.mark.parametrize("several", [1, 3])
def test_groups_are_counted_as_plain_loops_count_them(several):
    generator = np.random.default_rng(several)
    sizes = np.array([4.0, 0.0, 7.0, 2.0])
    groups = generator.integers(0, 4, 30).astype(np.int32)
    numbers, weights = generator.integers(0, 30, 12).astype(np.int32), generator.random(12)
    shares = np.zeros(4)
    for number, weight in zip(numbers, weights, strict=True):
        shares[groups[number]] += weight
    assert shares_of_groups(numbers, weights, groups, sizes).tolist() == (shares / np.maximum(sizes, 1)).tolist()

    starts, leaves, counts = np.array([0, 2, 2, 5, 6]), np.array([0, 3, 1, 2, 3, 0], np.int32), generator.random(6)
    factors = generator.random((several, 4))
    found = histograms_of_groups(factors, starts, leaves, counts, 5)
    for each, factor in zip(found, factors, strict=True):
        wanted = np.zeros(5)
        for group in range(4):
            for row in range(starts[group], starts[group + 1]):
                wanted[leaves[row]] += counts[row] * factor[group]
        assert each.tolist() == wanted.tolist()
