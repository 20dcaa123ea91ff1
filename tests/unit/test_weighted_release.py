"""What survey weights do to a release: risk by them, weighted answers, and weights that are published."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotDefined, ParameterError, VerificationError
from shoal.publishing.columns import published_columns
from shoal.publishing.weights import check_weight_column
from shoal.reports.limits import limits

ROLES = {"quasi": ["age", "sex"], "sensitive": ["ill"], "kinds": {"age": "numeric"}}
K = "k-anonymity:k=5"


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    drawn = {"age": rng.integers(20, 50, 150), "sex": rng.choice(list("fm"), 150), "ill": rng.choice(list("abc"), 150)}
    return pl.DataFrame({**drawn, "w": np.round(rng.uniform(5, 90, 150), 1)})


@pytest.fixture(scope="module")
def data(table: pl.DataFrame) -> shoal.Dataset:
    return shoal.read(table, **ROLES, weight="w")


@pytest.fixture(scope="module")
def release(data: shoal.Dataset) -> shoal.Release:
    return shoal.anonymize(data, K, algorithm="optimal", seed=1, publish_weights="means")


RISKS = ("global-risk", "highest-individual-risk", "expected-reidentifications", "population", "smallest-population")


def test_weights_of_one_give_the_unweighted_figures(table: pl.DataFrame) -> None:
    counted = shoal.diagnose(shoal.read(table.with_columns(w=pl.lit(1.0)), **ROLES, weight="w"))
    plain = shoal.diagnose(shoal.read(table.drop("w"), **ROLES))
    assert counted["population"].value == len(table) and counted["smallest-population"].value == plain["k"].value
    assert counted["highest-individual-risk"].value == plain["highest-risk"].value
    assert counted["global-risk"].value == pytest.approx(plain["average-risk"].value)
    assert [each for each in counted if each.name in {each.name for each in plain}] == list(plain)


def test_two_records_of_half_the_weight_stand_for_the_same_people(data: shoal.Dataset, table: pl.DataFrame) -> None:
    halves = pl.concat([table.with_columns(w=pl.col("w") / 2)] * 2)
    split = shoal.read(halves, **ROLES, weight="w")
    np.testing.assert_allclose(split.summary.population, data.summary.population)
    assert split.summary.keys.tolist() == data.summary.keys.tolist()
    one, other = (shoal.diagnose(each) for each in (data, split))
    for name in ("population", "smallest-population"):
        assert one[name].value == pytest.approx(other[name].value)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_the_risk_of_a_release_and_of_its_file_by_the_weights(
    data: shoal.Dataset, tmp_path: Path, algorithm: str
) -> None:
    made = shoal.anonymize(data, K, algorithm=algorithm, seed=1)
    found = shoal.attack(data, made, "individual-risk", "log-linear", "population-uniqueness", "journalist")
    classes = made.weighted()
    assert classes.population is not None and classes.population.sum() == pytest.approx(data.summary.population.sum())
    evaluated = shoal.evaluate(data, made, "ncp")
    assert evaluated["expected-reidentifications"].value == pytest.approx(found["individual-risk"].detail["expected"])
    assert found["individual-risk"].success < found["journalist"].success * 1.5
    path = tmp_path / "out.csv"
    made.write(path)
    assert "individual" not in path.with_name("out.csv.manifest.json").read_text()
    if algorithm == "optimal":  # its classes do not overlap, so the file tells who is where
        again = shoal.attack(data, path, "individual-risk")[0]
        assert again.detail == pytest.approx(found["individual-risk"].detail)


def test_hidden_and_missing_values_are_wildcards_only_where_asked() -> None:
    table = pl.DataFrame({"a": ["x", "x", None, "y", "y", "z"], "w": [10.0, 20, 30, 40, 50, 60]})
    data = shoal.read(table, quasi=["a"], weight="w")
    made = shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", seed=1)
    strict, wild, half = shoal.attack(
        data,
        made,
        "individual-risk",
        "individual-risk:counting=wildcard",
        "individual-risk:counting=wildcard,alpha=0.5",
    )
    assert strict.worst > half.worst > wild.worst
    found = shoal.diagnose(data)
    assert found["global-risk"].value == pytest.approx(strict.success)
    assert found["global-risk-wildcard"].value == pytest.approx(wild.success)


def test_published_weights_are_one_for_a_class_and_keep_every_margin(
    release: shoal.Release, table: pl.DataFrame, data: shoal.Dataset
) -> None:
    frame = release.frame
    assert frame.columns == ["age", "sex", "ill", "w"]
    assert frame.group_by("age", "sex").agg(pl.col("w").n_unique())["w"].max() == 1
    for sex in "fm":
        assert frame.filter(sex=sex)["w"].sum() == pytest.approx(table.filter(sex=sex)["w"].sum())
    assert shoal.query(release, where={"sex": "f"}).weighted == pytest.approx(
        shoal.query(data, where={"sex": "f"}).weighted
    )
    truth = shoal.query(data, "mean", "age").weighted
    assert truth == pytest.approx((table["age"] * table["w"]).sum() / table["w"].sum())
    assert shoal.query(release, "mean", "age").weighted == pytest.approx(truth, rel=0.1)
    analysis = shoal.evaluate(data, release, "ncp", analyses=["count where sex = f"])["count where sex = f"]
    assert analysis.detail["weighted truth"] == pytest.approx(analysis.detail["weighted estimate"])


def test_they_are_the_same_on_duckdb_and_verified_from_the_file(table: pl.DataFrame, tmp_path: Path) -> None:
    contents = []
    for engine in ("embedded", "duckdb"):
        data = shoal.read(table, **ROLES, weight="w", engine=engine)
        made = shoal.anonymize(data, K, algorithm="mondrian", seed=1, publish_weights="scaled:5")
        path = tmp_path / f"{engine}.csv"
        made.write(path)
        contents.append(path.read_bytes())
        figures = shoal.diagnose(data)
        contents.append([figures[name].value for name in RISKS])
    assert contents[:2] == contents[2:]
    weights = pl.read_csv(path)["w"]
    assert (weights % 5 == 0).all() and abs(weights.sum() - table["w"].sum()) < 100
    assert all(finding.holds is not False for finding in shoal.verify(path))
    assert shoal.query(path).weighted == weights.sum()
    stated = json.loads(path.with_name("duckdb.csv.manifest.json").read_text())
    assert stated["weights"] == {"column": "w", "scaled": True, "base": 5.0}


def test_what_is_left_out_is_scaled_up(data: shoal.Dataset, table: pl.DataFrame) -> None:
    made = shoal.anonymize(
        data, "k-anonymity:k=3", algorithm="datafly", suppression=0.2, seed=1, publish_weights="scaled"
    )
    assert made.suppressed and made.frame["w"].sum() == pytest.approx(table["w"].sum())


def test_wrong_weights_are_not_handed_out(release: shoal.Release, data: shoal.Dataset, table: pl.DataFrame) -> None:
    other = replace(release.recoding.weights, values=release.recoding.weights.values + 1)
    with pytest.raises(VerificationError, match="'w'"):
        check_weight_column(release, replace(release.recoding, weights=other))
    for wanted in ("raw", "means:", "means:0", "means:-5", "scaled:x"):
        with pytest.raises(ParameterError, match="means or scaled"):
            shoal.anonymize(data, K, algorithm="optimal", seed=1, publish_weights=wanted)
    bare = shoal.read(table.drop("w"), **ROLES)
    with pytest.raises(ParameterError, match="no weights to publish"):
        shoal.anonymize(bare, K, algorithm="optimal", seed=1, publish_weights="means")
    with pytest.raises(NotDefined, match="no survey weights"):
        shoal.attack(bare, shoal.anonymize(bare, K, algorithm="optimal", seed=1), "individual-risk")
    with pytest.raises(ParameterError, match="generalized"):
        shoal.anonymize(data, "distinct-l-diversity:l=2", algorithm="anatomy", seed=1, publish_weights="means")


def test_the_commands_and_the_report_say_it(table: pl.DataFrame, tmp_path: Path, commands) -> None:
    source, out = tmp_path / "survey.csv", tmp_path / "out.csv"
    table.write_csv(source)
    roles = ("--quasi", "age,sex", "--sensitive", "ill", "--weight", "w", "--kind", "age=numeric")
    shown = commands.run("diagnose", source, *roles)
    assert "By the weights, the records stand for 6,758 people" in shown.out, shown.out
    ran = commands.run(
        "anonymize", source, "-o", out, *roles, "--k", "5", "--algorithm", "optimal", "--publish-weights", "means:1"
    )
    assert ran.code == 0 and "means of classes: w (weight)" in ran.out.replace("Means", "means"), ran.out + ran.err
    assert "Count in the population, by the weights:" in commands.run("query", out, "--where", "sex = f").out


def test_the_report_says_what_published_weights_tell(release: shoal.Release, data: shoal.Dataset) -> None:
    told = dict(limits(release, (), published_columns(data, release), unverified=False))
    assert "Every record has the mean weight of its class" in told["survey weights"]
    hidden = shoal.anonymize(data, K, algorithm="optimal", seed=1)
    assert "survey weights" not in dict(limits(hidden, (), published_columns(data, hidden), unverified=False))


def test_the_weight_of_somebody_who_is_alone_in_a_class_is_not_published() -> None:
    table = pl.DataFrame({"age": [30] * 4 + [70], "town": ["a"] * 4 + ["b"], "weight": [10.0, 12, 14, 16, 777]})
    data = shoal.read(table, quasi=["age", "town"], weight="weight")
    with pytest.raises(ParameterError, match="1 class of the release has one person only"):
        shoal.anonymize(data, "k-anonymity:k=1", algorithm="optimal", publish_weights="scaled:10")


def test_classes_that_are_published_alike_have_one_weight():
    table = pl.DataFrame({"town": ["x"] * 6, "home": list("abcdef"), "weight": [1.0, 2, 3, 4, 5, 6]})
    data = shoal.read(table, quasi=["town"], household="home", weight="weight")
    release = shoal.anonymize(data, "k-households:k=2", algorithm="oka", publish_weights="means", seed=1)
    assert release.frame["weight"].to_list() == [3.5] * 6


def test_the_middle_of_huge_numbers_is_no_infinity():
    table = pl.DataFrame({"debt": [-1.7e308, -1.7e308, 1.0], "weight": [0.25, 0.5, 1.0]})
    data = shoal.read(table, quasi=["debt"], weight="weight")
    with np.errstate(over="raise"):
        assert shoal.query(data, "mean", "debt", where={"debt": 1.0}).weighted == 1.0
