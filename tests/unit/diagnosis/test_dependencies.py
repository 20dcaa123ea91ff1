"""Finding dependencies: marks, limits, bad input and the Adult table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.run import Run
from shoal.errors import CancelledError, ParameterError


@pytest.fixture
def table() -> pl.DataFrame:
    """The illness determines the ward, the street the town, and the number everything."""
    return pl.DataFrame(
        {
            "number": range(8),
            "street": list("aabbccdd"),
            "town": list("xxxxyyyy"),
            "ill": ["flu", "hiv", "flu", "hiv", "gout", "flu", "gout", "hiv"],
            "ward": list("12121112"),
        }
    )


def test_marks_by_role(table: pl.DataFrame) -> None:
    data = shoal.read(table, quasi=["town", "street"], sensitive=["ill"])
    found = shoal.dependencies(data)
    marks = {(each.determinant, each.dependent): each.label for each in found.found}
    assert marks[("ill",), "ward"] == "unsafe"
    assert marks[("street",), "town"] == "safe"
    assert marks[("number",), "ill"] == "safe", "a hint only: this one tells everything"
    assert {each.determinant for each in found.found if each.key} >= {("number",)}
    assert found.of("town") == (("number",), ("street",))
    assert "hint" in found.hint


def test_cycles_are_found_both_ways(table: pl.DataFrame) -> None:
    found = shoal.dependencies(table.with_columns(place=pl.col("town") + "!"))
    assert ("town",) in found.of("place") and ("place",) in found.of("town")


def test_constant_columns_depend_on_nothing(table: pl.DataFrame) -> None:
    found = shoal.dependencies(table.with_columns(country=pl.lit("home")))
    assert found.of("country") == ((),)


def test_missing_is_a_value(table: pl.DataFrame) -> None:
    holes = table.with_columns(town=pl.when(pl.col("street") == "a").then(None).otherwise("town"))
    assert ("street",) in shoal.dependencies(holes).of("town")


def test_no_value_is_shown(table: pl.DataFrame) -> None:
    found = shoal.dependencies(shoal.read(table, quasi=["town"], sensitive=["ill"]), support=0.2, tolerance=0.2)
    assert found.conditional
    assert not any(value in repr(found) for value in ("flu", "hiv", "gout"))


def test_time_is_up() -> None:
    generator = np.random.default_rng(1)
    table = pl.DataFrame({f"c{at}": generator.integers(0, 9, 20_000) for at in range(12)})
    found = shoal.dependencies(table, time_limit=0.0)
    assert not found.proven and found.complete < 12
    smaller = shoal.dependencies(table, largest=found.complete or 1)
    assert [each for each in smaller.found if len(each.determinant) <= found.complete] == [
        each for each in found.found if len(each.determinant) <= found.complete
    ]


def test_cancelled() -> None:
    run = Run()
    run.cancel()
    with pytest.raises(CancelledError):
        shoal.dependencies(shoal.samples.patients_eight(), run=run)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tolerance": 1.0}, "tolerance"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"largest": 0}, "largest"),
        ({"support": 0.0}, "support"),
        ({"support": 2.0}, "support"),
    ],
)
def test_bad_parameters(given: dict[str, float], words: str, table: pl.DataFrame) -> None:
    with pytest.raises(ParameterError, match=words):
        shoal.dependencies(table, **given)


def test_too_many_columns() -> None:
    with pytest.raises(ParameterError, match="at most 63 columns"):
        shoal.dependencies(pl.DataFrame({f"c{at}": [1, 2] for at in range(64)}))


def test_other_engines_find_the_same(table: pl.DataFrame) -> None:
    assert shoal.dependencies(table, engine="duckdb").found == shoal.dependencies(table).found


@pytest.mark.smoke
def test_adult() -> None:
    found = shoal.dependencies(shoal.samples.adult(), support=0.05)
    assert found.proven
    assert ("education",) in found.of("education-num")
    assert ("education-num",) in found.of("education")
    assert len(found.found) == 81
