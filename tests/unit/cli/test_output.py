"""What commands print: the sentence says what was measured, and JSON is what its schema says."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from jsonschema import Draft202012Validator, validate

import shoal
from shoal.cli import app, main, schemas
from shoal.cli.output import VERSION
from shoal.core.formatting import percent

Command = Callable[..., str]
ROLES = ("--quasi", "age,zip,sex", "--sensitive", "ill", "--identifiers", "name")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    rows = [(20 + n % 17, 47600 + n % 7, "fm"[n % 2], ("flu", "cold", "hiv")[n % 3], f"p{n}") for n in range(60)]
    polars.DataFrame(rows, schema=["age", "zip", "sex", "ill", "name"], orient="row").write_csv(path)
    return path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        captured = capsys.readouterr()
        assert (end.value.code or 0) == code, captured.err
        return captured.out

    return run


def anonymized(command: Command, *more: str) -> str:
    return command(
        "anonymize",
        "people.csv",
        "-o",
        "out.csv",
        "--overwrite",
        *ROLES,
        "--seed",
        "1",
        "--algorithm",
        "mondrian",
        *more,
    )


def read() -> shoal.Dataset:
    return shoal.read("people.csv", quasi=["age", "zip", "sex"], sensitive=["ill"], identifiers=["name"])


@pytest.mark.smoke
def test_a_release_is_told_by_its_figures(command: Command, table: Path) -> None:
    shown = anonymized(command, "--k", "5")
    release = shoal.anonymize(read(), "k-anonymity:k=5", algorithm="mondrian", seed=1)
    lost = {column.name: column.lost for column in shoal.columns(read(), release) if column.role == "quasi"}
    first = shown.splitlines()[0]
    assert first.startswith("60 records, 5-anonymous; nobody left out; ")
    most = max(lost, key=lambda name: lost[name] or 0)
    assert f"{most} lost {percent(lost[most] or 0)} of its detail" in first
    assert shoal.evaluate(read(), release, "gcp")["gcp"].value == pytest.approx(sum(map(float, lost.values())) / 3)
    assert "Not published: name (identifier)" in shown and "Published as they were: ill (sensitive)" in shown
    assert "{" not in shown and "gcp" not in shown
    everything = anonymized(command, "--k", "5", "--all")
    assert "gcp" in everything and "precision lost" in everything and "bits" in everything


def test_who_is_left_out_is_counted(command: Command, table: Path) -> None:
    shown = anonymized(command, "--k", "5", "--suppression", "0.5", "--algorithm", "optimal", "--json")
    found = json.loads(shown)
    assert found["suppressed"] > 0
    share = percent(found["suppressed"] / 60)
    assert (
        f"{60 - found['suppressed']} records, 5-anonymous; {found['suppressed']} records left out ({share})"
        in (found["summary"])
    )


def test_people_who_stand_alone_lead_a_diagnosis(command: Command, table: Path) -> None:
    shown = command("diagnose", "people.csv", *ROLES, "--k", "3", code=1)
    exposure = shoal.diagnose(read(), k=3)
    alone, below = exposure["unique-records"].value, exposure["records-below-k"].value
    assert shown.startswith(f"{alone} of 60 people stand alone: nobody else has the same age, zip and sex; {below} (")
    assert "not 3-anonymous (k is 1)" in shown.splitlines()[0]
    assert f"a chance of {percent(exposure['average-risk'].value)} on average, and of 100 %" in shown
    assert "unique-records" not in shown
    assert "unique-records" in command("diagnose", "people.csv", *ROLES, "--k", "3", "--all", code=1)
    assert command("diagnose", "people.csv", "--quasi", "sex").startswith(
        "None of 60 people stands alone: at least 30 people share the same sex."
    )


def test_a_verification_says_what_is_broken(command: Command, table: Path) -> None:
    anonymized(command, "--k", "5")
    assert command("verify", "out.csv").startswith(
        "The release is what its manifest says: 60 records, 5-anonymous, nobody left out"
    )
    assert json.loads(command("verify", "out.csv", "--json"))["holds"] is True
    with Path("out.csv").open("a", encoding="utf-8") as file:
        file.write("20,47600,f,flu\n")
    shown = command("verify", "out.csv", code=1)
    assert shown.startswith("The release does not keep what its manifest says: ") and "unchanged is no" in shown
    assert json.loads(command("verify", "out.csv", "--json", code=1))["holds"] is False


def test_attacks_end_with_1_above_the_threshold(command: Command, table: Path) -> None:
    anonymized(command, "--k", "5")
    release = shoal.anonymize(read(), "k-anonymity:k=5", algorithm="mondrian", seed=1)
    (attempt,) = shoal.attack(read(), release, "prosecutor")
    arguments = ("attack", "people.csv", "out.csv", "--attack", "prosecutor")
    assert command(*arguments).startswith(f"The strongest attack, prosecutor, succeeds for {percent(attempt.success)}")
    assert "Nobody's risk is above 25 %" in command(*arguments, "--threshold", "0.25")
    assert "Somebody's risk is above 1 %" in command(*arguments, "--threshold", "0.01", code=1)
    found = json.loads(command(*arguments, "--threshold", "0.01", "--json", code=1))
    assert found["holds"] is False and found["attacks"][0]["worst"] == attempt.worst
    command(*arguments, "--threshold", "2", code=2)
    swapped = ("anonymize", "people.csv", "-o", "swapped.csv", *ROLES, "--algorithm", "rank-swapping")
    command(*swapped)
    refused = json.loads(command("attack", "people.csv", "swapped.csv", "--json", code=2))["error"]
    assert refused.startswith("No attack can be made on this release: ") and len(refused) < 250
    command("attack", "people.csv", "swapped.csv", "--threshold", "0.5", code=2)
    command("attack", "people.csv", "out.csv", "--attack", "prosecutors", code=2)


def test_an_error_has_no_empty_field(command: Command, table: Path) -> None:
    found = json.loads(command("diagnose", "people.csv", "--quasi", "Age", "--json", code=2))
    validate(found, schemas.schema("error"))
    assert "did you mean 'age'?" in found["error"]
    assert set(found) == {"error", "command", "version"}
    found = json.loads(anonymized_error(command))
    validate(found, schemas.schema("error"))
    assert found["attempt"]["records"] == 60


def anonymized_error(command: Command) -> str:
    return command("anonymize", "people.csv", "-o", "out.csv", *ROLES, "--k", "99", "--json", code=3)


RUNS: dict[str, tuple[str, ...]] = {
    "diagnose": ("diagnose", "people.csv", *ROLES),
    "detect": ("diagnose", "people.csv", "--detect"),
    "suda": ("diagnose", "people.csv", "--suda", "--largest", "2", "--convention", "ihsn"),
    "dependencies": ("diagnose", "people.csv", "--dependencies", "--support", "0.3", "--largest", "2"),
    "anonymize": (
        "anonymize",
        "people.csv",
        "-o",
        "out.csv",
        *ROLES,
        "--k",
        "2",
        "--algorithm",
        "optimal",
        "--save-recoding",
        "out.recoding",
        "--ledger",
        "people.ledger",
    ),
    "apply": ("apply", "out.recoding", "people.csv", "-o", "more.csv"),
    "evaluate": ("evaluate", "people.csv", "out.csv"),
    "attack": ("attack", "people.csv", "out.csv", "--threshold", "1"),
    "verify": ("verify", "out.csv"),
    "verify-page": ("verify", "--page", "verify.html"),
    "verify-sql": ("verify", "out.csv", "--sql", "duckdb"),
    "scan": ("scan", "out.csv", "--k", "2"),
    "recover": ("recover", "."),
    "report": ("report", "people.csv", "out.csv", "-o", "out.html", "--quick"),
    "codebook": ("codebook", "out.csv", "-o", "codebook.xml"),
    "keys": ("keys", "new", "officer.pem"),
    "ledger-list": ("ledger", "list", "people.ledger"),
    "ledger-check": ("ledger", "check", "people.ledger"),
    "ledger-export": ("ledger", "export", "people.ledger", "-o", "entries.json"),
    "balance": ("balance", "people.csv", *ROLES, "--target", "ill", "--sweep", "k=2..3", "--workers", "1"),
    "compare": ("compare", "people.csv", *ROLES, "--k", "2,3", "--algorithm", "mondrian"),
    "query": ("query", "out.csv", "--where", "age <= 40"),
    "overlap": ("overlap", "start", "people.csv", "--column", "zip", "-o", "ask.points", "--state", "ask.state"),
    "rules": ("rules", "start", "items.csv", "--holders", "3", "-o", "round.points"),
    "hierarchy": ("hierarchy", "people.csv", "--column", "zip"),
    "demo": ("demo", "--k", "5"),
    "sample": ("demo", "--write-sample", "adult.csv"),
}


def test_every_output_is_what_its_schema_says(command: Command, table: Path) -> None:
    printed = {"error", *RUNS}
    assert set(schemas.OUTPUTS) == printed
    assert {registered.name for registered in app.registered_commands} - {"schema", "serve"} <= printed
    Path("items.csv").write_text("column,value\nsex,F\n")
    for name, arguments in RUNS.items():
        found = json.loads(command(*arguments, "--json"))
        assert (found["command"], found["version"]) == (name, VERSION)
        schema = json.loads(command("schema", name))
        Draft202012Validator.check_schema(schema)
        checked = Draft202012Validator(schema)
        checked.validate(found)
        for lacking in schema["required"]:
            assert not checked.is_valid({key: value for key, value in found.items() if key != lacking})


def test_the_sample_is_a_table_to_begin_with(command: Command, table: Path) -> None:
    command("demo", "--write-sample", "adult.csv")
    assert polars.read_csv("adult.csv").equals(shoal.samples.adult())
    assert not Path("demo-output").exists()
    command("demo", "--write-sample", "admissions.csv", "--sample", "admissions")
    assert polars.read_csv("admissions.csv").height == shoal.samples.admissions().height
    command("demo", "--write-sample", "other.csv", "--sample", "sonar", code=2)
    assert not Path("other.csv").exists()


def test_the_schemas_are_listed(command: Command) -> None:
    assert command("schema").split() == list(schemas.NAMES)
    command("schema", "anonymise", code=2)


def test_the_schemas_in_the_docs_are_current() -> None:
    folder = Path(__file__).parents[3] / "docs" / "schemas"
    stored = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    assert stored == {name: schemas.schema(name) for name in schemas.NAMES}


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_a_log_has_a_line_for_each_run_and_no_value(command: Command, table: Path) -> None:
    log = ("--log-file", "log.jsonl")
    anonymized(command, "--model", "alpha-k-anonymity:alpha=1,k=2,values=hiv", "--missing", "p1", *log)
    command("verify", "out.csv", *log)
    command("verify", "none.csv", *log, code=2)
    command("diagnose", "people.csv", *ROLES, "--k", "3", *log, code=1)
    first, second, third, fourth = lines("log.jsonl")
    assert [line["exit"] for line in (first, second, third, fourth)] == [0, 0, 2, 1]
    assert first["command"] == "anonymize" and first["options"]["models"] == ["alpha-k-anonymity:alpha=1,k=2"]
    assert first["options"]["quasi"] == ["age,zip,sex"] and first["options"]["seed"] == "given"
    assert first["files"] == ["out.csv", "out.csv.manifest.json"] and "2)-anonymous" in first["summary"]
    assert "no manifest" in third["error"]
    text = Path("log.jsonl").read_text(encoding="utf-8")
    assert "hiv" not in text and "p1" not in text


def test_a_log_is_never_appended_to_another_file(command: Command, table: Path) -> None:
    before = table.read_bytes()
    command("diagnose", "people.csv", *ROLES, "--log-file", "people.csv", code=2)
    command("diagnose", "people.csv", *ROLES, "--log-file", "none/log.jsonl", code=2)
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("sqlglot", ("diagnose", "people.csv", *ROLES, "--k", "2", "--sql", "duckdb")),
        ("altair", ("diagnose", "people.csv", *ROLES, "--k", "2", "--plot", "a.svg")),
        ("altair", ("anonymize", "people.csv", "-o", "out.csv", *ROLES, "--k", "2", "--plot", "a.svg")),
        ("sklearn", ("anonymize", "people.csv", "-o", "out.csv", *ROLES, "--k", "2", "--algorithm", "k-means")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_lacking_package_is_told_before_any_work(
    package: str, arguments: tuple[str, ...], command: Command, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("shoal.api.reading.read", lambda *_arguments, **_named: pytest.fail("work was begun"))
    command(*arguments, code=2)


def test_a_demo_without_pictures_says_so(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(SystemExit):
        main(["demo", "--json"])
    captured = capsys.readouterr()
    assert "not everything was written" in captured.err and "picture" not in json.loads(captured.out)


def test_a_long_list_of_figures_is_cut_for_people_and_whole_in_json(table: Path, command: Command) -> None:
    chosen = ("--k", "3", "--algorithm", "in-blocks:base=mondrian,records=8", "--overwrite", "-o", "a.csv")
    blocks = json.loads(command("anonymize", str(table), *ROLES, *chosen, "--json"))["of-blocks"]
    shown = command("anonymize", str(table), *ROLES, *chosen, "--all").splitlines()
    listed = [line for line in shown if line.startswith("of-blocks")]
    assert len(blocks) > 6 and len(listed) == 6
    assert listed[-1] == f"of-blocks: {len(blocks) - 5} more with --json"


def test_the_gap_to_the_best_classes_is_told_when_it_is_asked_for(table: Path, command: Command) -> None:
    asked = ("anonymize", str(table), *ROLES, "--k", "3", "--seed", "1", "--overwrite", "-o", "a.csv")
    found = json.loads(command(*asked, "--prove-gap", "0.5", "--json"))["findings"]
    gap = found["optimality-gap"]
    assert 0 <= gap["value"] <= 1 and gap["detail"]["least-loss"] <= gap["detail"]["loss"]
    told = command(*asked, "--prove-gap", "0.5")
    line = told.splitlines()[-1]
    assert re.match(
        r"Another grouping could save at most [\d.]+ % of the loss; proven: classes of 3 or more lose ", line
    )
    assert "optimality-gap" not in command(*asked, "--json")
    assert "not defined" in command("anonymize", str(table), *ROLES, "--k", "1", "-o", "b.csv", "--prove-gap", "1")
    command(*asked[:-1], "c.csv", "--prove-gap", "0", code=2)
    assert not Path("c.csv").exists()
