"""Rank swapping: which columns it can rank."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.core.hierarchy import Hierarchy
from shoal.errors import ParameterError, SchemaError


def test_a_hierarchy_that_names_more_than_numbers_leaves_nothing_to_rank() -> None:
    tree = Hierarchy.from_paths("age", [("5", "*"), ("6", "*"), ("unknown", "*")])
    data = shoal.read(pl.DataFrame({"age": [5, 6, 5]}), quasi=["age"], hierarchies={"age": tree})
    with pytest.raises(SchemaError, match="no quasi-identifier is numeric"):
        shoal.anonymize(data, algorithm="rank-swapping")
    with pytest.raises(ParameterError, match="'age' is not numeric"):
        shoal.anonymize(data, algorithm="rank-swapping:columns=age")


@pytest.mark.parametrize("largest", [2**53 + 2, 2**64 - 1])
def test_numbers_that_would_be_rounded_are_refused(largest: int) -> None:
    table = pl.DataFrame({"account": pl.Series([5, 6, largest], dtype=pl.UInt64)})
    with pytest.raises(SchemaError, match="'account' has numbers from 9,007,199,254,740,992 up"):
        shoal.anonymize(shoal.read(table, quasi=["account"]), algorithm="rank-swapping:share=1")
