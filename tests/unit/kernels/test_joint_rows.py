"""Columns that are looked at together, held against plain Python."""

from itertools import product

import numpy as np
import pytest

from shoal.kernels.joint_rows import leaves_of_tuples, pairs_of_groups, pairs_of_rows


@pytest.mark.parametrize("seed", range(3))
def test_pairs_weigh_what_their_rows_do(seed):
    draw = np.random.default_rng(seed)
    one, other = draw.integers(0, 4, 50).astype(np.int32), draw.integers(0, 3, 50).astype(np.int32)
    weights = draw.random(50)
    wanted = np.zeros((5, 3))
    for left, right, weight in zip(one, other, weights, strict=True):
        wanted[left, right] += weight
    assert pairs_of_rows(one, other, weights, 5, 3).tolist() == wanted.tolist()
    assert not pairs_of_rows(one[:0], other[:0], weights[:0], 5, 3).any()


def _by_group(groups, count):
    rows = np.argsort(groups, kind="stable").astype(np.int32)
    return rows, np.searchsorted(groups[rows], np.arange(count + 1)).astype(np.int64)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_group_are_put_together_in_every_way(seed):
    """One group has rows in one table only, and some rows weigh nothing."""
    draw = np.random.default_rng(seed)
    groups, others = draw.choice([0, 1, 3, 4], 30).astype(np.int32), draw.integers(0, 4, 20).astype(np.int32)
    codes, other_codes = draw.integers(0, 5, 30).astype(np.int32), draw.integers(0, 3, 20).astype(np.int32)
    weights, other_weights = draw.integers(0, 4, 30).astype(float), draw.integers(0, 3, 20).astype(float)
    sizes = np.bincount(groups, weights=weights, minlength=5)
    wanted = np.zeros((5, 3))
    for (row, group), (other, beside) in product(enumerate(groups), enumerate(others)):
        if group == beside:
            wanted[codes[row], other_codes[other]] += weights[row] * other_weights[other] / max(sizes[group], 1.0)
    counts = np.zeros((5, 3))
    first, second = (*_by_group(groups, 5), codes, weights), (*_by_group(others, 5), other_codes, other_weights)
    pairs_of_groups(*first, *second, counts, sizes)
    assert counts == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(4))
def test_tuples_have_the_leaves_of_their_groups(seed):
    """Of the last group nothing is published, and some tuple has no other one. There is more than fits at first."""
    draw, tuples, values = np.random.default_rng(seed), 800, 6
    rows = draw.permutation(1800).astype(np.int32)
    begins = np.sort(np.append(draw.integers(0, 1801, tuples - 1), (0, 1800))).astype(np.int64)
    groups, weights = draw.integers(0, 5, 1800).astype(np.int32), draw.integers(1, 4, 1800).astype(float)
    sizes = np.array([4.0, 9.0, 0.0, 7.0, 2.0])
    starts, leaves, counts = np.array([0, 2, 2, 5, 9]), draw.integers(0, values, 9).astype(np.int32), draw.random(9)
    wanted = {}
    for each in range(tuples):
        for row in rows[begins[each] : begins[each + 1]]:
            for place in range(*starts[groups[row] : groups[row] + 2]) if groups[row] < 4 else ():
                key = each, int(leaves[place])
                share = weights[row] / max(sizes[groups[row]], 1.0)
                wanted[key] = wanted.get(key, 0.0) + share * counts[place]
    given = rows, begins, groups, weights, sizes, starts, leaves, counts, values
    owners, found, expected = leaves_of_tuples(*given, 10_000)
    assert len(owners) > 1024 - values
    assert owners.tolist() == sorted(owners.tolist())
    assert len(owners) == len(wanted)
    assert dict(zip(zip(owners.tolist(), found.tolist(), strict=True), expected.tolist(), strict=True)) == wanted
    assert [len(each) for each in leaves_of_tuples(*given, 50)] == [0, 0, 0]
