"""What breaks where features meet that were built apart: people, dates, formats, plain columns, files."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

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
    asked = ("anonymize", "visits.csv", "-o", "out.csv", "--quasi", "age,sex", "--k", "3", "--algorithm", "mondrian")
    by_people = ("--person", "patient", "--identifiers", "born")
    by_rows = ("--identifiers", "patient,born", "--rows-are-people")
    for roles, unit in ((by_people, "people"), (by_rows, "records")):
        code, out, _ = shell(*asked, *roles, "--json")
        assert code == 0 and json.loads(out)["findings"]["k"]["unit"] == unit


def test_a_file_in_which_people_cannot_be_counted_claims_nothing_about_them(shell):
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--person", "patient", "--identifiers", "born")
    code, _, _ = shell("anonymize", "visits.csv", "-o", "out.csv", "--k", "3", "--algorithm", "k-member", *roles)
    assert code == 0
    code, out, _ = shell("attack", "visits.csv", "out.csv", *roles, "--json")
    assert code == 0 and "people cannot be counted without the column 'patient'" in json.loads(out)["summary"]
    code, _, err = shell("attack", "visits.csv", "out.csv", *roles, "--threshold", "0.5")
    assert code == 2 and "people cannot be counted" in err
    for asked in (("verify", "out.csv"), ("evaluate", "visits.csv", "out.csv", *roles)):
        code, out, _ = shell(*asked, "--json")
        assert code == 0 and "3-anonymous by records, not by people" in json.loads(out)["summary"]
