"""Detection on tables as offices hold them: whatever was planted is found, and no name is called plain."""

from __future__ import annotations

import json
import tomllib
from functools import cache

import polars as pl
import pytest
from counts import LONG
from tables import PERSON, PLANTED, TABLES

import shoal
from shoal.cli import main
from shoal.core.schema import Role
from shoal.errors import PlainColumnError


@cache
def table_of(name):
    """A table that was drawn once for all tests."""
    return TABLES[name]()


@pytest.fixture(scope="module", params=TABLES)
def case(request):
    table = table_of(request.param)
    return request.param, table, shoal.detect(table)


def test_a_table_follows_from_its_seed():
    for make in TABLES.values():
        one = make(seed=5)
        assert one.equals(make(seed=5)) and not one.equals(make(seed=6))


def test_whatever_was_planted_is_found(case):
    name, _, found = case
    suggested = found.roles()
    for role, columns in PLANTED[name].items():
        assert set(columns) <= set(suggested[role]), role
    assert not set(suggested["identifiers"]) - set(PLANTED[name]["identifiers"])


def test_other_seeds_too():
    for name, make in TABLES.items():
        for seed in (11, 12) if LONG else (11,):
            suggested = shoal.detect(make(seed=seed), time_limit=0).roles()
            for role, columns in PLANTED[name].items():
                assert set(columns) <= set(suggested[role]), (name, seed, role)


def test_words_that_mislead_are_not_why():
    found = shoal.detect(table_of("court records"), time_limit=0)
    for column in ("two_year_recid", "c_charge_degree"):
        assert not any("heading" in reason for reason in found[column].reasons)
    assert found["priors_count.1"].role is found["priors_count"].role is Role.QUASI


def test_people_with_several_records_are_counted():
    table = table_of("hospital admissions")
    found = shoal.detect(table, time_limit=0)
    assert found["SSN"].repeats == table["SSN"].n_unique()
    assert any("whose each row is" in reason for reason in found["SSN"].reasons)
    assert found["FIRST"].repeats is None  # two people may have the same name
    assert shoal.detect(table_of("court records"), time_limit=0)["id"].repeats is None


def test_no_value_is_shown(case):
    name, table, found = case
    shown = json.dumps(found.as_dict()) + str(found) + "\n".join(found.words())
    for column in PLANTED[name]["identifiers"]:
        for value in table[column].cast(pl.String).unique():
            assert value.isdigit() or value not in shown  # a number may be among the figures by chance


def test_the_suggested_job_runs_and_its_release_is_anonymous(case, tmp_path, monkeypatch, capsys):
    name, table, _ = case
    monkeypatch.chdir(tmp_path)
    table.write_csv("table.csv")
    # Only a person knows whether two defendants of one name are one.
    said = ["--rows-are-people"] if name == "court records" else []
    for command in (
        ["diagnose", "table.csv", "--detect", "--save-job", "jobs/job.toml", "--json"],
        ["anonymize", "--job", "jobs/job.toml", "--algorithm", "mondrian", "--json", *said],
    ):
        (tmp_path / "jobs").mkdir(exist_ok=True)
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code in (0, None), capsys.readouterr().err
    written = (tmp_path / "jobs/job.toml").read_text(encoding="utf-8")
    job = tomllib.loads(written)
    assert job["input"]["path"] == "../table.csv" and job["policy"]["models"] == [{"name": "k-anonymity", "k": 5}]
    assert all(f"# {column}: {entry['role']}: " in written for column, entry in job["columns"].items())
    quasi = [column for column, entry in job["columns"].items() if entry["role"] == "quasi"]
    release = pl.read_csv(tmp_path / "jobs/table-release.csv", infer_schema=False)
    assert release.group_by(quasi).len()["len"].min() >= 5
    hidden = {column for column, entry in job["columns"].items() if entry["role"] in ("identifier", "entity")}
    assert hidden == {*PLANTED[name]["identifiers"]} and not hidden & {*release.columns}
    people = [column for column, entry in job["columns"].items() if entry["role"] == "entity"]
    assert people == PERSON.get(name, [])


def test_an_option_changes_the_role_that_a_job_gives(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TABLES["hospital admissions"](rows=300, people=200).write_csv("table.csv")
    roles = {"SSN": "identifier", "FIRST": "identifier", "LAST": "identifier", "GENDER": "quasi", "BIRTHDATE": "quasi"}
    columns = "".join(f"[columns.{column}]\nrole = '{role}'\n" for column, role in roles.items())
    job = f"[input]\npath = 'table.csv'\n{columns}[policy]\nmodels = [{{name = 'k-anonymity', k = 5}}]\n"
    (tmp_path / "job.toml").write_text(f"{job}[output]\npath = 'out.csv'\n", encoding="utf-8")
    quick = ("--algorithm", "mondrian", "--json")
    with pytest.raises(SystemExit) as stop:
        main(["anonymize", "--job", "job.toml", "--person", "SSN", "--allow-plain", "AGE_AT_YEAR_END", *quick])
    assert stop.value.code in (0, None)
    assert "200 people" in json.loads(capsys.readouterr().out)["summary"]


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_careless_roles_stop(engine):
    pytest.importorskip(engine if engine != "embedded" else "polars")
    careless = {
        "hospital admissions": ("GENDER", {"SSN", "FIRST", "LAST", "BIRTHDATE"}),
        "court records": ("priors_count", {"id", "name", "first", "last", "dob", "c_case_number", "priors_count.1"}),
        "COVID register": ("PLZ", {"patient_id", "Vorname", "Nachname", "Geburtsdatum", "Telefon"}),
        "panel survey": ("sex", {"pid"}),
        "insurance claims": ("PLZ", {"Versichertennummer", "Name", "E-Mail", "Geburtsdatum", "Gehalt"}),
    }
    for name, (quasi, expected) in careless.items():
        data = shoal.read(table_of(name), quasi=[quasi], engine=engine)
        with pytest.raises(PlainColumnError) as stop:
            shoal.anonymize(data, shoal.KAnonymity(k=5))
        assert stop.value.columns.keys() == expected


def test_nothing_is_written_when_a_run_stops(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TABLES["hospital admissions"](rows=300, people=200).write_csv("table.csv")
    asked = ["anonymize", "table.csv", "-o", "out.csv", "--quasi", "GENDER", "--sensitive", "Diagnosis", "--k", "5"]
    asked += ["--algorithm", "mondrian"]
    with pytest.raises(SystemExit) as stop:
        main(asked)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert all(repr(name) in said for name in ("SSN", "FIRST", "LAST", "BIRTHDATE")) and "--allow-plain" in said
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    with pytest.raises(SystemExit) as stop:
        main(
            [
                *asked,
                "--person",
                "SSN",
                "--identifiers",
                "FIRST,LAST",
                "--allow-plain",
                "BIRTHDATE",
                "--save-job",
                "job.toml",
            ]
        )
    assert stop.value.code in (0, None)
    assert "you allowed it" in capsys.readouterr().out.replace("\n", " ")
    assert shoal.job.load(tmp_path / "job.toml").allow_plain == ("BIRTHDATE",)
    with pytest.raises(SystemExit) as stop:
        main(["anonymize", "--job", "job.toml", "--overwrite", "--json"])
    assert stop.value.code in (0, None)
    assert "you allowed it" in json.loads(capsys.readouterr().out)["notes"][0]
