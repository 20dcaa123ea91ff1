"""Codes are not quantities: few whole numbers are categories unless somebody says otherwise, and a note tells which."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.core.schema import Kind
from shoal.parsing.codes import are_codes

COUNT = 600


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "roof": draw.integers(1, 10, COUNT),
            "walls": draw.integers(1, 4, COUNT),
            "sex": draw.integers(1, 3, COUNT),
            "children": draw.integers(0, 9, COUNT),
            "age": draw.integers(20, 70, COUNT),
            "region": draw.integers(1, 25, COUNT),
        }
    )


def columns(data):
    return {column.name: column.kind for column in data.schema.columns}


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_few_whole_numbers_are_categories_and_a_note_says_so(table, engine):
    pytest.importorskip("polars" if engine == "embedded" else engine)
    data = shoal.read(table, quasi=table.columns, engine=engine)
    kinds = columns(data)
    assert [kinds[name] for name in ("roof", "walls", "sex", "region")] == [Kind.CATEGORICAL] * 4
    assert kinds["children"] is kinds["age"] is Kind.NUMERIC
    assert data.notes == (
        "columns 'roof', 'walls', 'region': a few whole numbers each, taken as codes; where they are quantities, say "
        "--kind COLUMN=numeric",
    )


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member", "optimal"])
def test_no_interval_of_codes_is_published(table, algorithm):
    data = shoal.read(table.select("roof", "walls", "sex", "age"), quasi=["roof", "walls", "sex", "age"])
    frame = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm=algorithm, seed=1).frame
    known = {str(number) for number in range(10)}
    for name in ("roof", "walls", "sex"):
        assert {str(value) for value in frame[name]} <= known | {"*"}


def test_whoever_says_numeric_gets_quantities(table):
    data = shoal.read(table.select("roof", "age"), quasi=["roof", "age"], kinds={"roof": "numeric"})
    assert columns(data)["roof"] is Kind.NUMERIC and not data.notes
    with_tree = shoal.read(table, quasi=["roof"], hierarchies={"roof": "intervals:width=3"})
    assert columns(with_tree)["roof"] is Kind.NUMERIC and not with_tree.notes


def test_one_column_is_named_with_what_to_say():
    draw = np.random.default_rng(3)
    data = shoal.read(pl.DataFrame({"roof": draw.integers(1, 10, COUNT)}), quasi=["roof"])
    assert data.notes == (
        "column 'roof': 9 whole numbers, taken as codes; if they are quantities, say --kind roof=numeric",
    )


def test_the_command_says_which(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.select("roof", "age").write_csv("houses.csv")
    asked = ["anonymize", "houses.csv", "-o", "out.csv", "--quasi", "roof,age", "--k", "5", "--algorithm", "mondrian"]
    for more, expected in (([], True), (["--kind", "roof=numeric", "--overwrite"], False)):
        with pytest.raises(SystemExit) as stop:
            main([*asked, *more])
        shown = capsys.readouterr()
        assert stop.value.code in (0, None)
        assert ("taken as codes" in shown.err + shown.out) == expected


@pytest.mark.parametrize(
    ("heading", "numbers", "records", "codes"),
    [
        ("water", range(1, 9), 4000, True),
        ("HISP", range(5), 4000, True),
        ("q7", [1, 2, 8, 9], 4000, True),
        ("occupation", range(1, 60), 4000, True),
        ("Familienstand", range(1, 6), 4000, True),
        ("rooms", range(1, 9), 4000, False),
        ("education-num", range(1, 17), 4000, False),
        ("Anzahl_Kinder", range(6), 4000, False),
        ("grade", range(1, 7), 4000, False),
        ("alter", range(18, 28), 4000, False),
        ("x", range(1, 14), 4000, False),
        ("x", [10, 20, 30], 4000, False),
        ("x", [0, 2174, 14084], 4000, False),
        ("x", [0.5, 1.0, 1.5], 4000, False),
        ("roof", range(1, 10), 100, False),
    ],
)
def test_which_numbers_are_codes(heading, numbers, records, codes):
    assert are_codes(heading, np.array(list(numbers), float), records) is codes


def test_a_table_of_few_records_has_quantities():
    data = shoal.read(pl.DataFrame({"x": [1, 2, 3, 4] * 5}), quasi=["x"])
    assert columns(data)["x"] is Kind.NUMERIC and not data.notes


def test_a_release_of_codes_is_attacked_and_evaluated_with_a_smaller_table_beside_it(table):
    data = shoal.read(table.select("roof", "sex", "age"), quasi=["roof", "sex", "age"])
    release = shoal.anonymize(data, shoal.KAnonymity(k=5), algorithm="mondrian", seed=1)
    (attempt,) = shoal.attack(data, release, "prosecutor", external=table.select("roof", "sex", "age").head(40))
    assert attempt.worst <= 0.2
    assert shoal.evaluate(data, release, "gcp")["gcp"].value < 1


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_codes_in_texts_are_read_as_numbers(engine):
    """What is no number stays missing, and one number in two spellings is one code."""
    texts = pl.DataFrame({"roof": ["1", "2", "nan", "2.0", "3", ""] * 20})
    data = shoal.read(texts, quasi=["roof"], engine=engine)
    tree = data.schema["roof"].hierarchy
    assert columns(data)["roof"] is Kind.CATEGORICAL
    assert tree.missing and tree.labels[0].tolist()[1:] == ["1", "2", "3"]
    with pytest.raises(shoal.errors.ShoalError):
        shoal.read(texts, quasi=["roof"], engine=engine, missing_rules={"roof": "refuse"})


def test_numbers_that_fit_into_no_whole_number_are_no_codes_and_no_warning_is_shown():
    assert not are_codes("roof", np.array([0.0, 1e300, 1.7e308]), COUNT)


def test_a_code_may_be_asked_for_in_another_spelling():
    data = shoal.read(pl.DataFrame({"roof": ["-0", "2"] * 20}), quasi=["roof"])
    assert columns(data)["roof"] is Kind.CATEGORICAL
    assert [shoal.query(data, where={"roof": asked}).value for asked in ("-0", "0", "2.0", "02")] == [20, 20, 20, 0]


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_numbers_that_are_categories_or_too_large_stand_in_their_order(engine):
    """Ordered distances go by it."""
    months = [str(month) for month in range(1, 13)]
    table = pl.DataFrame({"month": months[::-1], "debt": [-1.7e308, 1.7e308, 1.6e308] * 4})
    data = shoal.read(table, sensitive=["month", "debt"], quasi=[], engine=engine, kinds={"month": "categorical"})
    assert data.schema["month"].hierarchy.labels[0].tolist() == months
    assert [float(text) for text in data.schema["debt"].hierarchy.labels[0]] == [-1.7e308, 1.6e308, 1.7e308]
