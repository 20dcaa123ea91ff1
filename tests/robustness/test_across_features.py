"""What breaks where features meet that were built apart: people, dates, formats, plain columns, files."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli import main


def visits(people: int = 60, seed: int = 3) -> pl.DataFrame:
    """Several records of most people, dates that can be read in two ways, and decimal commas."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), draw.integers(1, 5, people))
    rows = len(who)
    days, months, years = draw.integers(1, 13, rows), draw.integers(1, 13, rows), draw.integers(1950, 1990, rows)
    return pl.DataFrame(
        {
            "patient": [f"P{place:03}" for place in who],
            "age": draw.integers(20, 70, rows),
            "sex": draw.choice(["F", "M"], rows),
            "born": [f"{d:02}/{m:02}/{y}" for d, m, y in zip(days, months, years, strict=True)],
            "ward": draw.choice(["north", "south"], rows),
            "disease": draw.choice(["cold", "flu", "gout", "hiv"], rows),
            "dose": [f"{amount / 100:.2f}".replace(".", ",") for amount in draw.integers(1000, 9999, rows)],
        }
    )


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder of its own that has the table; gives its exit code and what it wrote."""
    monkeypatch.chdir(tmp_path)
    visits().write_csv("visits.csv")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


def test_the_unit_of_k_is_what_was_counted(shell):
    asked = (
        "anonymize",
        "visits.csv",
        "-o",
        "out.csv",
        "--overwrite",
        "--quasi",
        "age,sex",
        "--k",
        "3",
        "--algorithm",
        "mondrian",
    )
    by_people = ("--person", "patient", "--identifiers", "born")
    by_rows = ("--identifiers", "patient,born", "--rows-are-people")
    for roles, unit in ((by_people, "people"), (by_rows, "records")):
        code, out, _ = shell(*asked, *roles, "--json")
        assert code == 0 and json.loads(out)["findings"]["k"]["unit"] == unit


def test_people_are_counted_beside_the_table_and_by_nobody_who_has_only_the_file(shell):
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--person", "patient", "--identifiers", "born")
    code, _, _ = shell(
        "anonymize", "visits.csv", "-o", "out.csv", "--overwrite", "--k", "3", "--algorithm", "k-member", *roles
    )
    assert code == 0
    code, out, _ = shell("verify", "out.csv", "--json")
    assert code == 0 and "3-anonymous (counted in records, not people)" in json.loads(out)["summary"]
    code, out, _ = shell("evaluate", "visits.csv", "out.csv", *roles, "--json")
    k = json.loads(out)["findings"]["k"]
    assert code == 0 and (k["value"], k["unit"]) == (3, "people")
    code, out, _ = shell("attack", "visits.csv", "out.csv", *roles, "--json", "--threshold", "0.5")
    assert code == 1 and "of the people" in json.loads(out)["summary"]


DATES = ("--date-format", "born=day-first")


def test_a_saved_recoding_keeps_how_dates_and_numbers_are_written(shell):
    roles = ("--quasi", "age,born,dose", "--person", "patient", *DATES)
    asked = ("anonymize", "visits.csv", "-o", "may.csv", "--k", "3", "--algorithm", "mondrian", *roles)
    assert shell(*asked, "--save-recoding", "recoding.json")[0] == 0
    assert shell("apply", "recoding.json", "visits.csv", "-o", "june.csv")[0] == 0
    may, june = (pl.read_csv(name, infer_schema=False).sort(pl.all()) for name in ("may.csv", "june.csv"))
    assert may.equals(june)


@pytest.mark.parametrize("times", [False, True])
def test_new_dates_are_published_as_what_they_are(times):
    def born(seed: int) -> pl.DataFrame:
        days = np.random.default_rng(seed).integers(0, 10_000, 300) * (24 if times else 1)
        first = np.datetime64("1950-01-01T00" if times else "1950-01-01")
        return pl.DataFrame({"born": [str(first + day) + (":30:00" if times else "") for day in days]})

    old, new = born(1), born(2)
    data = shoal.read(old, quasi=["born"])
    release = shoal.anonymize(data, "k-anonymity:k=50", algorithm="optimal", seed=1)
    published, decades = shoal.apply(release, new).frame["born"], new["born"].str.head(3) + "0s"
    assert published.sort().to_list() == decades.sort().to_list()


@pytest.mark.parametrize("engine", ["embedded", "duckdb"])
def test_a_plain_column_that_tells_what_anatomy_keeps_apart_stops(engine):
    table = visits().select("age", "sex", "ward", "disease").with_columns(
        pl.col("disease").alias("reason"), pl.col("disease").replace_strict(["cold", "flu", "gout", "hiv"], [*"abcd"])
        .alias("code"),
    )  # fmt: skip
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"], engine=engine)
    asked = {"algorithm": "anatomy", "seed": 1}
    with pytest.raises(shoal.errors.PlainColumnError) as stop:
        shoal.anonymize(data, "frequency-l-diversity:l=2", **asked)
    assert stop.value.columns.keys() == {"reason", "code"}
    assert "copy of the sensitive attribute 'disease'" in stop.value.columns["reason"]
    shoal.anonymize(data, "frequency-l-diversity:l=2", **asked, allow_plain=["reason", "code"])
    # Where the sensitive value stands in the record, its copy beside it tells nothing more.
    shoal.anonymize(data, "k-anonymity:k=3", algorithm="mondrian", seed=1)


@pytest.mark.parametrize("algorithm", ["slicing", "overlapping-slicing:columns=zip|age+ill|sex+ill", "bucketization"])
def test_a_plain_column_that_tells_what_a_form_keeps_apart_stops(algorithm):
    ill = [value for value in "abcd" for _ in range(8)]
    table = pl.DataFrame(
        {"age": [1, 1, 2, 2] * 8, "sex": list("FM") * 16, "zip": list("xyz") * 10 + ["x", "y"], "ill": ill}
    )
    data = shoal.read(table.with_columns(code=pl.col("ill")), quasi=["age", "sex", "zip"], sensitive=["ill"])
    with pytest.raises(shoal.errors.PlainColumnError, match="kept apart from the records"):
        shoal.anonymize(data, "frequency-l-diversity:l=2", algorithm=algorithm, seed=1)


def test_names_that_turn_up_in_a_plain_column_of_new_records_stop(shell):
    roles = ("--quasi", "age,sex", "--person", "patient", "--identifiers", "born")
    asked = ("anonymize", "visits.csv", "-o", "may.csv", "--k", "3", "--algorithm", "optimal", *roles)
    assert shell(*asked, "--suppression", "0.2", "--save-recoding", "recoding.json")[0] == 0
    table = visits()
    names = ["Mary Smith", "John Miller", "Susan Hill", "Karen Lee", "Paul Green", "Linda Young", "Robert Clark"]
    named = [names[row % len(names)] for row in range(len(table))]
    table.with_columns(ward=pl.Series(named)).write_csv("june-visits.csv")
    code, _, err = shell("apply", "recoding.json", "june-visits.csv", "-o", "june.csv")
    assert code == 2 and "'ward'" in err and not pathlib.Path("june.csv").exists()
    assert not any(name in err for name in names)
    assert shell("apply", "recoding.json", "visits.csv", "-o", "june.csv")[0] == 0


def test_a_log_tells_the_exit_code_of_a_command_that_nobody_reads_on(tmp_path):
    from shoal.cli.journal import with_log

    def ended() -> None:
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        with_log("ended", ended)(log_file=tmp_path / "log.jsonl")
    assert json.loads((tmp_path / "log.jsonl").read_text())["exit"] == 1
