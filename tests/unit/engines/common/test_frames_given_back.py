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


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_categories_stay_categories_in_their_order(engine: str) -> None:
    """Also where what is published stands for several; a category that nobody published is not listed."""
    grades = pd.Categorical(
        ["low", "mid", "high", "mid"] * 10, categories=["low", "mid", "high", "never"], ordered=True
    )
    steps = pd.Categorical([1, 2, 3, 4] * 10, ordered=True)
    table = pd.DataFrame({"age": [20, 21, 22, 23] * 10, "grade": grades, "step": steps})
    data = shoal.read(table, quasi=["age", "step"], engine=engine)
    frame = shoal.anonymize(data, shoal.KAnonymity(k=20), algorithm="mondrian", allow_plain=["grade"]).frame
    assert frame["grade"].dtype == pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    assert isinstance(frame["step"].dtype, pd.CategoricalDtype) and all(
        str(each).startswith("[") for each in frame["step"]
    )
    same = shoal.anonymize(data, shoal.KAnonymity(k=1), algorithm="mondrian", allow_plain=["grade"]).frame
    assert same["step"].dtype == pd.CategoricalDtype([1, 2, 3, 4], ordered=True)
