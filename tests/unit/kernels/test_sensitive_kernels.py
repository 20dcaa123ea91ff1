"""The kernels of the privacy models next to their plain twins, on classes of which some are empty."""

from __future__ import annotations

import numpy as np
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.core.classes import Histogram
from shoal.core.hierarchy import Hierarchy
from shoal.kernels import levels as levels_kernel

CLASSES = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 9)), min_size=1, max_size=6)
CODES = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0] * 6], np.int32)
PATHS = [(f"a{leaf}", f"b{CODES[1, leaf]}", f"c{CODES[2, leaf]}", "*") for leaf in range(6)]
TREE = Hierarchy.from_paths("s", PATHS)


def sparse(classes: list[dict[int, int]], population: list[int]) -> Histogram:
    starts = np.cumsum([0, *map(len, classes)]).astype(np.int64)
    entries = [entry for one in classes for entry in sorted(one.items())]
    values, counts = np.array(entries, np.int64).reshape(-1, 2).T
    return Histogram("s", starts, values.astype(np.int32), counts.copy(), np.array(population), TREE)


POPULATION = st.lists(st.integers(1, 9), min_size=6, max_size=6)


@settings(max_examples=count(28, 100), deadline=None)
@given(CLASSES, POPULATION)
def test_levels_of_counts(classes: list[dict[int, int]], population: list[int]) -> None:
    histogram = sparse(classes, population)

    def levels(model: object) -> list[float]:
        return model.levels_of(histogram).tolist()  # type: ignore[attr-defined]

    assert levels(shoal.DistinctLDiversity(l=1)) == [len(one) for one in classes]
    shares = [[count / sum(one.values()) for count in one.values()] for one in classes]
    frequencies = [sum(one.values()) / max(one.values()) if one else 0 for one in classes]
    assert levels(shoal.FrequencyLDiversity(l=1)) == frequencies
    effective = [np.exp(-sum(share * np.log(share) for share in one)) for one in shares]
    np.testing.assert_allclose(levels(shoal.EntropyLDiversity(l=1)), effective, rtol=1e-12)


@settings(max_examples=count(42, 150), deadline=None)
@given(CLASSES, st.integers(1, 7), st.sampled_from([0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0]))
def test_recursive_levels_and_ratios(classes: list[dict[int, int]], rank: int, c: float) -> None:
    histogram = sparse(classes, [1] * 6)
    levels = shoal.models.RecursiveLDiversity(c=c, l=1).levels_of(histogram).tolist()
    measure = levels_kernel.Measure(levels_kernel.RATIO, histogram.priors, float(rank))
    ratios = levels_kernel.by_class(histogram.starts, histogram.values, histogram.counts, measure).tolist()
    for one, level, ratio in zip(classes, levels, ratios, strict=True):
        counts = sorted(one.values(), reverse=True)
        tails = [sum(counts[place:]) for place in range(len(counts))]
        # In whole numbers: c is a tenth of one.
        reached = [place + 1 for place, tail in enumerate(tails) if 10 * counts[0] < round(10 * c) * tail]
        assert level == max(reached, default=0)
        expected = counts[0] / tails[rank - 1] if len(counts) >= rank else np.inf
        assert ratio == (expected if counts else 0.0)


@settings(max_examples=count(28, 100), deadline=None)
@given(CLASSES, POPULATION)
def test_distances(classes: list[dict[int, int]], population: list[int]) -> None:
    histogram = sparse(classes, population)
    priors = np.array(population) / sum(population)
    equal, by_order, by_tree = [], [], []
    for one in classes:
        surplus = -priors
        for value, times in one.items():
            surplus[value] += times / sum(one.values())
        equal.append(np.maximum(surplus, 0).sum() if one else 0.0)
        by_order.append(np.abs(np.cumsum(surplus))[:-1].sum() / 5 if one else 0.0)
        moved = 0.0
        for level in range(1, 4):
            children = np.bincount(CODES[level - 1], surplus)
            parents = CODES[level][np.unique(CODES[level - 1], return_index=True)[1]]
            gained = np.bincount(parents, np.maximum(children, 0))
            lacking = np.bincount(parents, np.maximum(-children, 0))
            moved += np.minimum(gained, lacking).sum() * level / 3
        by_tree.append(moved if one else 0.0)
    for distance, expected in (("equal", equal), ("ordered", by_order), ("hierarchical", by_tree)):
        found = shoal.TCloseness(t=1, distance=distance).levels_of(histogram)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=count(28, 100), deadline=None)
@given(CLASSES, POPULATION)
def test_no_part_of_a_class_is_better_than_the_ceiling_says(
    classes: list[dict[int, int]], population: list[int]
) -> None:
    """Every value of a class by itself, and the class itself."""
    parts = [{value: count} for one in classes for value, count in one.items()]
    wholes = [one for one in classes for _ in one]
    for model in (
        shoal.EntropyLDiversity(l=1), shoal.FrequencyLDiversity(l=1), shoal.models.RecursiveLDiversity(c=2, l=1),
        shoal.TCloseness(t=1),
    ):  # fmt: skip
        above, below = sparse(wholes, population), sparse(parts, population)
        measure = model.ceiling(above)
        bounds = levels_kernel.by_class(above.starts, above.values, above.counts, measure)
        for found in (model.levels_of(below), model.levels_of(above)):
            assert ((found <= bounds + 1e-9) if model.more_is_safer else (found >= bounds - 1e-9)).all()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 33, 400])
@pytest.mark.parametrize("kinds", [2, 1000])
def test_a_part_is_put_in_order(count: int, kinds: int) -> None:
    array = np.random.default_rng(count).integers(0, kinds, count + 5)
    sorted_part = [*array[:2], *sorted(array[2 : count + 2]), *array[count + 2 :]]
    levels_kernel.put_in_order.py_func(array, 2, count + 2)
    assert array.tolist() == sorted_part
