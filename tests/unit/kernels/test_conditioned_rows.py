"""Rows that meet a condition, and what their groups let expect, held against plain Python."""

import numpy as np
import pytest

from shoal.kernels.conditioned_rows import histogram_of_groups, rows_between


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_kept_in_their_order(seed):
    draw = np.random.default_rng(seed)
    rows, leaves = draw.permutation(60)[:40].astype(np.int32), draw.integers(0, 9, 60).astype(np.int32)
    for low, high in ((2, 5), (0, 8), (9, 9)):
        wanted = [row for row in rows.tolist() if low <= leaves[row] <= high]
        assert rows_between(rows, leaves, low, high).tolist() == wanted
    assert not len(rows_between(rows[:0], leaves, 0, 8))


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_counted_as_plain_loops_count_them(seed):
    """One group is empty, and of the last one nothing is published."""
    draw = np.random.default_rng(seed)
    groups = np.sort(draw.choice([0, 1, 3, 4], 30)).astype(np.int32)
    weights, sizes = draw.integers(1, 4, 30).astype(float), np.array([4.0, 9.0, 0.0, 7.0, 2.0])
    starts, leaves, counts = np.array([0, 2, 2, 5, 6]), np.array([0, 3, 1, 2, 3, 0], np.int32), draw.random(6)
    rows = np.flatnonzero(draw.random(30) < 0.4 * (seed < 5)).astype(np.int32)
    wanted = [0.0] * 5
    for group in range(4):
        met = sum(weights[row] for row in rows.tolist() if groups[row] == group)
        for place in range(starts[group], starts[group + 1]):
            wanted[leaves[place]] += counts[place] * (met / max(sizes[group], 1.0))
    assert histogram_of_groups(rows, groups, weights, sizes, starts, leaves, counts, 5).tolist() == wanted
