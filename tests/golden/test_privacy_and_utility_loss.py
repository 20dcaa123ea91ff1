"""Li and Li's privacy loss and utility loss on the eight records of the specification."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.utility.expected import divergence

RECORDS = pl.DataFrame(
    {
        "sex": list("MMMMFFFF"),
        "age": list("yyooyyoo"),
        "disease": ["flu", "hiv", "flu", "flu", "hiv", "cold", "flu", "cold"],
    }
)
GOLDEN = {
    "sex and age": ({}, 0.311278, 0.0, 0.0),
    "sex": ({"age": "*"}, 0.143156, 0.087804, 0.051109),
    "age": ({"sex": "*"}, 0.143156, 0.087804, 0.051109),
    "nothing": ({"age": "*", "sex": "*"}, 0.0, 0.167838, 0.102217),
}


@pytest.fixture
def data() -> shoal.Dataset:
    return shoal.read(RECORDS, quasi=["sex", "age"], sensitive=["disease"])


@pytest.mark.parametrize("shown", GOLDEN)
def test_golden(data, shown, tmp_path):
    """The release is a file as any tool writes it."""
    hidden, privacy, quarter, half = GOLDEN[shown]
    path = tmp_path / "release.csv"
    RECORDS.with_columns(pl.lit(text).alias(name) for name, text in hidden.items()).write_csv(path)
    found = shoal.evaluate(data, path, "privacy-loss", "utility-loss:minsup=0.25")
    assert found["privacy-loss"].value == pytest.approx(privacy, abs=5e-7)
    assert found["utility-loss"].value == pytest.approx(quarter, abs=5e-7)
    assert "8 populations" in found["utility-loss"].how
    found = shoal.evaluate(data, path, "utility-loss:minsup=0.5")
    assert found["utility-loss"].value == pytest.approx(half, abs=5e-7)
    assert "4 populations" in found["utility-loss"].how


def test_baselines(data):
    """The table as it is loses no utility; with everything hidden there is no privacy loss."""
    found = shoal.evaluate(data, shoal.anonymize(data, "k-anonymity:k=4"), "privacy-loss", "utility-loss:minsup=0.25")
    assert found["utility-loss"].baselines == pytest.approx({"original": 0.0, "hidden": 0.167838}, abs=5e-7)
    assert found["privacy-loss"].baselines == pytest.approx({"original": 0.311278, "hidden": 0.0}, abs=5e-7)


def test_divergence_of_disjoint_distributions_is_one():
    import numpy as np

    assert divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1
