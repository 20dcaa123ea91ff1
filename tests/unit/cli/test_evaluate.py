"""`shoal evaluate` as people use it: what is asked, what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.cli.schemas import schema

ROLES = ["--quasi", "age,sex,race", "--sensitive", "occupation"]
JOB = """
[input]
path = "adult.csv"

[columns]
age = {{ role = "quasi" }}
sex = {{ role = "quasi" }}
race = {{ role = "quasi" }}
occupation = {{ role = "sensitive" }}

[policy]
models = ["k-anonymity:k=20"]

[output]
path = "out.csv"

[[analyses]]
name = "working hours"
analysis = "mean(hours-per-week) where age >= 40"
error = {error}

[[analyses]]
analysis = "linear(hours-per-week ~ age + sex)"
overlap = 0.2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("evaluate")
    names = ["age", "sex", "race", "occupation", "hours-per-week", "salary-class"]
    table = shoal.samples.adult().select(names)[:1600]
    table[:1000].write_csv(place / "adult.csv")
    table[1000:].write_csv(place / "held.csv")
    data = shoal.read(place / "adult.csv", quasi=["age", "sex", "race"], sensitive=["occupation"])
    shoal.anonymize(data, "k-anonymity:k=20", algorithm="mondrian", seed=1).write(place / "out.csv")
    return place


@pytest.fixture
def command(capsys):
    """Runs the command; its exit code and what it printed."""

    def run(*words: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["evaluate", *map(str, words)])
        return int(end.value.code or 0), capsys.readouterr().out

    return run


@pytest.fixture
def ran(command, folder):
    return lambda *words: command(folder / "adult.csv", folder / "out.csv", *words)


def test_the_sentence_comes_first_then_columns_then_what_is_left(ran, folder):
    code, text = ran(*ROLES)
    assert code == 0
    assert text.splitlines()[0].startswith("1,000 records")
    assert text.index("published as") < text.index("utility-loss") < text.index("--all")
    assert "all hidden" in text and "gcp" not in text
    code, text = ran(*ROLES, "--all")
    assert code == 0 and "gcp" in text and "highest-risk" in text


def test_json_is_as_its_schema_says(ran, folder):
    code, text = ran(
        *ROLES, "--json", "--analysis", "count where age >= 40", "--target", "salary-class", "--held-out",
        str(folder / "held.csv"), "--learner", "naive-bayes", "--learner", "decision-stump",
    )  # fmt: skip
    assert code == 0
    found = json.loads(text)
    jsonschema.validate(found, schema("evaluate"))
    names = list(found["findings"])
    assert names[:5] == [
        "count where age >= 40", "accuracy-naive-bayes", "accuracy-naive-bayes-held-out", "accuracy-decision-stump",
        "accuracy-decision-stump-held-out",
    ]  # fmt: skip
    for name in names[1:5]:
        assert set(found["findings"][name]["baselines"]) == {"original", "hidden", "majority"}
    assert set(found["findings"]["utility-loss"]["baselines"]) == {"original", "hidden"}
    assert "trained on the release" in found["summary"]


def test_only_some_measures_with_parameters(ran, folder):
    code, text = ran(*ROLES, "--metrics", "utility-loss:minsup=0.3,marginals", "--json")
    assert code == 0
    found = json.loads(text)["findings"]
    assert "utility-loss" in found and "marginals" in found and "gcp" not in found


@pytest.mark.parametrize(("error", "code", "words"), [(0.5, 0, "All 2 analyses survive"), (0.0, 1, "does not survive")])
def test_analyses_of_a_job_file_are_verdicts(command, folder, error, code, words):
    job = folder / "job.toml"
    job.write_text(JOB.format(error=error), encoding="utf-8")
    ended, text = command("--job", job)
    assert ended == code and words in text
    assert "working hours" in text


def test_a_job_with_analyses_is_written_as_it_was_read(folder):
    from shoal.job import load, parse, toml

    job = folder / "job.toml"
    job.write_text(JOB.format(error=0.05), encoding="utf-8")
    made = load(job)
    assert [each.title for each in made.analyses] == ["working hours", "linear(hours-per-week ~ age + sex)"]
    import tomllib

    again = parse(tomllib.loads(toml(made, folder)), folder)
    assert again.analyses == made.analyses


@pytest.mark.parametrize(
    "words",
    [
        ["--analysis", "median(age)"],
        ["--analysis", "mean(wage)"],
        ["--target", "wage"],
        ["--target", "salary-class", "--learner", "c46"],
        ["--learner", "c45"],
        ["--held-out", "held.csv"],
        ["--metrics", "utility-loss:minsup=7"],
    ],
)
def test_bad_words_end_with_2(ran, words):
    code, _ = ran(*ROLES, *words)
    assert code == 2


def test_a_dropped_column_is_said(command, folder, tmp_path):
    other = tmp_path / "other.csv"
    pl.read_csv(folder / "out.csv").drop("hours-per-week").write_csv(other)
    code, text = command(folder / "adult.csv", other, *ROLES, "--analysis", "mean(hours-per-week)")
    assert code == 0 and "is not published" in text
