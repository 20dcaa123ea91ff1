"""Frames that are given back, where their types leave little to hold."""

from __future__ import annotations

import pandas as pd
import pytest

import shoal


@pytest.mark.parametrize("categories", [[], ["a"]])
def test_a_category_of_nothing_but_missing_values(categories: list[str]) -> None:
    table = pd.DataFrame({"zip": pd.Categorical([None] * 4, categories=categories), "disease": list("xxyy")})
    data = shoal.read(table, quasi=["zip"], sensitive=["disease"])
    frame = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian").frame
    assert frame["zip"].isna().all() and sorted(frame["disease"]) == list("xxyy")
