"""The risk of surveys: published figures, and what must hold of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

import shoal
from shoal.adversary.individual_risk import individual_risk
from shoal.adversary.log_linear import cell_means, risk_of_uniques
from shoal.adversary.survey_frequencies import frequencies_of, unknown_leaves
from shoal.core.dataset import Dataset
from shoal.core.run import Run

WEIGHTS = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0]
EIGHT = pl.DataFrame(
    {"A": [2, 3, 2, 2, 3, 3, 1, 2], "B": [3, 3, 3, 3, 3, 3, 4, 3], "C": [1, 3, 1, 2, 1, 1, 1, 1], "w": WEIGHTS}
)
APPROXIMATE = [0.01369863, 0.08579129, 0.01369863, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01369863]
TEN = pl.DataFrame(
    {
        "residence": ["urban"] * 4 + ["rural"] + ["urban"] * 5,
        "gender": ["f", "f", "f", "m", "f", "m", "f", "m", "f", "f"],
        "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
        "labour": ["e", "e", "n", "e", "u", "e", "n", "u", "n", "n"],
        "w": [180.0, 180, 215, 76, 186, 76, 180, 215, 186, 76],
    }
)
QUASI = ["residence", "gender", "education", "labour"]


def by_record(data: Dataset, values: np.ndarray) -> np.ndarray:
    """What classes have, record by record."""
    codes = [data.codes(name) for name in data.schema.quasi]
    places = {key: place for place, key in enumerate(zip(*data.summary.keys.tolist(), strict=True))}
    return np.array([values[places[key]] for key in zip(*(column.tolist() for column in codes), strict=True)])


def test_individual_risk_of_eight_rows() -> None:
    data = shoal.read(EIGHT, quasi=["A", "B", "C"], weight="w")
    classes = data.summary
    for method, third in (("approximate", 0.01369863), ("exact", 0.01355297)):
        risks = by_record(data, individual_risk(classes.sizes, classes.population, method))
        expected = [third if place in (0, 2, 7) else each for place, each in enumerate(APPROXIMATE)]
        np.testing.assert_allclose(risks, expected, atol=5e-9)


def test_individual_risk_of_ten_rows() -> None:
    data = shoal.read(TEN, quasi=QUASI, weight="w")
    frequencies = frequencies_of(data.summary)
    risks = by_record(data, individual_risk(frequencies.sample, frequencies.population))
    expected = [0.00542, 0.00542, 0.02510, 0.01256, 0.02825, 0.01256, 0.02901, 0.02510, 0.00740, 0.00740]
    np.testing.assert_allclose(risks, expected, atol=6e-6)
    np.testing.assert_allclose(
        by_record(data, frequencies.population), [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    )


@pytest.mark.parametrize(
    ("rows", "expected", "sizes"),
    [
        ([2, 6], [108, 45.5, 125, 56, 100, 100, 123.5, 108], [3, 1, 4, 2, 2, 2, 1, 3]),
        (range(8), [125, 145.5, 125, 125, 145.5, 145.5, 123.5, 125], [4, 3, 4, 4, 3, 3, 1, 4]),
    ],
)
def test_frequencies_with_missing_keys_by_wildcards(rows, expected: list[float], sizes: list[int]) -> None:
    absent = pl.Series([None if place in rows else value for place, value in enumerate(EIGHT["C"])], dtype=pl.Int64)
    table, quasi = EIGHT.with_columns(C=absent), ["A", "B", "C"]
    data = shoal.read(table, quasi=quasi, weight="w")
    unknown = unknown_leaves(data.summary)
    found = frequencies_of(data.summary, unknown)
    np.testing.assert_allclose(by_record(data, found.population), expected)
    np.testing.assert_allclose(by_record(data, found.sample), sizes)
    strict = frequencies_of(data.summary)
    assert strict.sample.tolist() == data.summary.sizes.tolist()


def test_missing_keys_of_the_guide_with_alpha() -> None:
    gone = [None if place == 3 else value for place, value in enumerate(TEN["education"])]
    idle = [None if place == 3 else value for place, value in enumerate(TEN["labour"])]
    table = TEN.with_columns(education=pl.Series(gone), labour=pl.Series(idle))
    data = shoal.read(table, quasi=QUASI, weight="w")
    unknown = unknown_leaves(data.summary)
    for alpha, expected in ((1.0, (3, 2, 2)), (0.5, (3, 1.5, 1.5))):
        sample = by_record(data, frequencies_of(data.summary, unknown, alpha).sample)
        assert (sample[3], sample[5], sample[7]) == expected


def test_log_linear_risk_of_the_test_table_of_sdcmicro() -> None:
    one = np.array([1, 2, 1, 2, 2, 0, 1, 2, 1, 1], np.int32)
    two = np.array([1, 0, 1, 1, 0, 1, 0, 0, 0, 1], np.int32)
    three = np.array([3, 2, 2, 3, 2, 2, 1, 1, 0, 0], np.int32)
    keys, counts = np.unique(np.stack([one, two, three]), axis=1, return_counts=True)
    means = cell_means(keys, counts.astype(float), interactions=False, run=Run())
    unique, right = risk_of_uniques(means, counts / (100.0 * counts))
    alone = counts == 1
    assert round(unique[alone].sum() / len(counts), 6) == 0.552916
    assert round(right[alone].sum() / len(counts), 7) == 0.7053842


def test_interactions_fit_every_two_way_margin() -> None:
    rng = np.random.default_rng(3)
    keys, counts = np.unique(rng.integers(0, 4, (4, 300)).astype(np.int32), axis=1, return_counts=True)
    amounts = counts * rng.uniform(1, 50, len(counts))
    shape = (4,) * 4
    whole = np.stack([place.ravel() for place in np.indices(shape)]).astype(np.int32)
    every = np.zeros(shape)
    every[tuple(keys)] = amounts
    means = cell_means(whole, every.ravel(), interactions=True, run=Run()).reshape(shape)
    for first in range(4):
        for second in range(first + 1, 4):
            others = tuple(axis for axis in range(4) if axis not in (first, second))
            np.testing.assert_allclose(means.sum(axis=others), every.sum(axis=others), rtol=1e-6)
    assert np.abs(means - every).max() > 1  # and no more than the margins


@pytest.mark.parametrize("share", [1.0, 0.999999, 0.7, 0.5, 0.03, 1e-4])
def test_exact_risk_is_the_mean_of_the_inverse(share: float) -> None:
    sizes = np.array([1, 1.5, 2, 3, 7, 39, 40, 100, 5000])
    risks = individual_risk(sizes, sizes / share)
    for size, risk in zip(sizes.tolist(), risks.tolist(), strict=True):
        mean, _ = quad(
            lambda t, f=size: share * (1 - t) ** (f - 1) / (1 - (1 - share) * t),
            0,
            1,
            epsabs=0,
            limit=400,
            points=[1 / size],
        )
        assert risk == pytest.approx(mean, rel=1e-6)
    assert np.all(risks <= 1 / sizes + 1e-15)
