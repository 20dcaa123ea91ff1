"""Anonymizer: what scikit-learn asks of a step, and what Shoal promises of it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from counts import count
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import shoal
from shoal.core.intervals import ends
from shoal.errors import VerificationError


def people(count: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame({"age": draw.integers(20, 60, count), "sex": draw.choice(["F", "M"], count)})


def test_parameters_are_those_of_a_step() -> None:
    step = shoal.Anonymizer(models=["k-anonymity:k=3"], quasi=["age"])
    assert step.get_params()["models"] == ["k-anonymity:k=3"] and step.get_params()["algorithm"] == "datafly"
    assert step.set_params(algorithm="optimal") is step and clone(step).get_params() == step.get_params()
    with pytest.raises(NotFittedError):
        step.transform(people(10, 1))


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
@pytest.mark.parametrize("frame", [lambda table: table, pl.DataFrame], ids=["pandas", "polars"])
def test_rows_keep_their_order(algorithm: str, frame) -> None:
    table, new = people(1000, 1), people(4000, 2)
    step = shoal.Anonymizer(models=["k-anonymity:k=5"], algorithm=algorithm, seed=1)
    shown = step.fit_transform(frame(table))
    assert isinstance(shown, type(frame(table))) and list(shown.columns) == ["age", "sex"]
    for made, given in ((shown, table), (step.transform(frame(new)), new)):
        for label, age in zip(made["age"], given["age"], strict=True):
            low, high = ends(label)
            assert label == "*" or low <= age <= high
        if made is shown:
            assert pl.DataFrame(made).group_by("age", "sex").len()["len"].min() >= 5
    published = sorted(pl.DataFrame(step.release_.frame).rows())
    assert sorted(pl.DataFrame(shown).rows()) == published
    with pytest.raises(VerificationError):  # what is published is another matter
        shoal.apply(step.release_, frame(people(3, 3)))


def test_records_that_are_withheld_have_no_value() -> None:
    table = pd.DataFrame({"age": [20] * 9 + [50], "sex": ["F"] * 10, "note": list("abcdefghij")})
    step = shoal.Anonymizer(quasi=["age", "sex"], algorithm="optimal", suppression=0.1, hierarchies={"age": "ordering"})
    shown = step.fit_transform(table)
    assert step.release_.suppressed == 1
    assert shown.iloc[9].isna().all() and list(shown["note"][:9]) == list("abcdefghi")


def test_a_pipeline_that_learns_from_bounds() -> None:
    table = people(600, 1)
    target = (table["age"] > 40).astype(int)
    model = make_pipeline(
        shoal.Anonymizer(models=["k-anonymity:k=5"], numbers="bounds", seed=1),
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=float)), remainder="passthrough"
        ),
        DecisionTreeClassifier(random_state=0),
    )
    model.fit(table, target)
    assert model.score(table, target) > 0.9
    assert pickle.loads(pickle.dumps(model)).predict(table).tolist() == model.predict(table).tolist()


def test_arrays_and_features() -> None:
    draw = np.random.default_rng(1)
    numbers = draw.integers(0, 30, (200, 2))
    step = shoal.Anonymizer(models=["k-anonymity:k=5"], numbers="midpoint", seed=1).fit(numbers)
    assert step.n_features_in_ == 2
    shown = step.fit_transform(numbers)
    assert isinstance(shown, np.ndarray) and shown.dtype == float and shown.shape == (200, 2)
    assert step.get_feature_names_out().tolist() == ["x0", "x1"]
    with pytest.raises(ValueError, match="features"):
        step.transform(numbers[:, :1])
    step.fit(people(100, 1))
    assert step.feature_names_in_.tolist() == ["age", "sex"]
    with pytest.raises(ValueError, match="feature names"):
        step.transform(people(100, 1).rename(columns={"age": "years"}))


EXPECTED = {"check_fit2d_1sample": "one person cannot hide among others: no release of one record is 5-anonymous"}
"""What scikit-learn asks of every estimator and this one cannot do."""


def test_an_array_that_mixes_types_names_no_cell() -> None:
    mixed = np.array([[1, "a"], ["Smith", "b"]], object)
    with pytest.raises(TypeError, match="all texts or all numbers") as raised:
        shoal.Anonymizer(models=["k-anonymity:k=1"]).fit(mixed)
    assert "Smith" not in str(raised.value) and raised.value.__suppress_context__


def test_scikit_learns_own_checks() -> None:
    step = shoal.Anonymizer(models=["k-anonymity:k=5"], numbers="midpoint", seed=1)
    results = check_estimator(step, expected_failed_checks=EXPECTED, on_skip=None)
    assert {each["check_name"] for each in results if each["status"] == "xfail"} == set(EXPECTED)
    assert sum(each["status"] == "passed" for each in results) > 40


@pytest.mark.parametrize("algorithm", ["datafly", "optimal", "mondrian"])
def test_cross_validation_of_a_pipeline(algorithm: str) -> None:
    """Folds smaller than k, values that only a test fold has, and a missing value."""
    table = people(300, 1).assign(town=[f"t{place % 7}" for place in range(299)] + ["only here"])
    table.loc[0, "town"] = None
    target = (table["age"] > 40).astype(int)
    model = make_pipeline(
        shoal.Anonymizer(models=["k-anonymity:k=5"], numbers="midpoint", algorithm=algorithm, seed=1),
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=float)), remainder="passthrough"
        ),
        DecisionTreeClassifier(random_state=0),
    )
    folds = list(StratifiedKFold(100).split(table, target))  # of three records; the odd ones in the first and the last
    scores = cross_val_score(model, table, target, cv=folds[:: count(9, 1)], error_score="raise")
    assert scores.mean() > 0.8


def test_two_rows_are_shown_as_the_release_would_show_them() -> None:
    table = people(500, 1)
    step = shoal.Anonymizer(models=["k-anonymity:k=5"], algorithm="mondrian", seed=1)
    shown = step.fit_transform(table)
    pair = step.transform(table[7:9])
    for made, whole, age in zip(pair["age"], shown["age"][7:9], table["age"][7:9], strict=True):
        low, high = ends(made)
        assert low <= age <= high and made in set(shown["age"]) and whole in set(shown["age"])
    odd = step.transform(pd.DataFrame({"age": [25, 200], "sex": ["X", "F"]}))
    assert odd["age"].isna().tolist() == [False, True] and odd["sex"].tolist() == ["X", "F"]
