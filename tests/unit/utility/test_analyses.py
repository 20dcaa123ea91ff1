"""Declared analyses: how they are written, what is compared, and what a release cannot answer."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined, ParameterError, SchemaError
from shoal.utility.analyses import Analysis
from shoal.utility.regressions import Fit, fit, overlaps


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    columns = ["age", "sex", "race", "education", "occupation", "hours-per-week", "salary-class"]
    return shoal.samples.adult().select(columns).head(1500)


@pytest.fixture(scope="module")
def data(table) -> shoal.Dataset:
    return shoal.read(table, quasi=["age", "sex", "race"], sensitive=["occupation"])


@pytest.fixture(scope="module")
def release(data) -> shoal.Release:
    return shoal.anonymize(data, "k-anonymity:k=10", seed=1, allow_plain=["education"])


@pytest.mark.parametrize(
    "text",
    ["", "median(age)", "mean", "count(age)", "mean(age) where", "linear(age)", "linear(~ age)", "linear(age ~ sex +)",
     "mean(age ~ sex)", "count where age >= 40; drop table"],
)  # fmt: skip
def test_what_is_no_analysis_is_refused(text, data, release):
    with pytest.raises(ParameterError):
        shoal.evaluate(data, release, "gcp", analyses=[text])


@pytest.mark.parametrize("text", ["mean(wage)", "count where wage >= 4", "linear(age ~ wage)", "logistic(wage ~ age)"])
def test_an_unknown_column_is_named(text, data, release):
    with pytest.raises((SchemaError, ParameterError), match=r"wage|COLUMN"):
        shoal.evaluate(data, release, "gcp", analyses=[text])


def test_the_bound_belongs_to_the_kind():
    with pytest.raises(ParameterError, match="error"):
        Analysis.parsed({"analysis": "count", "overlap": 0.5})
    with pytest.raises(ParameterError, match="overlap"):
        Analysis.parsed({"analysis": "linear(a ~ b)", "error": 0.5})
    with pytest.raises(ParameterError):
        Analysis.parsed({"analysis": "count", "error": "much"})


def test_conditions_are_split_at_and_outside_quotes():
    found = Analysis.parsed('count where job = "cooks and cleaners" and age in 20..30')
    assert found.conditions == ('job = "cooks and cleaners"', "age in 20..30")


def test_queries_are_compared_with_the_truth(data, release, table):
    texts = ["count where age >= 40 and sex = Female", "mean(hours-per-week) where age >= 40", "sum(hours-per-week)"]
    found = shoal.evaluate(data, release, "gcp", analyses=texts)
    truths = [
        table.filter((pl.col("age") >= 40) & (pl.col("sex") == "Female")).height,
        table.filter(pl.col("age") >= 40)["hours-per-week"].mean(),
        table["hours-per-week"].sum(),
    ]
    for finding, truth in zip(found, truths, strict=False):
        assert finding.detail["truth"] == pytest.approx(truth)
        estimate = finding.detail["estimate"]
        assert finding.value == pytest.approx(abs(estimate - truth) / truth)
        assert finding.baselines["original"] == 0
    assert found[0].value < found[0].baselines["hidden"]
    assert found[2].value == 0


def test_linear_equals_numpy_and_scipy(table, data):
    from scipy.stats import linregress

    wanted = linregress(table["age"].to_numpy(), table["hours-per-week"].to_numpy())
    values, counts = np.unique(table.select("age", "hours-per-week").to_numpy(), axis=0, return_counts=True)
    found = fit("linear", values[:, :1].astype(float), values[:, 1].astype(float), counts.astype(float))
    assert found.coefficients == pytest.approx([wanted.intercept, wanted.slope])
    assert found.errors == pytest.approx([wanted.intercept_stderr, wanted.stderr])


def test_logistic_equals_scikit_learn(table):
    from sklearn.linear_model import LogisticRegression

    terms = table.select("age", "hours-per-week").to_numpy().astype(float)
    outcome = (table["salary-class"] == table["salary-class"].max()).to_numpy().astype(float)
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=5000).fit((terms - terms.mean(0)) / terms.std(0), outcome)
    slopes = model.coef_[0] / terms.std(0)
    found = fit("logistic", terms, outcome, np.ones(len(terms)))
    assert found.coefficients[1:] == pytest.approx(slopes, rel=1e-4)
    chance = 1 / (1 + np.exp(-(found.coefficients[0] + terms @ found.coefficients[1:])))
    design = np.column_stack([np.ones(len(terms)), terms])
    information = design.T @ (design * (chance * (1 - chance))[:, None])
    assert found.errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=1e-4)


def test_a_chance_counts_as_both_outcomes():
    terms, outcome = np.array([[0.0], [1.0], [2.0]]), np.array([0.2, 0.5, 0.7])
    apart = np.repeat(terms, 2, axis=0), np.tile([1.0, 0.0], 3), np.array([0.2, 0.8, 0.5, 0.5, 0.7, 0.3]) * 10
    one, other = fit("logistic", terms, outcome, np.full(3, 10.0)), fit("logistic", *apart)
    assert one.coefficients == pytest.approx(other.coefficients) and one.errors == pytest.approx(other.errors)


def test_outcomes_that_are_told_apart_have_no_solution():
    with pytest.raises(NotDefined):
        fit("logistic", np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 0, 1, 1]), np.ones(4))


def test_overlap_of_intervals():
    """[0, 4] and [3, 5] share 1: a quarter of the one, half of the other."""
    from shoal.utility.regressions import WIDTH

    def fit(low, high):
        return Fit(np.array([(low + high) / 2]), np.array([(high - low) / 2 / WIDTH]))

    assert overlaps(fit(0, 4), fit(3, 5))[0] == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert overlaps(fit(0, 4), fit(0, 4))[0] == pytest.approx(1)
    assert overlaps(fit(0, 1), fit(2, 3))[0] == 0
    assert overlaps(fit(0, 1), Fit(np.array([np.nan]), np.array([np.nan])))[0] == 0


def test_regressions_survive_what_is_hardly_changed_and_not_what_is_hidden(data, release):
    texts = ["linear(hours-per-week ~ age + sex)", "logistic(salary-class ~ age + hours-per-week)"]
    found = shoal.evaluate(data, release, "gcp", analyses=texts)
    for finding in found[:2]:
        assert finding.baselines["original"] == pytest.approx(1)
        assert finding.baselines["hidden"] < finding.value <= 1
    assert found[1].detail["hours-per-week"]["overlap"] > 0.9
    shown = json.dumps(found.as_dict())
    assert "Female" not in shown and "Male" not in shown, "coefficients are named by the place of a value"


def test_an_outcome_may_be_a_condition(data, release):
    found = shoal.evaluate(data, release, "gcp", analyses=["logistic(occupation = Sales ~ age + sex)"])[0]
    assert 0 < found.value <= 1
    with pytest.raises(ParameterError, match="two"):
        shoal.evaluate(data, release, "gcp", analyses=["logistic(occupation ~ age)"])


@pytest.mark.parametrize("algorithm", ["anatomy", "slicing", "multiset"])
def test_forms_that_keep_columns_apart(table, algorithm):
    small = shoal.read(
        table.head(300).select("age", "sex", "occupation"), quasi=["age", "sex"], sensitive=["occupation"]
    )
    release = shoal.anonymize(small, "frequency-l-diversity:l=2", algorithm=algorithm, seed=1)
    texts = ["linear(age ~ sex)", "logistic(occupation = Sales ~ age)", "count where occupation = Sales and age >= 40"]
    found = shoal.evaluate(small, release, "suppression-share", analyses=texts)
    assert found[0].value is not None and found[1].value is not None
    if algorithm == "anatomy":  # quasi-identifiers are as they were
        assert found[0].value == pytest.approx(1)


def test_a_dropped_column_is_a_finding(data, release, tmp_path):
    path = tmp_path / "other.csv"
    release.frame.drop("hours-per-week").write_csv(path)
    wanted = [
        {"analysis": "mean(hours-per-week)", "error": 0.1},
        "linear(hours-per-week ~ age)",
        "count where age >= 40",
    ]
    found = shoal.evaluate(data, path, "gcp", analyses=wanted)
    assert found[0].value is None and found[0].holds is False and "not published" in found[0].how
    assert found[1].value is None and found[1].holds is None and "not published" in found[1].how
    assert found[2].value is not None


def test_a_truth_of_nothing(data, release):
    found = shoal.evaluate(data, release, "gcp", analyses=["count where age >= 40 and age <= 10"])[0]
    assert found.value == 0 and found.detail["truth"] == 0


def test_a_bound_is_a_verdict(data, release):
    wanted = [
        {"analysis": "count where age >= 33", "error": 0.5, "name": "adults"},
        {"analysis": "count where age >= 33", "error": 0},
    ]
    found = shoal.evaluate(data, release, "gcp", analyses=wanted)
    assert found["adults"].holds is True and found[1].holds is (found[1].value == 0)


def test_engines_agree(table, tmp_path):
    path = tmp_path / "table.csv"
    table.write_csv(path)
    texts = ["mean(hours-per-week) where age >= 40", "linear(hours-per-week ~ age + sex)"]
    found = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(path, quasi=["age", "sex", "race"], sensitive=["occupation"], engine=engine)
        release = shoal.anonymize(data, "k-anonymity:k=10", algorithm="mondrian", seed=1, allow_plain=["education"])
        found.append(shoal.evaluate(data, release, "utility-loss", "marginals", "two-way-marginals", analyses=texts))
    for one, other in zip(*found, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9), one.name
        assert one.baselines == pytest.approx(other.baselines, rel=1e-9), one.name
