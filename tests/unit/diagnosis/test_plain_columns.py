"""Plain columns: what stops a run before anything is written, what is said, and that no value is."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.survey import alone
from shoal.diagnosis.plain_columns import plain_columns
from shoal.errors import CancelledError, PlainColumnError, SchemaError

ROWS = 600


@pytest.fixture(scope="module")
def people():
    draw = np.random.default_rng(8)
    born = draw.integers(0, 20_000, ROWS)
    return pl.DataFrame(
        {
            "age": 90 - born // 365,
            "sex": draw.choice(["f", "m"], ROWS),
            "amount": draw.normal(100, 20, ROWS),
            "flag": draw.integers(0, 2, ROWS),
        }
    )


def told(table, **roles):
    return plain_columns(shoal.read(table, **{"quasi": ["age", "sex"], **roles})).telling


def anonymized(table, **more):
    return shoal.anonymize(shoal.read(table, quasi=["age", "sex"]), "k-anonymity:k=3", seed=1, **more)


def test_measurements_are_told_in_a_sentence(people):
    release = anonymized(people)
    (note,) = release.notes
    assert note == "2 plain columns are published as they are: 'amount' is almost unique"
    assert "100 % of the records" in release.plain_risk.warning


def test_a_name_stops_the_run_and_no_value_is_shown(people):
    surnames = [f"Zwybel{number % 80}" for number in range(ROWS)]
    table = people.with_columns(pl.Series("LAST", surnames))
    with pytest.raises(PlainColumnError) as stop:
        anonymized(table)
    assert stop.value.columns.keys() == {"LAST"} and stop.value.exit_code == 2
    text = str(stop.value)
    assert "'LAST'" in text and all(option in text for option in ("--identifiers", "--quasi", "--allow-plain"))
    assert "Zwybel" not in text


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (pl.col("age"), "copy of the quasi-identifier 'age'"),
        (pl.col("age").map_elements(lambda age: chr(200 + age), return_dtype=pl.String), "tells the quasi-identifier"),
        (pl.col("age") * 2.5 - 7, "tells the quasi-identifier"),
        (pl.when(pl.int_range(ROWS) == 5).then(0).otherwise(pl.col("age")), "tells the quasi-identifier"),
    ],
    ids=["copy", "letters", "other numbers", "one damaged cell"],
)
def test_twins_of_a_quasi_identifier_stop_the_run(people, what, expected):
    assert expected in told(people.with_columns(what.alias("age.1")))["age.1"]


def test_what_is_coarser_than_a_quasi_identifier_does_not(people):
    assert told(people.with_columns((pl.col("age") // 10).alias("decade"))) == {}


def test_a_birth_date_tells_the_age_and_is_refused_by_its_heading_too(people):
    draw = np.random.default_rng(2)
    days = 365 * (90 - people["age"].to_numpy()) + draw.integers(0, 100, ROWS)
    table = people.with_columns((pl.lit("1925-01-01").str.to_date() + pl.duration(days=pl.Series(days))).alias("day"))
    assert "'age'" in told(table)["day"]
    assert "birth" in told(table.rename({"day": "date_of_birth"}), quasi=["sex"])["date_of_birth"]
    assert told(table, quasi=["sex"]) == {}


def test_what_tells_an_identifier_stops_the_run(people):
    visits = people.with_columns(pl.Series("who", [f"person {number % 150}" for number in range(ROWS)]))
    visits = visits.with_columns(pl.Series("code", [number % 150 * 7 for number in range(ROWS)]))
    assert "identifier 'who'" in told(visits, identifiers=["who"])["code"]


def test_a_copy_in_a_small_table_stops_the_run():
    table = pl.DataFrame({"age": range(20, 32), "age.1": range(20, 32), "flag": [0, 1] * 6, "again": [0, 1] * 6})
    assert told(table, quasi=["age"]).keys() == {"age.1"}


def test_allowed_columns_are_published_and_written_down(people, tmp_path):
    table = people.with_columns(pl.col("age").alias("age.1"))
    release = anonymized(table, allow_plain=["age.1"])
    assert release.frame["age.1"].sort().to_list() == table["age"].sort().to_list()
    assert "'age.1' is there because you allowed it" in release.notes[0]
    stated = json.loads(release.write(tmp_path / "out.csv").read_text())["plain"]
    assert stated == {
        "columns": ["amount", "flag", "age.1"], "allowed": ["age.1"], "almost_unique": ["amount"],
        "not_looked_at": [], "singled_out": ROWS,
    }  # fmt: skip
    assert shoal.verify(tmp_path / "out.csv").holds


def test_allowed_columns_are_plain_ones(people):
    with pytest.raises(SchemaError, match="no column named 'name'"):
        anonymized(people, allow_plain=["name"])
    with pytest.raises(SchemaError, match="'age' is quasi"):
        anonymized(people, allow_plain="age")


def test_what_cannot_be_looked_at_is_said(people):
    table = people.with_columns(pl.Series("many", [[number] for number in range(ROWS)]))
    assert "'many' is of a kind that cannot be looked at" in anonymized(table).notes[0]


def test_nothing_to_say_of_no_plain_column(people):
    assert anonymized(people.select("age", "sex")).notes == ()


def test_records_that_are_dropped_do_not_count(people):
    table = people.with_columns(pl.when(pl.int_range(ROWS) < 500).then(None).otherwise(pl.col("age")).alias("age"))
    data = shoal.read(table, quasi=["age"], missing_rules={"age": "drop"})
    assert plain_columns(data).records == 100 and plain_columns(data).alone == 100


SAMPLES = {
    "adult": ["age", "workclass", "marital-status", "race", "sex", "native-country"],
    "heart_statlog": ["age", "sex", "chest-pain", "resting-blood-pressure"],
    "sonar": ["band-01", "band-20"],
    "haberman": ["age", "operation-year"],
    "patients_eight": ["age", "gender", "zip"],
    "students": ["state", "department"],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_shipped_tables_do_not_stop(name):
    assert told(getattr(shoal.samples, name)(), quasi=SAMPLES[name]) == {}


def test_the_generated_census_does_not_stop():
    table = shoal.samples.census(2000, seed=1)
    for column in table.columns:
        assert told(table, quasi=[column]) == {}, column


def test_the_number_beside_the_education_stops():
    assert told(shoal.samples.adult(), quasi=["age", "education"]).keys() == {"education-num"}


def test_numbers_that_are_none_count_as_missing():
    values = [1.5, float("nan"), None, 1.5, 2.5]
    data = shoal.read(pl.DataFrame({"age": [1, 1, 1, 1, 1], "dose": values}), quasi=["age"])
    found = data.survey(records=5, values=5, run=shoal.Run())
    assert found.present["dose"] == 3 and found.distinct["dose"] == 2 and found.alone == 1


def test_a_run_can_be_cancelled_before_it_looks(people):
    run = shoal.Run()
    run.cancel()
    with pytest.raises(CancelledError):
        plain_columns(shoal.read(people, quasi=["age"]), run=run)


def test_alone_by_its_definition():
    draw = np.random.default_rng(3)
    for width in (1, 2, 3):
        columns = [draw.integers(-1, 4, 40).astype(np.int32) for _ in range(width)]
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        expected = sum(rows.count(row) == 1 for row in rows)
        for order in permutations(columns):
            assert alone(order) == expected
    assert alone([]) == 0
