"""What a search may rely on in every metric that can be minimized: bounds, monotonicity, and the same score."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st
from making import cases

import shoal
from shoal import registry
from shoal.utility.objective import CellObjective, ClassObjective, even


def made_of(kind: Any) -> list[Any]:
    """The metrics of a kind, found in the registry."""
    return [case for case in cases("metrics") if issubclass(registry.find("metrics", case.values[0]), kind)]


TREES = {
    "letter": [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")],
    "size": [("1", "[0-2]", "*"), ("2", "[0-2]", "*"), ("4", "[3-9]", "*"), ("5", "[3-9]", "*")],
    "sex": [("f", "*"), ("m", "*")],
}


def table(seed: int, rows: int = 24) -> shoal.Dataset:
    generator = np.random.default_rng(seed)
    frame = pl.DataFrame({name: generator.choice([path[0] for path in tree], rows) for name, tree in TREES.items()})
    hierarchies = {name: shoal.Hierarchy.from_paths(name, tree) for name, tree in TREES.items()}
    return shoal.read(frame, quasi=list(TREES), hierarchies=hierarchies, kinds={"size": "numeric"})


@pytest.mark.parametrize(("name", "example"), made_of(CellObjective | ClassObjective))
@pytest.mark.parametrize(("seed", "suppression"), [(1, 0.0), (2, 0.2), (3, 1.0)])
def test_the_optimum_is_the_best_node(name: str, example: Any, seed: int, suppression: float) -> None:
    """Every node of the lattice is made into a release and scored by the metric itself."""
    data, metric = table(seed), registry.make("metrics", name, dict(example))

    def release(**bounds: Any) -> shoal.Release:
        search = shoal.algorithms.Optimal(**bounds)
        return shoal.anonymize(
            data, shoal.KAnonymity(k=3), algorithm=search, objective=metric, suppression=suppression, seed=1
        )

    best = release()
    assert best.recoding is not None
    scores = []
    for node in product(*(range(len(tree[0])) for tree in TREES.values())):
        levels = dict(zip(TREES, node, strict=True))
        try:
            one = release(least_levels=levels, greatest_levels=levels)
        except shoal.errors.InfeasibleError:
            continue
        scores.append(metric.score(data, one).value)
        assert one.recoding is not None
        assert one.recoding.facts["score"] == pytest.approx(scores[-1], rel=1e-9, abs=1e-9), node
    assert best.recoding.facts["score"] == pytest.approx(min(scores), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("name", "example"), made_of(CellObjective))
@pytest.mark.parametrize("seed", range(3))
def test_a_coarser_cell_costs_no_less(name: str, example: Any, seed: int) -> None:
    data = table(seed)
    terms = registry.make("metrics", name, dict(example)).terms(data.summary, even(len(TREES)))
    assert (terms.weights >= 0).all() and (terms.spans >= 0).all()
    for costs, tree in zip(terms.costs, data.hierarchies, strict=True):
        assert costs.shape == tree.codes.shape and (costs >= 0).all()
        assert (np.diff(costs, axis=0) >= -1e-12).all()
        if terms.left_out == "one":
            assert (costs <= 1 + 1e-12).all(), "a record that is left out costs no less than one that is published"


sizes = st.lists(st.integers(1, 30), min_size=1, max_size=8)


@pytest.mark.parametrize(("name", "example"), made_of(ClassObjective))
@given(sizes=sizes, at=st.integers(0, 99), gone=st.integers(0, 8), data=st.data())
@settings(max_examples=count(24, 60), deadline=None)
def test_bounds_of_classes(name: str, example: Any, sizes: list[int], at: int, gone: int, data: st.DataObject) -> None:
    objective, records = registry.make("metrics", name, dict(example)), sum(sizes)

    def base(*some: int) -> float:
        return float(objective.base(np.array(some, np.int64), records))

    def extra(some: list[int]) -> float:
        return float(objective.extra(np.array(some, np.int64), records))

    if len(sizes) > 1:
        first, second, *rest = sizes
        assert base(first + second, *rest) >= base(*sizes), "merging classes costs no less"
    left_out = sizes[: gone % (len(sizes) + 1)]
    assert extra(left_out) >= extra(left_out[:-1]), "leaving more out costs no less"
    assert extra([]) == 0
    for place, size in enumerate(left_out):
        if size > 1:
            part = data.draw(st.integers(1, size - 1))
            split = [*left_out[:place], part, size - part, *left_out[place + 1 :]]
            assert extra(split) >= extra(left_out), "left-out classes that split cost no less"
    low, high = sorted((base(*sizes), base(*sizes) + extra(left_out)))
    assert objective.value(high, records) >= objective.value(low, records), "more costs no less"
