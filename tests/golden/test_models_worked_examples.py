"""The privacy models on the examples that the literature works out."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import shoal
from shoal.core.classes import summarize


def test_skewness() -> None:
    """49 positive and 1 negative records where 1 % of the population is positive."""
    people = np.zeros(10_000, np.int32)
    status = np.zeros(10_000, np.int32)
    people[:50], status[:49], status[50:101] = 1, 1, 1
    classes = summarize(["class"], [people], [2], [("status", status, 2, None)])
    assert int(classes.sensitive[0].population[1]) == 100
    assert shoal.DistinctLDiversity(l=2).holds(classes).all()
    assert shoal.TCloseness(t=0.5).measure(classes).value == pytest.approx(0.97, abs=1e-12)
    assert shoal.TCloseness(t=0.97).holds(classes).all()
    assert not shoal.TCloseness(t=0.969).holds(classes)[1]


STOMACH = ["gastric ulcer", "gastritis", "stomach cancer"]
OTHERS = ["flu", "bronchitis", "pneumonia"]


def test_similarity() -> None:
    """Three stomach diseases with salaries of 3K, 4K and 5K: diverse by every count, and yet they say it all."""
    table = polars.DataFrame(
        {"zip": ["476**"] * 3 + ["479**"] * 3, "salary": [3, 4, 5, 6, 7, 8], "disease": STOMACH + OTHERS}
    )
    tree = shoal.Hierarchy.from_paths(
        "disease", [(name, "stomach", "*") for name in STOMACH] + [(name, "lung", "*") for name in OTHERS]
    )
    data = shoal.read(table, quasi=["zip"], sensitive=["salary", "disease"], hierarchies={"disease": tree})
    for model in (shoal.DistinctLDiversity(l=3), shoal.EntropyLDiversity(l=3), shoal.FrequencyLDiversity(l=3)):
        found = model.measure(data.summary)
        assert found.holds and found.value == pytest.approx(3)
        assert set(found.detail) == {"salary", "disease"}
    # The distances tell what the counts do not: half the mass of disease has to move across the whole tree, and
    # every salary by three of the five steps, for half of them.
    assert shoal.TCloseness(t=1, distance="hierarchical", column="disease").measure(data.summary).value == 0.5
    assert shoal.TCloseness(t=1, distance="equal", column="disease").measure(data.summary).value == 0.5
    ordered = shoal.TCloseness(t=1, distance="ordered", column="salary").measure(data.summary)
    assert ordered.value == pytest.approx(0.3)


def test_four_patients() -> None:
    """Two groupings of the same four: the first leaves a class in which everybody has the same disease."""
    disease = np.array([0, 1, 2, 2], np.int32)
    anonymous = summarize(["class"], [np.array([0, 0, 1, 1], np.int32)], [2], [("disease", disease, 3, None)])
    diverse = summarize(["class"], [np.array([0, 1, 0, 1], np.int32)], [2], [("disease", disease, 3, None)])
    for classes, distinct in ((anonymous, 1), (diverse, 2)):
        assert shoal.KAnonymity(k=2).holds(classes).all()
        assert shoal.DistinctLDiversity(l=2).measure(classes).value == distinct
        assert shoal.FrequencyLDiversity(l=2).measure(classes).value == distinct
    assert shoal.models.AlphaKAnonymity(alpha=0.5, k=2).holds(anonymous).tolist() == [True, False]


def test_salaries_of_the_ordered_distance() -> None:
    """Nine salaries from 3K to 11K: {3K, 4K, 5K} is 0.375 from all of them and {6K, 8K, 11K} is 0.167."""
    people = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1], np.int32)
    classes = summarize(["class"], [people], [3], [("salary", np.arange(9, dtype=np.int32), 9, None)])
    levels = shoal.TCloseness(t=1, distance="ordered").levels(classes)
    assert levels[:2] == pytest.approx([0.375, 1 / 6], abs=1e-12)
