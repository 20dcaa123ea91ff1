"""Linkage by distance and the tree that it goes through, held against plain Python."""

import numpy as np
import pytest

from shoal.kernels.linkage import SAME, own_is_nearest
from shoal.kernels.point_tree import BUCKET, tree_of

FLAG = np.zeros(1, np.uint8)


def _tables():
    draw = np.random.default_rng(1)
    yield "numbers", draw.normal(size=(300, 3))
    yield "whole numbers, most of them several times", draw.integers(0, 4, (300, 2)).astype(float)
    yield "one column", draw.integers(0, 40, (200, 1)).astype(float)
    yield "all the same", np.ones((100, 2))
    yield "all the same but for one", np.concatenate([np.ones((100, 2)), [[1.0, 2.0]]])
    yield "one record", np.ones((1, 2))
    yield "a long tail", np.exp(3 * draw.normal(size=(300, 2)))


@pytest.mark.parametrize("before", [pytest.param(table, id=name) for name, table in _tables()])
@pytest.mark.parametrize("moved", ["not", "a bit", "far", "whole steps", "swapped"])
def test_chances_are_those_of_looking_at_all_pairs(before, moved):
    draw = np.random.default_rng(2)
    after = {
        "not": before.copy(),
        "a bit": before + 0.05 * draw.normal(size=before.shape),
        "far": before + 3 * draw.normal(size=before.shape),
        "whole steps": before + draw.integers(-1, 2, before.shape),
        "swapped": before[draw.permutation(len(before))],
    }[moved]
    chances = np.zeros(len(before))
    own_is_nearest(tree_of(before, FLAG), before, after, 0, len(before), chances, FLAG)
    for record, point in enumerate(after):
        squares = [sum((float(a) - float(b)) ** 2 for a, b in zip(other, point, strict=True)) for other in before]
        own = squares[record]
        nearest = all(square >= own * (1 - SAME) - SAME for square in squares)
        ties = sum(square <= own * (1 + SAME) + SAME for square in squares)
        assert chances[record] == (1 / ties if nearest else 0)


@pytest.mark.parametrize("before", [pytest.param(table, id=name) for name, table in _tables()])
def test_buckets_hold_every_point_once_within_their_boxes(before):
    tree = tree_of(before, FLAG)
    assert sorted(tree.points.tolist()) == sorted(before.tolist())
    places = []
    for node, left in enumerate(tree.left.tolist()):
        held = tree.points[tree.begins[node] : tree.ends[node]]
        assert (held.min(axis=0) == tree.low[node]).all() and (held.max(axis=0) == tree.high[node]).all()
        if not left:
            assert len(held) <= BUCKET or (held == held[0]).all()
            places += range(tree.begins[node], tree.ends[node])
    assert places.sort() is None and places == list(range(len(before)))
