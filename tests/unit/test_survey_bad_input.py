"""Bad input of surveys, by the command: refused or explained by count and column, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.cli import main

BASE = ["--quasi", "age,sex,region", "--weight", "weight", "--household", "home", "--person", "who", "--k", "2"]
SECRET = "Quetzal"


def survey() -> pl.DataFrame:
    rows = range(40)
    return pl.DataFrame(
        {
            "age": [20 + row % 4 for row in rows], "sex": ["fm"[row % 2] for row in rows],
            "region": [f"{SECRET} {row // 4 % 3}" for row in rows], "weight": [str(10 + row // 2) for row in rows],
            "who": [f"{SECRET} person {row // 2}" for row in rows],
            "home": [f"{SECRET} home {row // 4}" for row in rows],
        }
    )  # fmt: skip


def at(name: str, places: list[int], value: str | None) -> pl.DataFrame:
    """The survey with another value in some rows of a column."""
    table = survey()
    changed = [value if place in places else each for place, each in enumerate(table[name].to_list())]
    return table.with_columns(pl.Series(name, changed))


CASES: dict[str, tuple[pl.DataFrame, list[str], tuple[str, ...]]] = {
    "weights are missing": (at("weight", [0, 1, 5], None), [], ("'weight'", "3 of 40")),
    "weights are zero": (at("weight", [4, 5], "0"), [], ("'weight'", "2 of 40")),
    "weights are negative": (at("weight", [6, 7], "-3"), [], ("'weight'", "2 of 40")),
    "weights are no numbers": (at("weight", [8], "heavy"), [], ("'weight'",)),
    "weights of a person differ": (at("weight", [8], "99"), [], ("'weight'", "1 person")),
    "a person in two households": (at("home", [3], f"{SECRET} home 9"), [], ("'who'", "'home'", "1 person")),
    "household variables that differ": (
        at("region", [3], f"{SECRET} 9"), ["--household-variables", "region"], ("'region'", "1 of 10"),
    ),
    "importance of an unknown column": (
        survey(), ["--algorithm", "cell-suppression:importance=height=2"], ("importance", "'height'"),
    ),
    "a link of an unknown column": (survey(), ["--algorithm", "cell-suppression:linked=age=height"], ("'height'",)),
    "combinations of more columns than there are": (
        survey(), ["--model", "k-combinations:k=2,size=4", "--algorithm", "optimal"], ("4", "3"),
    ),
    "a stratum that is too small": (
        at("region", [0, 1, 2, 3], f"{SECRET} far"),
        ["--model", "k-anonymity:k=3", "--algorithm", "cell-suppression:strata=region"],
        ("'region'", "1 of 4", "4 records"),
    ),
    "a stratum too small to aggregate": (
        at("region", [0, 1], f"{SECRET} far"),
        ["--algorithm", "microaggregation:columns=age,k=3,strata=region"], ("strata", "k = 3", "2 records"),
    ),
    "k in households without a column of them": (
        survey().drop("home"), ["--model", "k-households:k=2"], ("--household",),
    ),
    "k-map by weights without weights": (survey().drop("weight"), ["--model", "estimated-k-map:k=20"], ("--weight",)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_and_nothing_is_written(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, options, words = CASES[case]
    table.write_csv(tmp_path / "survey.csv")
    given = list(BASE)
    for name, option in (("home", "--household"), ("weight", "--weight")):
        if name not in table.columns:
            place = given.index(option)
            del given[place : place + 2]
    if any("microaggregation" in option or option.startswith("k-anonymity") for option in options):
        del given[given.index("--k") :]  # which is short for that model
    (tmp_path / "out.csv").write_bytes(b"an older release")
    command = ["anonymize", str(tmp_path / "survey.csv"), "-o", str(tmp_path / "out.csv"), "--overwrite"]
    with pytest.raises(SystemExit) as end:
        main([*command, *given, *options])
    told = capsys.readouterr().err
    assert end.value.code in (2, 3), told
    flat = " ".join(told.split())
    assert all(word in flat for word in words), flat
    assert SECRET not in told and "heavy" not in told
    assert {path.name for path in tmp_path.iterdir()} == {"survey.csv", "out.csv"}
    assert (tmp_path / "out.csv").read_bytes() == b"an older release"
