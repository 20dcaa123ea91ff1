"""`shoal diagnose`: questions, queries, pictures and suggested roles."""

from __future__ import annotations

import json

import polars as pl
import pytest

import shoal
from shoal.cli import main

ROLES = ["--quasi", "age,gender,zip", "--sensitive", "disease"]


@pytest.fixture
def patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shoal.samples.patients_eight().write_csv("patients.csv")
    return "patients.csv"


@pytest.fixture
def run(patients, capsys):
    def running(*arguments, roles=ROLES, code=0):
        with pytest.raises(SystemExit) as stop:
            main(["diagnose", patients, *roles, *arguments])
        assert (stop.value.code or 0) == code
        return capsys.readouterr().out

    return running


def test_a_bound_asks_for_borders_beside_the_findings(run):
    found = json.loads(run("--k", "2", "--json", code=1))
    assert found["findings"]["k"] == {"value": 1, "bound": 2, "holds": False, "unit": "records"}
    assert found["question"] == 3
    assert found["positive_border"] == [["gender"]]
    assert found["negative_border"] == [["age"], ["zip"]]
    assert found["calls"] == 3 and found["calls_levelwise"] == 3


@pytest.mark.smoke
def test_each_question_by_what_is_given(run):
    given = {
        1: ["--attributes", "gender", "--k", "2"], 2: ["--attributes", "gender"], 4: [],
        5: ["--attributes", "age", "--k", "2", "--delta", "1"], 6: ["--attributes", "gender", "--delta", "0.25"],
        7: ["--k", "2", "--delta", "0.5"], 8: ["--delta", "0.1"],
        9: ["--attributes", "gender", "--k", "3", "--delta", "ask"],
        10: ["--k", "2", "--delta", "ask"], 11: ["--attributes", "gender", "--delta", "ask"], 12: ["--delta", "ask"],
    }  # fmt: skip
    answers = {question: json.loads(run(*arguments, "--json")) for question, arguments in given.items()}
    assert {question: answer["question"] for question, answer in answers.items()} == {
        number: number for number in given
    }
    assert answers[2]["answer"] == 2 and answers[6]["answer"] == 6 and answers[9]["answer"] == 0.25
    assert answers[11]["answer"] == [[2, 0.0], [6, 0.25]]
    assert {"attributes": ["gender"], "value": 2} in answers[4]["answer"]


