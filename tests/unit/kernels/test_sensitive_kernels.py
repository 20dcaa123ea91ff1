"""The kernels of the privacy models next to their plain twins, on classes of which some are empty."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.distance import hierarchical, ordered
from shoal.kernels.diversity import tails, ties

CLASSES = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 9)), min_size=1, max_size=6)
CODES = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0] * 6], np.int32)


def sparse(classes: list[dict[int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, classes)]).astype(np.int64)
    entries = [entry for one in classes for entry in sorted(one.items())]
    values, counts = np.array(entries, np.int64).reshape(-1, 2).T
    return starts, values.astype(np.int32), counts.copy()


@settings(max_examples=100, deadline=None)
@given(CLASSES, st.integers(1, 7))
def test_tails_and_ties(classes: list[dict[int, int]], rank: int) -> None:
    starts, _, counts = sparse(classes)
    expected = [sum(sorted(one.values(), reverse=True)[rank - 1 :]) for one in classes]
    assert tails(starts, counts, rank).tolist() == expected
    assert ties(starts, counts).tolist() == [min(Counter(one.values()).values(), default=0) for one in classes]


@settings(max_examples=100, deadline=None)
@given(CLASSES, st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_distances(classes: list[dict[int, int]], population: list[int]) -> None:
    starts, values, counts = sparse(classes)
    sizes = np.array([sum(one.values()) for one in classes])
    shares = counts / np.repeat(sizes, np.diff(starts))
    priors = np.array(population) / sum(population)
    by_order, by_tree = [], []
    for begin, end in pairwise(starts.tolist()):
        surplus = -priors
        surplus[values[begin:end]] += shares[begin:end]
        by_order.append(np.abs(np.cumsum(surplus))[:-1].sum() / 5 if end > begin else 0.0)
        moved = 0.0
        for level in range(1, 4):
            children = np.bincount(CODES[level - 1], surplus)
            parents = CODES[level][np.unique(CODES[level - 1], return_index=True)[1]]
            gained = np.bincount(parents, np.maximum(children, 0))
            lacking = np.bincount(parents, np.maximum(-children, 0))
            moved += np.minimum(gained, lacking).sum() * level / 3
        by_tree.append(moved if end > begin else 0.0)
    np.testing.assert_allclose(ordered(starts, values.astype(np.int64), shares, priors), by_order, atol=1e-12)
    np.testing.assert_allclose(hierarchical(starts, values, shares, priors, CODES), by_tree, atol=1e-12)
