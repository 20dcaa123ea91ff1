"""Anatomy: what it does with models that groups of different values do not satisfy."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError


def test_a_model_that_its_groups_break_is_refused_with_figures() -> None:
    """Groups of two different values say more about a rare one than t-closeness allows."""
    table = pl.DataFrame({"age": range(20, 30), "disease": ["flu"] * 4 + ["cold"] * 4 + ["hiv"] * 2})
    data = shoal.read(table, quasi=["age"], sensitive=["disease"])
    models = (shoal.FrequencyLDiversity(l=2), shoal.TCloseness(t=0.01))
    with pytest.raises(InfeasibleError, match=r"5 of 5 groups") as caught:
        shoal.anonymize(data, *models, algorithm="anatomy", seed=1)
    assert caught.value.attempt == {"least": 2, "groups": 5, "broken": 5}
