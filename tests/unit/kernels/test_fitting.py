"""The box that ranks first among those that hold a point, held against a plain loop."""

import numpy as np
import pytest

from shoal.kernels.fitting import first_boxes, tree_of


@pytest.mark.parametrize("count", [1, 9, 300])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_box_that_holds_a_point(count, seed):
    draw = np.random.default_rng(seed)
    lows = draw.integers(0, 9, (3, count)).astype(np.int32)
    highs = lows + draw.integers(0, 4, (3, count)).astype(np.int32)
    points, ranks = draw.integers(0, 12, (3, 200)).astype(np.int32), draw.permutation(count)
    wanted = []
    for point in points.T:
        holding = [box for box in range(count) if all(lows[:, box] <= point) and all(point <= highs[:, box])]
        wanted.append(min(holding, key=ranks.__getitem__, default=-1))
    assert first_boxes(tree_of(lows, highs), ranks, points).tolist() == wanted
