"""Distances along hierarchies: the published table of the ten patients, and the tree that the kernels span."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import shoal
from shoal.algorithms.mst import spanning_tree
from shoal.core.lattice import distance_vectors
from shoal.core.run import Run
from shoal.distances import chd, che, distance_vector, hdist
from shoal.errors import ParameterError

QUASI = ["gender", "age", "zip"]
PUBLISHED = {
    (1, 2): Fraction(2, 3), (2, 3): Fraction(2, 3), (1, 4): Fraction(10, 3), (1, 5): Fraction(13, 3), (1, 6): 5,
    (1, 7): 6, (1, 8): 4, (4, 5): 1, (4, 6): 3, (5, 6): 3, (4, 7): 4, (6, 7): 2, (6, 8): Fraction(16, 3),
    (7, 8): Fraction(10, 3), (8, 9): 1, (9, 10): Fraction(2, 3), (8, 10): Fraction(5, 3),
}  # fmt: skip
"""The last one is 2.32 in print, against the paper's own definition."""


@pytest.fixture(scope="module")
def patients() -> shoal.Dataset:
    folder = shoal.samples.hierarchies("patients-mst")
    return shoal.read(shoal.samples.patients_mst(), quasi=QUASI, hierarchies=folder)


@pytest.fixture(scope="module")
def records() -> list[tuple[object, ...]]:
    return shoal.samples.patients_mst().select(QUASI).rows()


def test_the_published_distances(patients: shoal.Dataset, records: list[tuple[object, ...]]) -> None:
    found = {
        (one, other): hdist(patients.hierarchies, records[one - 1], records[other - 1]) for one, other in PUBLISHED
    }
    assert found == PUBLISHED


def test_it_is_a_distance(patients: shoal.Dataset, records: list[tuple[object, ...]]) -> None:
    trees = patients.hierarchies
    for one, other, third in combinations(records, 3):
        assert hdist(trees, one, other) == hdist(trees, other, one)
        assert hdist(trees, one, third) <= hdist(trees, one, other) + hdist(trees, other, third)
    assert all(hdist(trees, record, record) == 0 for record in records)


def test_the_tree_is_spanned_by_the_same_distance(patients: shoal.Dataset) -> None:
    """What the kernels measure, held against the definition on raw values."""
    summary, trees = patients.summary, patients.hierarchies
    edges, lengths = spanning_tree(np.ascontiguousarray(summary.keys.T), trees, Run())
    raw = [
        tuple(tree.labels[0][leaf] for tree, leaf in zip(trees, leaves, strict=True))
        for leaves in summary.keys.T.tolist()
    ]
    measured = [hdist(trees, raw[one], raw[other]) for one, other in edges.tolist()]
    assert lengths.tolist() == pytest.approx([float(length) for length in measured])
    assert sorted(measured) == [Fraction(2, 3)] * 3 + [1, 1, 2, 3, Fraction(10, 3), Fraction(10, 3)]
    vectors = distance_vectors(summary)
    for one, other in edges.tolist():
        assert distance_vector(trees, raw[one], raw[other]) == tuple(vectors[one, other].tolist())


def test_costs_of_the_published_example(patients: shoal.Dataset) -> None:
    age = patients.hierarchies[1]
    assert chd(age, 24, "[20-30]") == Fraction(2, 3)
    assert chd(age, 24, 24) == 0
    assert che(patients.hierarchies, ("Male", 24, 535280), ("Male", "[20-40]", "5352**")) == 2


def test_a_missing_value_meets_others_at_the_top(patients: shoal.Dataset) -> None:
    age = patients.hierarchies[1].with_missing()
    assert hdist([age], (None,), (24,)) == 2
    assert distance_vector([age], (None,), (None,)) == (0,)


def test_what_does_not_belong_together_is_refused_without_showing_it(patients: shoal.Dataset) -> None:
    age = patients.hierarchies[1]
    with pytest.raises(ParameterError, match="no ancestor") as caught:
        chd(age, 24, "[31-35]")
    assert "31-35" not in str(caught.value)
    with pytest.raises(ParameterError, match="does not have a value") as caught:
        hdist([age], (24,), (4711,))
    assert "4711" not in str(caught.value)
    with pytest.raises(ParameterError, match="3 values"):
        hdist(patients.hierarchies, ("Male", 24), ("Male", 24))
