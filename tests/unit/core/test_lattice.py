"""The lattice of level vectors and Samarati's distance vectors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import shoal
from shoal.core.lattice import Lattice, distance_vectors
from shoal.errors import ParameterError, SchemaError


def tree(column: str, paths: list[tuple[str, ...]]) -> shoal.Hierarchy:
    return shoal.Hierarchy.from_paths(column, paths)


@pytest.fixture
def students() -> shoal.Dataset:
    frame = shoal.samples.students()
    departments = {"CIV": "works", "ELE": "works", "MEC": "machines", "MET": "machines"}
    hierarchies = {
        "department": tree("department", [(name, group, "*") for name, group in departments.items()]),
        "grade": tree(
            "grade", [(str(grade), ">7" if grade > 7 else "<=7", "*") for grade in sorted(set(frame["grade"]))]
        ),
        "age": tree("age", [(str(age), ">=20", "*") for age in sorted(set(frame["age"]))]),
        "roll": tree("roll", [(roll, roll[:6] + "**", "*") for roll in frame["roll"]]),
    }
    return shoal.read(frame, quasi=["department", "grade", "age", "roll"], hierarchies=hierarchies)


def test_students_have_the_published_distance_vector(students: shoal.Dataset) -> None:
    """Two students of one department whose grade, age and roll number meet one level up: [0, 1, 1, 1]."""
    first = [students.codes(name)[0] for name in students.schema.quasi]
    second = [students.codes(name)[1] for name in students.schema.quasi]
    tuples = students.summary.keys.T.tolist()
    vectors = distance_vectors(students.summary)
    assert vectors[tuples.index(first), tuples.index(second)].tolist() == [0, 1, 1, 1]
    assert (vectors == vectors.transpose(1, 0, 2)).all()
    assert (vectors[np.arange(11), np.arange(11)] == 0).all()


def test_generalizing_by_the_distance_vector_makes_two_tuples_one(students: shoal.Dataset) -> None:
    vectors = distance_vectors(students.summary)
    for one, other in product(range(11), repeat=2):
        levels = vectors[one, other]
        merged = [
            (hierarchy.codes[level][keys[one]], hierarchy.codes[level][keys[other]])
            for hierarchy, level, keys in zip(students.hierarchies, levels, students.summary.keys, strict=True)
        ]
        assert all(left == right for left, right in merged)


def test_distance_vectors_of_too_many_tuples_are_refused() -> None:
    data = shoal.read(shoal.samples.adult(), quasi=["age", "hours-per-week", "education"])
    with pytest.raises(ParameterError, match="pairs"):
        distance_vectors(data.summary)


def test_nodes_by_height() -> None:
    lattice = Lattice(("a", "b", "c"), (1, 0, 0), (2, 2, 1))
    every = sorted(product((1, 2), (0, 1, 2), (0, 1)))
    assert sorted(lattice) == every
    assert lattice.size == len(every) == 12
    assert (lattice.lowest, lattice.height) == (1, 5)
    for height in range(0, 8):
        assert list(lattice.at(height)) == sorted(node for node in every if sum(node) == height)
    for node in every:
        assert set(lattice.generalizations(node)) == {
            other
            for other in every
            if sum(other) == sum(node) + 1 and all(x >= y for x, y in zip(other, node, strict=True))
        }
        assert all(node in set(lattice.generalizations(other)) for other in lattice.specializations(node))


def test_level_ranges_are_checked(students: shoal.Dataset) -> None:
    trees = students.hierarchies
    with pytest.raises(ParameterError, match="left no level"):
        Lattice.of(trees, {"age": 2}, {"age": 1})
    with pytest.raises(ParameterError, match="levels 0 to 2"):
        Lattice.of(trees, {"age": 3})
    with pytest.raises(ParameterError, match="levels 0 to 2"):
        Lattice.of(trees, None, {"roll": -1})
    with pytest.raises(SchemaError, match="no column named 'zip'"):
        Lattice.of(trees, {"zip": 1})
