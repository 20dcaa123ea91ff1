"""Perturbations that go by more than their columns give the same release on DuckDB."""

from __future__ import annotations

import polars as pl
import pytest

import shoal

METHODS = (
    "targeted-swapping:geography=region|town,match=size,risk=age,share=0.2",
    "shuffling:columns=wage",
    "top-bottom-coding:top=wage=5%,bottom=age=10%",
    "rounding:columns=age|wage,random=true,bases=wage=100",
    "microaggregation:strata=town,columns=wage|age",
)


@pytest.fixture(scope="module")
def tables() -> list[shoal.Dataset]:
    """The same table in the hands of both engines."""
    people = shoal.samples.adult().head(300)
    table = people.select(
        pl.col("race").alias("region"), pl.col("sex").alias("town"), (pl.col("age") % 3).alias("size"),
        pl.col("age"), (pl.col("age") * 37 % 1009).alias("wage"),
    )  # fmt: skip
    roles = {"quasi": ["region", "town", "age"], "sensitive": ["wage"]}
    return [shoal.read(table, **roles, engine=engine) for engine in ("embedded", "duckdb")]


@pytest.mark.parametrize("method", METHODS)
def test_the_release_is_the_same(tables: list[shoal.Dataset], method: str) -> None:
    frames = [
        shoal.anonymize(data, algorithm=method, seed=4, repeatable=True, allow_plain=["size"]).frame for data in tables
    ]
    assert pl.DataFrame(frames[0]).equals(pl.DataFrame(frames[1]))
