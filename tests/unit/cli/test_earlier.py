"""`shoal attack --earlier`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli import main

TABLE = pl.DataFrame(
    {"age": [20, 21, 22, 23, 40, 41, 42, 43], "sex": list("fmfmfmfm"), "ill": ["flu", "flu", "hiv", "hiv"] * 2}
)
ROLES = ("--quasi", "age,sex", "--sensitive", "ill")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    TABLE.write_csv(tmp_path / "people.csv")
    data = shoal.read(tmp_path / "people.csv", quasi=["age", "sex"], sensitive=["ill"])
    for name in ("age", "sex"):
        search = shoal.algorithms.Optimal(greatest_levels={name: 0 if name == "sex" else 1})
        shoal.anonymize(data, "k-anonymity:k=2", algorithm=search, seed=1).write(tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0)


def test_attacks_on_several_releases_are_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("attack", "people.csv", "sex.csv", *ROLES, "--json") == 0
    alone = {each["name"] for each in json.loads(capsys.readouterr().out)["attacks"]}
    assert run("attack", "people.csv", "sex.csv", *ROLES, "--json", "--earlier", "age.csv") == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)["attacks"]}
    assert set(found) - alone == {"complementary-release", "composition", "unsorted-matching"}
    assert found["complementary-release"]["success"] >= found["prosecutor"]["success"]


def test_what_cannot_be_laid_beside_has_a_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("attack", "people.csv", "sex.csv", *ROLES, "--attack", "composition") == 2
    assert "no earlier release" in capsys.readouterr().err
    assert run("attack", "people.csv", "sex.csv", *ROLES, "--earlier", "nowhere.csv") == 2
    assert "nowhere.csv" in capsys.readouterr().err
    # a release of other people, by its values: of those whose values contradict one another nothing is learned together
    pl.DataFrame({"age": ["[20-43]"] * 8, "sex": ["*"] * 8, "ill": ["flu"] * 8}).write_csv("strange.csv")
    strange = ("--attack", "composition", "--earlier", "strange.csv", "--json")
    assert run("attack", "people.csv", "sex.csv", *ROLES, *strange) == 0
    (attempt,) = json.loads(capsys.readouterr().out)["attacks"]
    assert attempt["detail"]["contradicted"] > 0
    # more people fit than the release has records
    pl.DataFrame({"age": ["[20-23]"], "sex": ["*"], "ill": ["flu"]}).write_csv("short.csv")
    assert run("attack", "people.csv", "sex.csv", *ROLES, "--attack", "composition", "--earlier", "short.csv") == 2
    assert "more people of the table fit" in capsys.readouterr().err
