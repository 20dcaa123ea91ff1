"""Attacks against published and worked figures."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.adversary.rates import Rate, excess, wilson
from shoal.adversary.uniqueness import Sample, uniques

NINE = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


@pytest.mark.parametrize(
    ("successes", "trials", "rate", "error"),
    [
        (60, 100, 0.596301, 0.094298),
        (40, 100, 0.403699, 0.094298),
        (45, 100, 0.451850, 0.095704),
        (0, 50, 0.035674, 0.035674),
    ],
)
def test_wilson(successes: int, trials: int, rate: float, error: float) -> None:
    found = wilson(successes, trials)
    assert (found.value, found.error) == (pytest.approx(rate, abs=5e-7), pytest.approx(error, abs=5e-7))
    low, high = found.interval
    assert 0 <= low <= successes / trials + 1e-12 and successes / trials <= high <= 1


def test_the_excess_over_the_control() -> None:
    found = excess(wilson(60, 100), wilson(45, 100))
    assert (found.value, found.error) == (pytest.approx(0.263524, abs=5e-7), pytest.approx(0.214775, abs=5e-7))
    assert excess(Rate(0.5), Rate(0.5)) == Rate(0.0, 0.0)


def test_two_classes_of_eight_patients() -> None:
    """Diseases 2, 2 and 2, 1, 1: nothing is gained over the mode, and the random guesser has 13 of 32."""
    table = shoal.samples.patients_eight()
    data = shoal.read(table, quasi=["age", "gender", "zip"], sensitive=["disease"], kinds={"zip": "categorical"})
    release = shoal.anonymize(data, shoal.KAnonymity(k=4), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, "homogeneity")
    assert (found.success, found.baseline, found.random) == (1 / 2, 1 / 2, 13 / 32)
    assert not found.gains and found.as_dict()["gains"] is False


def test_skewness_of_49_among_50() -> None:
    """One in a hundred is positive, and 49 of 50 in a class: 98 % instead of 1 %."""
    table = pl.DataFrame(
        {"ward": ["a"] * 50 + ["b"] * 4850, "test": ["+"] * 49 + ["-"] + ["-"] * 4850},
    )
    data = shoal.read(table, quasi=["ward"], sensitive=["test"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=50), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, release, "skewness")
    assert found.worst == pytest.approx(0.97) and found.baseline == 0.0
    assert found.detail["ratio"] == pytest.approx(98) and found.detail["gain"] == pytest.approx(0.97)
    (disclosed,) = shoal.attack(data, release, "disclosure")
    assert disclosed.detail["upward"] == {"people": 50, "values": 1} == disclosed.detail["positive"]
    assert disclosed.success == pytest.approx(50 / 4900)


def test_three_stomach_diseases_are_alike() -> None:
    """Distinct and entropy 3-diverse, and yet "a stomach disease, a low salary"."""
    table = pl.DataFrame(
        {
            "zip": [1, 1, 1, 2, 2, 2],
            "disease": ["gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis"],
            "salary": [3, 4, 5, 6, 8, 11],
        }
    )
    tree = shoal.Hierarchy.from_paths(
        "disease",
        [
            ("gastric ulcer", "stomach", "*"), ("gastritis", "stomach", "*"), ("stomach cancer", "stomach", "*"),
            ("flu", "lungs", "*"), ("bronchitis", "lungs", "*"),
        ],
    )  # fmt: skip
    data = shoal.read(table, quasi=["zip"], sensitive=["disease", "salary"], column_hierarchies={"disease": tree})
    release = shoal.anonymize(data, shoal.EntropyLDiversity(l=3), algorithm="mondrian", seed=1)
    assert shoal.attack(data, release, "homogeneity")[0].worst == pytest.approx(1 / 3)
    (found,) = shoal.attack(data, release, "similarity")
    assert (found.success, found.baseline, found.worst) == (pytest.approx(5 / 6), pytest.approx(4 / 6), 1.0)
    (near,) = shoal.attack(data, release, "similarity:within=1")
    assert (near.success, near.worst) == (pytest.approx(5 / 6), 1.0)
    assert near.baseline == pytest.approx(3 / 6), "3, 4, 5 or 4, 5, 6"


@cache
def sizes() -> np.ndarray:
    return shoal.samples.adult().group_by(NINE).len()["len"].to_numpy().astype(np.int64)


class TestPopulationUniqueness:
    """ARX's published figures for Adult. They are Pitman's at fractions of 0.01 and 0.1, and Zayatz's at 0.2 and 1: its
    solver finds no slide negative binomial there, because it multiplies by what the second equation divides by."""

    @pytest.mark.parametrize(
        ("fraction", "model", "share"),
        [
            (0.01, "pitman", 0.1446083531167384),
            (0.1, "pitman", 0.27684993883653597),
            (0.1, "zayatz", 0.3207402393466189),
            (0.2, "zayatz", 0.3577099234829125),
            (1.0, "zayatz", 0.5142895033485844),
        ],
    )
    def test_adult(self, fraction: float, model: str, share: float) -> None:
        sample = Sample.of(sizes(), fraction)
        found, by = uniques(sample, model)
        assert by == model and found is not None
        assert found / sample.population == pytest.approx(share, abs=5e-8)

    def test_the_rule(self) -> None:
        """A small sample is Pitman's; of a larger one the lower estimate is taken; of a whole population all agree."""
        chosen = {fraction: uniques(Sample.of(sizes(), fraction), "dankar") for fraction in (0.01, 0.2, 1.0)}
        assert chosen[0.01][1] == "pitman"
        lower = min(uniques(Sample.of(sizes(), 0.2), model)[0] or 0 for model in ("zayatz", "snb"))
        assert chosen[0.2][0] == lower
        assert chosen[1.0][0] == sum(sizes() == 1)

    def test_as_an_attack(self) -> None:
        table = shoal.samples.adult().select(NINE)
        data = shoal.read(table, quasi=NINE)
        release = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
        (found,) = shoal.attack(data, release, "population-uniqueness:fraction=0.01")
        assert found.success == pytest.approx(0.14461, abs=5e-6) and found.detail["model"] == "pitman"
        assert found.detail["alone"] == 15512
        (whole,) = shoal.attack(data, release, "population-uniqueness:fraction=1")
        assert whole.success == pytest.approx(0.51429, abs=5e-6) and whole.worst == 1.0
        paired = shoal.anonymize(data, "k-anonymity:k=2", algorithm="mondrian", seed=1)
        (safe,) = shoal.attack(data, paired, "population-uniqueness:fraction=0.01")
        assert (safe.success, safe.worst, safe.above) == (0.0, 0.0, 0.0)


