"""What must hold of survey weights: those that are all 1 say nothing, and a record of weight 2 is two of weight 1."""

from __future__ import annotations

import polars as pl
import pytest
from counts import LONG, count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.adversary.individual_risk import individual_risk
from shoal.adversary.log_linear import cell_means
from shoal.core.run import Run

ROWS = st.lists(
    st.tuples(st.integers(20, 24), st.sampled_from("fm"), st.sampled_from([1.0, 2.0, 2.0, 7.5])),
    min_size=2,
    max_size=40,
)
NAMES = ("age", "sex", "weight")


def read(rows: list[tuple[int, str, float]], **more: str) -> shoal.Dataset:
    table = pl.DataFrame(rows, schema=dict(zip(NAMES, (pl.Int64, pl.String, pl.Float64), strict=True)), orient="row")
    return shoal.read(table if more else table.drop("weight"), quasi=["age", "sex"], **more)


@given(ROWS)
@settings(max_examples=count(10, 100), deadline=None)
def test_weights_that_are_all_one_give_the_figures_without_weights(rows: list[tuple[int, str, float]]) -> None:
    ones = [(age, sex, 1.0) for age, sex, _ in rows]
    plain, weighted = shoal.diagnose(read(ones)), shoal.diagnose(read(ones, weight="weight"))
    for finding in plain:
        assert weighted[finding.name].value == finding.value, finding.name
    assert weighted["population"].value == len(rows) and weighted["smallest-population"].value == plain["k"].value
    assert weighted["highest-individual-risk"].value == pytest.approx(plain["highest-risk"].value)
    assert weighted["global-risk"].value == pytest.approx(plain["average-risk"].value)
    level = shoal.models.EstimatedKMap(k=1).measure(read(ones, weight="weight").summary).value
    assert level == plain["k"].value
    women = sum(sex == "f" for _, sex, _ in rows)
    assert shoal.query(read(ones, weight="weight"), where={"sex": "f"}).weighted == women


@given(ROWS)
@settings(max_examples=count(10, 100), deadline=None)
def test_a_record_of_weight_two_is_two_of_weight_one(rows: list[tuple[int, str, float]]) -> None:
    split = []
    for age, sex, weight in rows:
        split += [(age, sex, 1.0)] * 2 if weight == 2 else [(age, sex, weight)]
    whole, parts = read(rows, weight="weight"), read(split, weight="weight")
    before, after = shoal.diagnose(whole), shoal.diagnose(parts)
    for name in ("population", "smallest-population", "classes"):
        assert before[name].value == pytest.approx(after[name].value), name
    one, other = whole.summary, parts.summary
    assert one.population.tolist() == pytest.approx(other.population.tolist())
    simple = [individual_risk(each.population * 0 + 1, each.population, "simple").tolist() for each in (one, other)]
    assert simple[0] == pytest.approx(simple[1])
    fitted = [cell_means(each.keys, each.population, interactions=False, run=Run()).tolist() for each in (one, other)]
    assert fitted[0] == pytest.approx(fitted[1])
    for where in ({"sex": "f"}, {"age": 20}):
        assert shoal.query(whole, where=where).weighted == pytest.approx(shoal.query(parts, where=where).weighted)
    mean = [shoal.query(data, "mean", "age").weighted for data in (whole, parts)]
    assert mean[0] == pytest.approx(mean[1])


@pytest.mark.skipif(not LONG, reason="they belong to the long suite: make test-long")
@pytest.mark.parametrize(
    ("quasi", "sdcmicro", "strict"),
    [
        (["sex", "age", "race", "marital-status", "education"], 1_465, 8_019),
        (
            ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
             "salary-class"],
            14_048, 35_529,
        ),
    ],
)  # fmt: skip
def test_fewer_cells_of_adult_are_hidden_than_by_sdcmicro(quasi: list[str], sdcmicro: int, strict: int) -> None:
    table = shoal.samples.adult().drop("education-num")
    data = shoal.read(table.select(quasi), quasi=quasi)
    loose = shoal.anonymize(data, "wildcard-k-anonymity:k=5", algorithm="cell-suppression", seed=1).recoding.facts
    assert sum(loose["hidden"].values()) < sdcmicro
    facts = shoal.anonymize(data, "k-anonymity:k=5", algorithm="cell-suppression", seed=1).recoding.facts
    assert facts["bound"] <= facts["cost"] <= strict
