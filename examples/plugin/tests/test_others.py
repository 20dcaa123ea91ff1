"""The model beside its definition, and a release that keeps it."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest
from shoal_others import OthersAtLeast

import shoal
from shoal.errors import ParameterError


def table(seed: int) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "zip": [f"1{draw.randrange(12):02}" for _ in range(60)],
            "disease": draw.choices(["flu", "hiv", "cold"], weights=[5, 2, 1], k=60),
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_level_is_that_of_the_definition(seed: int) -> None:
    rows = table(seed)
    groups: dict[str, Counter[str]] = {}
    for place, disease in zip(rows["zip"].to_pylist(), rows["disease"].to_pylist(), strict=True):
        groups.setdefault(place, Counter())[disease] += 1
    expected = min(group.total() - max(group.values()) for group in groups.values())
    data = shoal.read(rows, quasi=["zip"], sensitive=["disease"])
    assert OthersAtLeast(others=1).measure(data.summary).value == expected


def test_a_release_keeps_it_by_its_name() -> None:
    data = shoal.read(table(1), quasi=["zip"], sensitive=["disease"])
    release = shoal.anonymize(data, "others-at-least:others=3", algorithm="mondrian", seed=1)
    groups: dict[str, Counter[str]] = {}
    for place, disease in zip(release.frame["zip"].to_pylist(), release.frame["disease"].to_pylist(), strict=True):
        groups.setdefault(place, Counter())[disease] += 1
    assert len(groups) > 1 and min(group.total() - max(group.values()) for group in groups.values()) >= 3


def test_nonsense_is_refused() -> None:
    with pytest.raises(ParameterError, match="others"):
        shoal.anonymize(
            shoal.read(table(1), quasi=["zip"], sensitive=["disease"]), "others-at-least:others=0", algorithm="mondrian"
        )