@pytest.mark.parametrize(
    "bound",
    [
        ["--l", "2"], ["--l", "2", "--notion", "entropy-l"], ["--l", "2", "--notion", "frequency-l"],
        ["--l", "2", "--notion", "recursive-l", "--c", "3"], ["--t", "0.5"], ["--t", "0.5", "--distance", "ordered"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_notions_of_the_sensitive_attribute(run, bound):
    found = json.loads(run(*bound, "--json", code=1))
    assert found["question"] == 3 and found["sensitive"] == "disease"
    assert found["negative_border"] == [["age"], ["zip"]]


def test_a_question_whose_answer_is_no_ends_with_1(run):
    assert "No: {age}" in run("--attributes", "age", "--ask", "1", "--k", "2", code=1)
    assert "Yes: {gender}" in run("--attributes", "gender", "--ask", "1", "--k", "2")


def test_people_get_tables(run):
    shown = run("--k", "2", "--ask", "3")
    assert "Question 3" in shown and "positive border" in shown and "gender" in shown
    assert "7 sets" in run("--ask", "4")
    assert "2 steps" in run("--attributes", "gender", "--delta", "ask")
    assert "Undecided" in run("--k", "2", "--time-limit", "0", code=1)


def test_wrong_input_ends_with_2(run):
    for wrong in (["--k", "0"], ["--delta", "2"], ["--delta", "some"], ["--ask", "13"], ["--l", "2", "--notion", "m"]):
        run(*wrong, code=2)
    run("--ask", "3", code=2)
    run("--k", "2", "--sql", "klingon", code=2)
    run("--attributes", "gender", "--ask", "2", "--plot", "a.svg", code=2)


def test_the_query_names_the_file_or_the_table_that_is_said(run):
    assert 'FROM "patients"' in run("--k", "2", "--sql", "postgres", code=1)
    assert "FROM `my table`" in run("--k", "2", "--sql", "mysql", "--table", "my table", code=1)
    found = json.loads(run("--k", "2", "--ask", "3", "--sql", "duckdb", "--json"))
    assert found["sql"].startswith("WITH") and found["question"] == 3


@pytest.mark.smoke
def test_pictures(run, tmp_path):
    pytest.importorskip("altair")
    run("--k", "2", "--plot", "lattice.svg", code=1)
    assert "positive border" in (tmp_path / "lattice.svg").read_text()
    run("--attributes", "gender", "--delta", "ask", "--plot", "curve.svg")
    assert "share of records left out" in (tmp_path / "curve.svg").read_text()


def test_a_picture_is_refused_before_any_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.api.reading.read", lambda *_arguments, **_named: pytest.fail("work was begun"))
    (tmp_path / "age.json").write_text("{}")
    for name in ("age.json", "p.bmp", "none/p.svg"):
        run("--k", "2", "--hierarchy", "age=age.json", "--plot", name, code=2)
    assert (tmp_path / "age.json").read_text() == "{}"


def test_detection_needs_no_roles_and_shows_no_value(run):
    shown = run("--detect", roles=[])
    assert "quasi" in shown and "sensitive" in shown and "AIDS" not in shown and "12345" not in shown
    found = json.loads(run("--detect", "--json", roles=[]))
    assert [column["role"] for column in found["columns"]] == ["quasi", "quasi", "quasi", "sensitive"]


def test_a_number_takes_what_it_needs_of_what_is_given(run):
    for number in range(1, 13):
        given = ["--k", "2", "--delta", "0.5", "--ask", str(number), "--json"]
        assert json.loads(run(*given, code=1 if number in (1, 5) else 0))["question"] == number


def test_models_are_measured_beside_the_exposure(run):
    found = json.loads(run("--model", "entropy-l-diversity:l=2", "--json", code=1))["findings"]
    assert found["entropy-l"]["bound"] == 2 and not found["entropy-l"]["holds"] and found["k"]["bound"] is None


def test_every_column_is_looked_at_when_none_is_named(run):
    assert json.loads(run("--k", "2", "--json", roles=[], code=1))["attributes"] == ["age", "gender", "zip", "disease"]


def test_names_cannot_steer_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    odd = "a\x1b[2J\x07"
    pl.DataFrame({odd: [1, 3] * 3, "[red]b": [2, 4] * 3}).write_parquet("o.parquet")
    for arguments in (
        ["diagnose", "o.parquet", "--k", "2"], ["diagnose", "o.parquet", "--ask", "4"],
        ["diagnose", "o.parquet", "--detect"],
        ["hierarchy", "o.parquet", "--column", odd], ["diagnose", "o.parquet", "--quasi", "none"],
        ["anonymize", "o.parquet", "-o", "out.csv", "--quasi", f"{odd},[red]b", "--k", "2", "--algorithm", "optimal"],
        ["verify", "\x1b[2J.csv"],
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            main(arguments)
        shown = capsys.readouterr()
        assert not {"\x1b", "\x07"} & set(shown.out + shown.err), arguments
        assert "a" in shown.out + shown.err


def test_any_model_can_be_asked_about(run):
    found = json.loads(run("--notion", "beta-likeness", "--bound", "5", "--json"))
    assert found["question"] == 3 and found["positive_border"] and found["bound"] == 5
    asked = json.loads(run("--notion", "beta-likeness", "--attributes", "gender", "--json"))
    assert asked["question"] == 2 and asked["answer"] > 0


def test_dependencies(run):
    found = json.loads(run("--dependencies", "--json", "--largest", "1"))
    assert {"determinant": ["zip"], "dependent": "gender"} not in found["found"]
    assert all(each["label"] in ("safe", "unsafe") for each in found["found"])
    assert found["complete"] == 1 and "hint" in found["hint"]
    text = run("--dependencies", "--support", "0.2", "--tolerance", "0.3")
    assert "In 8 records, a column follows" in text and "the attack" in " ".join(text.split())
    values = shoal.samples.patients_eight()["disease"].unique()
    assert not any(value in text for value in values)


def test_dependencies_need_no_roles(run):
    found = json.loads(run("--dependencies", "--json", roles=[]))
    assert found["proven"] and all(each["label"] is None for each in found["found"])
    assert run("--dependencies", "--tolerance", "2", code=2) == ""
