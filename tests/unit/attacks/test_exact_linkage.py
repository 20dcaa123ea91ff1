"""Exact linkage, against what it means: every person compared with every record."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined


@pytest.mark.parametrize("algorithm", ["targeted-swapping:geography=town,k=3", "pram:columns=town", "rounding:base=2"])
def test_chances_are_those_of_all_comparisons(algorithm: str) -> None:
    generator = np.random.default_rng(1)
    table = pl.DataFrame(
        {"town": generator.choice(list("abc"), 60), "age": generator.integers(0, 7, 60), "row": range(60)}
    )
    data = shoal.read(table, quasi=["town", "age"])
    release = shoal.anonymize(data, algorithm=algorithm, seed=3, allow_plain=["row"])
    shown = release.frame.sort("row").drop("row").rows()
    true = table.drop("row").rows()
    chances, finds = [], []
    for place, person in enumerate(true):
        fitting = [other for other, record in enumerate(shown) if record == person]
        chances.append((place in fitting) / max(len(fitting), 1))
        if len(fitting) == 1:
            finds.append(place not in fitting)
    found = shoal.attack(data, release, "exact-linkage:threshold=0.3")[0]
    assert found.success == pytest.approx(np.mean(chances)) and found.worst == max(chances)
    assert found.above == pytest.approx(np.mean(np.array(chances) > 0.3))
    assert found.detail["unique"] == len(finds)
    assert found.detail["wrong"] == (pytest.approx(np.mean(finds)) if finds else None)


def test_it_needs_changed_values() -> None:
    data = shoal.read(pl.DataFrame({"a": [1, 1, 2, 2]}), quasi=["a"])
    with pytest.raises(NotDefined, match="no value of this release was changed"):
        shoal.attack(data, shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian"), "exact-linkage")
