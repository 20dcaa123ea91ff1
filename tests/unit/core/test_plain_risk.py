"""Columns that are published as they are and single people out: said as loudly as the promise, wherever it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import validate

import shoal
from shoal.cli import main, schemas
from shoal.core.plain_risk import PlainRisk

CONDITION = "5-anonymous by age and sex; 2 columns published as they are single out 100 %"


def people(distinct: int = 60) -> pl.DataFrame:
    """Sixty people; so many of them are alone by what is published as it is."""
    alone = [min(row, distinct) for row in range(60)]
    return pl.DataFrame(
        {
            "age": [20 + row % 30 for row in range(60)],
            "sex": ["fm"[row % 2] for row in range(60)],
            "disease": [("flu", "gout", "cold")[row % 3] for row in range(60)],
            "income": [1000 + 7 * each for each in alone],
            "ward": [("north", "south")[each // 2 % 2] for each in alone],
        }
    )


def released(table: pl.DataFrame, k: int = 5) -> Any:
    data = shoal.read(table, quasi=["age", "sex"], sensitive=["disease"])
    return data, shoal.anonymize(data, shoal.KAnonymity(k=k), algorithm="mondrian", seed=1)


@pytest.mark.parametrize(("alone", "k", "above"), [(60, 5, True), (13, 5, True), (12, 5, False), (12, 11, True)])
def test_the_warning_comes_above_the_risk_that_the_policy_accepts(alone: int, k: int, above: bool) -> None:
    _, release = released(people(alone), k)
    risk = release.plain_risk
    assert (risk.singled_out, risk.records, risk.accepted) == (alone, 60, 1 / k)
    assert risk.above is above and bool(risk.warning) is above
    assert ("single out" in repr(release)) is above and ("whoever knows them" in release._repr_html_()) is above


def test_no_plain_column_no_warning() -> None:
    _, release = released(people().drop("income", "ward"))
    assert release.plain_risk is None and repr(release) == "Release(Generalized, 60 of 60 records)"


def test_one_column_is_spoken_of_as_one() -> None:
    risk = PlainRisk(columns=("income",), singled_out=60, records=60, accepted=0.2)
    assert risk.condition == "1 column published as it is singles out 100 %"
    assert risk.warning.startswith(
        "income is published as it is and singles out 100 % of the records: whoever knows it "
    )
    assert risk.warning.endswith("Make it a quasi-identifier, drop it, or round it so that many people share a value.")


def test_without_a_k_the_line_of_one_in_eleven_is_drawn() -> None:
    stated = {"columns": ["income"], "almost_unique": [], "singled_out": 5}
    assert PlainRisk.of(stated, 60, None).accepted == pytest.approx(1 / 11)
    assert not PlainRisk.of(stated, 60, None).above and PlainRisk.of(stated, 50, None).above


def test_every_command_says_it_in_its_first_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, path, recoding = (str(tmp_path / name) for name in ("people.csv", "release.csv", "recoding.json"))
    people().write_csv(source)
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--k", "5", "--algorithm", "mondrian", "--seed", "1")
    made = ("anonymize", source, "-o", path, *roles)
    commands = {
        "anonymize": (*made, "--save-recoding", recoding),
        "evaluate": ("evaluate", source, path, "--metrics", "gcp"),
        "apply": ("apply", recoding, source, "-o", str(tmp_path / "again.csv")),
        "report": ("report", source, path, "-o", str(tmp_path / "report.json"), "--quick"),
    }
    for name, arguments in commands.items():
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        lines = capsys.readouterr().out.splitlines()
        assert not end.value.code
        promise = 1 if name == "report" else 0
        condition = CONDITION if name != "apply" else CONDITION.replace(" by age and sex", "")
        assert condition in lines[promise], name
        assert lines[promise + 1].startswith("Warning: income and ward are published as they are"), name
        with pytest.raises(SystemExit):
            main([*arguments, "--json", *(() if name == "evaluate" else ("--overwrite",))])
        printed = json.loads(capsys.readouterr().out)
        validate(printed, schemas.schema(name))
        assert printed["plain"]["above"] and printed["plain"]["singled_out"] == 60 and printed["plain"]["warning"]


def test_the_first_page_of_a_report_has_it(tmp_path: Path) -> None:
    data, release = released(people())
    release.write(tmp_path / "release.csv")
    report = shoal.report(data, tmp_path / "release.csv", quick=True)
    assert report.sentences[1].startswith(f"It is {CONDITION}; ")
    first = report.html().partition('<ol class="sentences">')[0]
    assert f'<p class="warning">{report.plain.warning}</p>' in first and '<span class="mark no">✗ 2 columns' in first
    data, release = released(people(3))
    release.write(tmp_path / "calm.csv")
    calm = shoal.report(data, tmp_path / "calm.csv", quick=True)
    assert calm.sentences[1].startswith("It is 5-anonymous; ") and 'class="warning"' not in calm.html()
