"""What the command as a whole promises: help, versions, exit codes, signals, what it never prints."""

from __future__ import annotations

import errno
import json
import time
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import api, cli
from shoal.cli import app, main
from shoal.errors import InputError

COMMANDS = [command.name for command in app.registered_commands]


def ended(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "30,F\n31,M\n" * 4)
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.smoke
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(command, "--help") == 0
    shown = capsys.readouterr().out
    # The page prints nothing but its address; every screen has a JSON version.
    assert "Usage" in shown and ("--json" in shown or command == "serve")


def test_version_and_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("--version") == 0
    assert shoal.__version__ in capsys.readouterr().out
    assert ended("conjure") == 2
    assert ended("diagnose", "--colour", "red") == 2
    assert ended("diagnose", "--k", "many") == 2


@pytest.mark.smoke
def test_exit_codes(table: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "out.csv")
    common = (str(table), "--quasi", "age,sex")
    assert ended("diagnose", *common, "--k", "4") == 0
    assert ended("diagnose", *common, "--k", "5") == 1
    assert ended("diagnose", *common, "--k", "0") == 2
    assert ended("diagnose", *common, "--attributes", "age,nobody") == 2
    assert ended("anonymize", *common, "--k", "5", "-o", target) == 0
    assert ended("verify", target) == 0
    assert ended("anonymize", *common, "--k", "9", "-o", target) == 2
    assert ended("anonymize", *common, "--k", "9", "-o", target, "--overwrite") == 3


