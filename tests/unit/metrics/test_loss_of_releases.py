"""NCP, GCP, DM and C_AVG against sums over the published rows."""

import re

import numpy as np
import polars as pl
import pytest
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal

TREE = {"Ulm": "South", "Bonn": "West", "Köln": "West", "Kiel": "North"}
QUASI = ["age", "city"]


def read(table):
    paths = [(city, region, "*") for city, region in TREE.items()]
    return shoal.read(table, quasi=QUASI, hierarchies={"city": shoal.Hierarchy.from_paths("city", paths)})


def cell_cost(column, text, ages):
    """The penalty of one published cell, from its text alone."""
    if column == "city":
        under = sum(text in (city, region, "*") for city, region in TREE.items())
        return 0.0 if under <= 1 else under / len(TREE)
    interval = re.fullmatch(r"\[(\d+)-(\d+)\]", str(text))
    if text == "*":
        return 1.0
    width = int(interval[2]) - int(interval[1]) if interval else 0
    spread = max(ages) - min(ages)
    return min(1.0, width / spread) if spread else 0.0


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=count(17, 60), deadline=None)
def test_against_sums_over_published_rows(seed, k):
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(k, 30))
    table = pl.DataFrame(
        {"age": generator.integers(20, 60, rows).tolist(), "city": generator.choice(list(TREE), rows).tolist()}
    )
    data = read(table)
    release = shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="mondrian")
    frame = release.frame
    found = shoal.evaluate(data, release, "ncp", "gcp", "dm", "c-avg")
    costs = [cell_cost(column, text, table["age"]) for column in QUASI for text in frame[column]]
    assert found["ncp"].value == pytest.approx(sum(costs))
    assert found["gcp"].value == pytest.approx(sum(costs) / (2 * rows))
    sizes = frame.group_by(QUASI).len()["len"]
    assert found["dm"].value == int((sizes**2).sum())
    assert found["c-avg"].value == pytest.approx(rows / (len(sizes) * k))
    assert found["ncp"].detail["city"] == pytest.approx(sum(costs[rows:]) / rows)


def test_records_that_are_left_out_count_in_full(tmp_path):
    table = pl.DataFrame({"age": [20, 20, 30, 60], "city": ["Ulm", "Ulm", "Bonn", "Kiel"]})
    path = tmp_path / "other-tool.csv"
    path.write_text("age,city\n20,Ulm\n20,Ulm\n[20-30],*\n", encoding="utf-8")
    found = shoal.evaluate(read(table), path, "gcp", "dm", "ncp")
    assert found["ncp"].value == pytest.approx(0.25 + 1 + 2)
    assert found["gcp"].value == pytest.approx((0.25 + 1 + 2) / 8)
    assert found["dm"].value == 4 + 1 + 4
    assert found["suppressed"].value == 1


def test_the_table_itself_loses_nothing():
    table = pl.DataFrame({"age": [20, 30, 40], "city": ["Ulm", "Bonn", "Kiel"]})
    data = read(table)
    found = shoal.evaluate(data, shoal.anonymize(data, shoal.KAnonymity(k=1), algorithm="mondrian"))
    assert found["gcp"].value == 0
    assert found["dm"].value == 3
    assert found["c-avg"].value == 1