def test_four_patients_and_a_voters_list() -> None:
    """The list has (Female, 21, 17651): it links to exactly one record of the table without names, and to a pair of the
    2-anonymous one."""
    table = shoal.samples.patients_four()
    quasi = ["age", "gender", "zip"]
    data = shoal.read(table, quasi=quasi, sensitive=["disease"], kinds={"zip": "categorical"})
    more = pl.DataFrame({"name": "Eve", "address": "", "gender": "Female", "age": 33, "zip": "99"})
    voters = pl.concat([shoal.samples.voters(), more])
    town = shoal.read(voters, quasi=quasi, identifiers=["name", "address"], kinds={"zip": "categorical"})
    raw = shoal.anonymize(data, shoal.KAnonymity(k=1), algorithm="optimal", seed=1)
    (found,) = shoal.attack(data, raw, "linkage", external=town)
    assert found.success == 1.0 and found.worst == 1.0
    assert found.detail == {
        "listed": 2, "in_table": 1, "fitting": 1, "single": 1, "certain": 1, "mistaken": 0, "disclosed": 1,
    }  # fmt: skip
    hidden = shoal.anonymize(data, shoal.KAnonymity(k=2), algorithm="mondrian", seed=1)
    (found,) = shoal.attack(data, hidden, "linkage", external=town)
    assert (found.success, found.detail["single"], found.detail["certain"]) == (0.5, 0, 0)