@pytest.mark.smoke
def test_errors_are_json_too(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("diagnose", str(table), "--quasi", "nobody", "--json") == 2
    captured = capsys.readouterr()
    assert captured.out.startswith('{"error": "no column named')
    assert captured.err.startswith("error: no column named")


class Finalized:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __del__(self) -> None:
        raise self.error


def test_an_interrupt_inside_a_callback_is_not_lost(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(*_arguments: object, **_named: object) -> None:
        Finalized(KeyboardInterrupt())
        time.sleep(300)

    monkeypatch.setattr("shoal.api.reading.read", read)
    started = time.monotonic()
    assert ended("diagnose", str(table), "--quasi", "age") == 130
    assert time.monotonic() - started < 150
    assert capsys.readouterr().err == "interrupted; no file is half-written\n"


def test_an_error_inside_a_callback_prints_no_value(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = api.read

    def read(*arguments: object, **named: object) -> object:
        Finalized(ValueError("a canary"))
        return before(*arguments, **named)

    monkeypatch.setattr("shoal.api.reading.read", read)
    assert ended("diagnose", str(table), "--quasi", "age") == 0
    captured = capsys.readouterr()
    assert "canary" not in captured.out + captured.err and "ValueError" in captured.err


@pytest.mark.parametrize(("algorithm", "shows"), [("optimal", "nodes checked"), ("mondrian", "records in the class")])
@pytest.mark.smoke
def test_a_picture_of_the_search_or_of_the_classes(table: Path, algorithm: str, shows: str) -> None:
    picture, target = table.with_name("picture.svg"), table.with_name("out.csv")
    assert ended("anonymize", str(table), "-o", str(target), "--quasi", "age,sex", "--k", "2",
                 "--algorithm", algorithm, "--plot", str(picture)) == 0  # fmt: skip
    assert shows in picture.read_text(encoding="utf-8")


def test_protect_jointly_reaches_the_manifest(tmp_path: Path) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("sex,disease,pay\n" + "f,flu,1\nf,cold,2\nm,flu,2\nm,cold,1\n" * 4, encoding="utf-8")
    arguments = (
        "anonymize",
        str(source),
        "-o",
        str(target),
        "--quasi",
        "sex",
        "--sensitive",
        "disease,pay",
        "--k",
        "2",
        "--overwrite",
    )
    for flags, expected in (((), False), (("--protect-jointly",), True)):
        assert ended(*arguments, *flags) == 0
        assert json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))["strict"] is expected


@pytest.mark.parametrize(
    ("command", "before", "now"),
    [
        ("anonymize", "--strict", "--protect-jointly"), ("anonymize", "--state", "--resume-dir"),
        ("anonymize", "--state=x", "--resume-dir"), ("anonymize", "--gap", "--prove-gap"),
        ("balance", "--strict", "--protect-jointly"), ("balance", "--state", "--resume-file"),
        ("compare", "--strict", "--protect-jointly"),
    ],
)  # fmt: skip
def test_an_option_with_an_old_name_says_its_new_one(
    command: str, before: str, now: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(command, str(table), "--quasi", "age,sex", before) == 2
    assert capsys.readouterr().err == f"error: {before.partition('=')[0]} is called {now} now\n"


def test_an_option_replaces_only_the_model_of_its_kind(tmp_path: Path) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("sex,disease\n" + "f,flu\nf,cold\nm,flu\nm,cold\n" * 4, encoding="utf-8")
    written = tmp_path / "job.toml"
    assert ended("anonymize", str(source), "-o", str(target), "--quasi", "sex", "--sensitive", "disease", "--k", "2",
                 "--model", "distinct-l-diversity:l=2", "--save-job", str(written)) == 0  # fmt: skip
    assert ended("anonymize", "--job", str(written), "--k", "3", "--overwrite") == 0
    models = json.loads((tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8"))["policy"]["models"]
    assert {model["name"]: model for model in models}["k-anonymity"]["k"] == 3
    assert "distinct-l-diversity" in {model["name"] for model in models}


def test_a_hierarchy_never_overwrites_its_table(table: Path) -> None:
    before = table.read_bytes()
    assert ended("hierarchy", str(table), "--column", "age", "-o", str(table)) == 2
    assert table.read_bytes() == before


def chained(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError("a canary"), 2), (pa.ArrowMemoryError("a canary"), 2),
        (chained(SystemError("a canary"), MemoryError()), 2), (chained(InputError("torn"), MemoryError()), 2),
        (OSError(errno.ENOMEM, "a canary"), 2), (chained(MemoryError("a canary"), KeyboardInterrupt()), 130),
        (ImportError("a canary"), None), (OSError("a canary"), None), (RuntimeError("can't start new thread"), None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)  # fmt: skip
def test_too_little_memory_is_told(
    error: BaseException, code: int | None, limited: bool, table: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def read(*_arguments: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr("shoal.api.reading.read", read)
    monkeypatch.setattr(cli, "_limited", lambda: limited)
    assert ended("diagnose", str(table), "--quasi", "age") == (code or (2 if limited else 70))
    shown = capsys.readouterr().err
    assert "canary" not in shown and shown.count("\n") == 1
    assert ("too little memory" in shown) == (code == 2 or (code is None and limited))


def test_exit_codes_are_shown_where_people_look(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for code, meaning in cli.EXIT_CODES.items():
        assert f"{code} {meaning}" in shown


def test_formats_are_asked_for_given_kept_in_the_job_and_known_to_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target, saved = tmp_path / "people.csv", tmp_path / "out.csv", tmp_path / "job.toml"
    rows = [
        f"{1 + place % 12:02d}/{1 + place % 11:02d}/19{50 + place};{1 + place},{100 + place}\n" for place in range(40)
    ]
    source.write_text("born;wage\n" + "".join(rows * 2))
    common = ("anonymize", str(source), "--quasi", "born,wage", "--k", "4", "-o", str(target))
    dated, written = ("--date-format", "born=day-first"), ("--number-format", "wage=decimal-comma")
    assert ended(*common) == 2 and "--date-format COLUMN=day-first" in capsys.readouterr().err
    assert ended(*common, *dated) == 2 and "--number-format COLUMN=decimal-comma" in capsys.readouterr().err
    assert ended(*common, *dated, "--number-format", "wage=german") == 2 and not target.exists()
    assert ended(*common, *dated, *written, "--save-job", str(saved)) == 0
    first = target.read_bytes()
    assert ended("anonymize", "--job", str(saved), "--overwrite") == 0 and target.read_bytes() == first
    capsys.readouterr()
    for given in ((), ("--job", str(saved))):
        assert ended("evaluate", str(source), str(target), *given, "--json") == 0
        assert json.loads(capsys.readouterr().out)["findings"]["k"]["value"] >= 4
    assert [column["format"] for column in json.loads((tmp_path / "out.csv.manifest.json").read_text())["columns"]] == [
        "day-first",
        "decimal-comma",
    ]


def test_how_columns_were_read_is_told_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "people.csv"
    rows = [f"{13 + place % 15}.05.19{50 + place}\n" for place in range(40)]
    source.write_text("born\n" + "".join([*rows, "31.02.1984\n"]))
    for command in (
        ("diagnose", "--quasi", "born"),
        ("hierarchy", "--column", "born"),
        ("anonymize", "--quasi", "born", "--k", "2", "-o", str(tmp_path / "out.csv")),
    ):
        assert ended(command[0], str(source), *command[1:], "--json") == 0
        captured = capsys.readouterr()
        assert json.loads(captured.out)
        assert "note: column 'born' is read as dates with the day first" in captured.err
        assert "1 of its 41 distinct values are no dates" in captured.err and "31.02" not in captured.err
