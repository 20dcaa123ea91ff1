"""`shoal attack` and `shoal anonymize --attack`: the governor's story, what else an attacker has, and bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from jsonschema import validate

import shoal
from shoal.cli import main, schemas

Command = Callable[..., str]
ROLES = ("--quasi", "birth,sex,zip", "--sensitive", "diagnosis", "--kind", "zip=categorical")
GOVERNOR = {"birth": "1945-07-31", "sex": "M", "zip": "02138"}


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A voters list of 400 people, the governor among them, and a hospital's table of 90 of them without names."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1997)
    count = 399
    years, months, days = (generator.integers(*ends, count) for ends in ((1920, 1990), (1, 13), (1, 29)))
    people = pl.DataFrame(
        {
            "name": [f"Voter {number}" for number in range(count)],
            "birth": [f"{y}-{m:02d}-{d:02d}" for y, m, d in zip(years, months, days, strict=True)],
            "sex": generator.choice(["F", "M"], count),
            "zip": generator.choice(["02138", "02139", "02140", "02141"], count),
        }
    )
    people = pl.concat([people, pl.DataFrame({"name": "William Weld", **GOVERNOR})])
    people.write_csv("voters.csv")
    patients = people.tail(90).drop("name")
    ills = generator.choice(["flu", "asthma", "diabetes", "fracture"], 90)
    ills[-1] = "collapse"
    patients.with_columns(diagnosis=pl.Series(ills)).write_csv("hospital.csv")
    others = people.head(80).drop("name")
    others.with_columns(diagnosis=pl.Series(generator.choice(["flu", "asthma"], 80))).write_csv("others.csv")
    return tmp_path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        captured = capsys.readouterr()
        assert (end.value.code or 0) == code, captured.err
        return captured.out if not code or code == 1 else captured.err

    return run


def released(command: Command, name: str, *more: str, code: int = 0) -> str:
    chosen = () if "--algorithm" in more else ("--algorithm", "mondrian")
    arguments = ("hospital.csv", "-o", name, *ROLES, "--seed", "1", *chosen, *more)
    return command("anonymize", *arguments, code=code)


def attacked(command: Command, name: str, *more: str, code: int = 0) -> dict[str, dict[str, object]]:
    found = json.loads(command("attack", "hospital.csv", name, *more, "--json", code=code))
    validate(found, schemas.schema("attack"))
    return {each["name"]: each for each in found["attacks"]}


def test_the_governor(command: Command, town: Path) -> None:
    """Names are gone, and the voters list brings them back; with k and l it does not."""
    released(command, "nameless.csv", "--k", "1", "--algorithm", "optimal")
    found = attacked(
        command, "nameless.csv", "--external", "voters.csv", "--attack", "linkage", "--attack", "journalist"
    )
    assert found["linkage"]["success"] == found["linkage"]["worst"] == 1.0
    detail = found["linkage"]["detail"]
    assert detail["listed"] == 400 and detail["in_table"] >= 90 and detail["mistaken"] == 0
    assert detail["certain"] >= 80 and detail["disclosed"] >= 80
    # He himself: everybody who fits his entry in the list is one record, and it says what he had.
    table = shoal.read(
        "hospital.csv", quasi=["birth", "sex", "zip"], sensitive=["diagnosis"], kinds={"zip": "categorical"}
    )
    he = shoal.read(pl.DataFrame(GOVERNOR), quasi=["birth", "sex", "zip"], kinds={"zip": "categorical"})
    (alone,) = shoal.attack(table, "nameless.csv", "linkage", external=he)
    assert alone.detail["certain"] == alone.detail["disclosed"] == 1 and alone.worst == 1.0

    released(command, "safe.csv", "--k", "5", "--model", "distinct-l-diversity:l=2", "--algorithm", "auto")
    safe = attacked(command, "safe.csv", "--external", "voters.csv", "--threshold", "0.2", "--attack", "linkage")
    assert safe["linkage"]["worst"] <= 0.2 and safe["linkage"]["detail"]["certain"] == 0
    (hidden,) = shoal.attack(table, "safe.csv", "linkage", external=he)
    assert hidden.worst <= 0.2 and hidden.detail["certain"] == hidden.detail["disclosed"] == 0


def test_a_table_and_a_picture(command: Command, town: Path) -> None:
    released(command, "out.csv", "--k", "4", "--algorithm", "auto")
    shown = command("attack", "hospital.csv", "out.csv", "--external", "voters.csv", "--held-out", "others.csv",
                    "--plot", "attacks.svg")  # fmt: skip
    for words in ("journalist", "without release", "held out", "worst person", "Drawn: attacks.svg"):
        assert words in shown
    assert "Not made: " in shown and "spectral-filtering" in shown
    drawn = Path("attacks.svg").read_text(encoding="utf-8")
    assert "most exposed person" in drawn and "journalist" in drawn and "people held out" in drawn
    everything = command("attack", "hospital.csv", "out.csv", "--all")
    assert "linkage was not made: there is no list of people" in everything
    assert "a random guess without the release" in everything


def test_python_and_the_command_say_the_same(command: Command, town: Path) -> None:
    released(command, "out.csv", "--k", "4")
    data = shoal.read(
        "hospital.csv", quasi=["birth", "sex", "zip"], sensitive=["diagnosis"], kinds={"zip": "categorical"}
    )
    mine = shoal.attack(data, "out.csv", external="voters.csv", held_out="others.csv")
    told = attacked(command, "out.csv", "--external", "voters.csv", "--held-out", "others.csv")
    assert {attempt.name: json.loads(json.dumps(attempt.as_dict())) for attempt in mine} == told
    assert told["homogeneity"]["control"] is not None and told["membership"]["control"] is not None


def test_no_value_is_shown(command: Command, town: Path) -> None:
    released(command, "out.csv", "--k", "4")
    rule = "background-knowledge:rules=sex = F => collapse|sex = M => fracture"
    shown = command("attack", "hospital.csv", "out.csv", "--attack", rule, "--all")
    assert "2 rules" in shown and "collapse" not in shown and "fracture" not in shown
    for bad in ("sex = F => nothing such", "sex = F", "sec = F => flu", "sex ? F => flu"):
        error = command("attack", "hospital.csv", "out.csv", "--attack", f"background-knowledge:rules={bad}", code=2)
        assert "nothing such" not in error and "flu" not in error


@pytest.mark.parametrize("option", ["--external", "--held-out"])
def test_a_table_without_common_columns(command: Command, town: Path, option: str) -> None:
    released(command, "out.csv", "--k", "4")
    pl.DataFrame({"height": [1, 2], "weight": [3, 4]}).write_csv("others.csv")
    error = command("attack", "hospital.csv", "out.csv", option, "others.csv", code=2)
    assert "shares no quasi-identifier" in error and "'birth'" in error
    error = command("attack", "hospital.csv", "out.csv", option, "nowhere.csv", code=2)
    assert "nowhere.csv" in error


def test_a_release_of_another_table(command: Command, town: Path) -> None:
    released(command, "out.csv", "--k", "4")
    table = pl.read_csv("hospital.csv", schema_overrides={"zip": pl.String})
    table.head(60).write_csv("fewer.csv")
    table.with_columns(birth=pl.lit("2001-01-01")).write_csv("younger.csv")
    table.with_columns(diagnosis=pl.lit("flu")).write_csv("same.csv")
    swapped = table.with_columns(pl.col("birth").shuffle(seed=3), pl.col("sex").reverse())
    swapped.write_csv("swapped.csv")
    for other in ("fewer.csv", "younger.csv", "same.csv", "swapped.csv"):
        error = command("attack", other, "out.csv", code=2)
        assert "not a release of it" in error or "values that the table lacks" in error, other
    assert "no column named" in command("attack", "voters.csv", "out.csv", code=2)


def test_a_held_out_table_needs_every_quasi_identifier(command: Command, town: Path) -> None:
    released(command, "out.csv", "--k", "4")
    pl.read_csv("others.csv").drop("zip").write_csv("others.csv")
    error = command(
        "attack", "hospital.csv", "out.csv", "--attack", "homogeneity", "--held-out", "others.csv", code=2
    )  # fmt: skip
    assert "must have every quasi-identifier" in error and "'zip'" in error


class TestBeforeWriting:
    """`anonymize --attack`."""

    def test_the_manifest_states_the_figures(self, command: Command, town: Path) -> None:
        shown = released(command, "out.csv", "--k", "4", "--attack")
        assert "The strongest attack" in shown and "worst person" in shown
        stated = json.loads(Path("out.csv.manifest.json").read_text(encoding="utf-8"))["attacks"]
        assert {"prosecutor", "homogeneity", "skewness"} <= {each["name"] for each in stated}
        assert all(set(each) == {"name", "success", "worst", "above", "threshold", "knew"} for each in stated)
        assert "manifest says" in command("verify", "out.csv")
        text = Path("out.csv.manifest.json").read_text(encoding="utf-8")
        assert not any(value in text for value in ("collapse", "asthma", "02138", "1945"))

    def test_they_tell_nothing_about_records_that_were_left_out(self, town: Path) -> None:
        """Two tables that differ in one person who is left out have releases with the same figures."""
        from shoal import api

        figures = []
        for ill in ("hiv", "flu"):
            table = pl.DataFrame({"age": [1, 1, 2, 2, 9], "disease": ["flu", "hiv", "flu", "flu", ill]})
            data = shoal.read(
                table, quasi=["age"], sensitive=["disease"], column_hierarchies={"age": "intervals:width=1"}
            )
            release = shoal.anonymize(data, "k-anonymity:k=2", algorithm="optimal", suppression=0.2, seed=1)
            assert release.suppressed == 1
            figures.append(api.public_figures(data, release, api.every_plugin("attacks")[0]))
            known = {each.name: each for each in shoal.attack(data, release)}
            figures[-1].append({"worst": known["skewness"].worst})
        assert figures[0][:-1] == figures[1][:-1] and len(figures[0]) > 5
        assert figures[0][-1] != figures[1][-1], "the holder's own figures do tell"

    def test_a_threshold_withholds_the_release(self, command: Command, town: Path) -> None:
        error = released(command, "out.csv", "--k", "4", "--attack-threshold", "0.1", code=3)
        assert "nothing was written" in error and "prosecutor 25 %" in error
        assert not Path("out.csv").exists() and not Path("out.csv.manifest.json").exists()
        assert "between 0 and 1" in released(command, "out.csv", "--k", "4", "--attack-threshold", "1.1", code=2)
        released(command, "out.csv", "--k", "4", "--attack-threshold", "1")
        assert Path("out.csv").exists()

    def test_as_a_job(self, command: Command, town: Path) -> None:
        released(command, "out.csv", "--k", "4", "--attack-threshold", "1", "--save-job", "job.toml")
        text = Path("job.toml").read_text(encoding="utf-8")
        assert "[attacks]" in text and "threshold = 1" in text
        changed = text.replace("[attacks]", '[attacks]\nchosen = ["prosecutor:threshold=0.2"]').replace(
            "out.csv", "two.csv"
        )
        Path("job.toml").write_text(changed, encoding="utf-8")
        found = json.loads(command("anonymize", "--job", "job.toml", "--json"))
        validate(found, schemas.schema("anonymize"))
        assert [each["name"] for each in found["attacks"]] == ["prosecutor"]
        Path("job.toml").write_text(changed.replace("prosecutor:", "prosecutors:"), encoding="utf-8")
        assert "did you mean 'prosecutor'?" in command("anonymize", "--job", "job.toml", code=2)
