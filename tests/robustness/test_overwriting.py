"""What exists is replaced only when somebody says so; whoever stops reading the output ends a command quietly."""

from __future__ import annotations

from pathlib import Path

import pytest
from canary_table import ROLES

import shoal as library

ANSWERING = """
import os, pty, sys
ours, theirs = pty.openpty()
os.dup2(theirs, 0), os.dup2(theirs, 2)
os.write(ours, {answer!r})
from shoal.cli import main
main()
"""
"""A command at a terminal where somebody has typed an answer."""

UNREAD = """
import os
reading, writing = os.pipe()
os.dup2(writing, 1), os.close(writing), os.close(reading)
from shoal.cli import main
main()
"""
"""A command whose output nobody reads."""


@pytest.fixture
def released(table: Path, shoal) -> Path:
    """A folder with a release, a report and whatever else commands write there."""
    target = table.with_name("out.csv")
    assert shoal("anonymize", table, "-o", target, *ROLES, "--k", 2, "--seed", 1).code == 0
    return target


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


WRITING = {
    "anonymize": ("anonymize", "{table}", *ROLES, "--k", 3, "-o", "{target}"),
    "a job saved": ("anonymize", "{table}", *ROLES, "--k", 3, "-o", "{folder}/new.csv", "--save-job", "{there}"),
    "a picture of the release": ("anonymize", "{table}", *ROLES, "--k", 3, "-o", "{folder}/new.csv", "--plot", "{svg}"),
    "apply": ("apply", "{folder}/recoding.json", "{table}", "-o", "{csv}"),
    "report": ("report", "{table}", "{target}", "--quick", "-o", "{html}"),
    "attack": ("attack", "{table}", "{target}", "--attack", "prosecutor", "--plot", "{svg}"),
    "compare": ("compare", "{table}", *ROLES, "--k", 2, "--algorithm", "mondrian", "-o", "{json}"),
    "balance": ("balance", "{table}", *ROLES, "--sweep", "k=2..3", "--utility", "gcp", "--workers", 1, "-o", "{json}"),
    "hierarchy": ("hierarchy", "{table}", "--column", "age", "-o", "{there}"),
    "diagnose": ("diagnose", "{table}", *ROLES[:2], "--k", 2, "--plot", "{svg}"),
    "detect": ("diagnose", "{table}", "--detect", "--save-job", "{there}"),
    "demo": ("demo", "--write-sample", "{there}"),
    "rules": ("rules", "start", "{items}", "--holders", 3, "-o", "{there}"),
    "overlap": ("overlap", "start", "{table}", "--column", "name", "-o", "{there}", "--state", "{folder}/state"),
}


@pytest.mark.parametrize("case", WRITING)
def test_an_existing_file_is_replaced_only_when_somebody_says_so(case: str, table: Path, released: Path, shoal) -> None:
    folder = table.parent
    for name in ("there", "there.csv", "there.svg", "there.html", "there.json"):
        (folder / name).write_text("old")
    (folder / "items.csv").write_text("column,value\nsex,F\n")
    if case == "apply":
        data = library.read(table, quasi=["age", "sex", "zip"], sensitive=["disease"], identifiers=["name"])
        release = library.anonymize(data, library.KAnonymity(k=2), algorithm="mondrian", seed=1)
        library.save_recoding(release, folder / "recoding.json")
    places = {
        "table": table, "items": folder / "items.csv", "folder": folder, "target": released, "there": folder / "there",
        "csv": folder / "there.csv", "svg": folder / "there.svg", "html": folder / "there.html",
        "json": folder / "there.json",
    }  # fmt: skip
    given = [str(each).format(**places) for each in WRITING[case]]
    before = contents(folder)
    refused = shoal(*given)
    assert refused.code == 2 and "exist" in refused.err and "add --overwrite" in refused.err, refused
    assert contents(folder) == before
    assert shoal(*given, "--overwrite").code in (0, 1)
    assert any(contents(folder)[name] != content for name, content in before.items())


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 2)])
def test_at_a_terminal_somebody_is_asked(answer: bytes, code: int, table: Path, released: Path, process) -> None:
    before = released.read_bytes()
    given = ("anonymize", table, "-o", released, *ROLES, "--k", 5, "--seed", 1)
    assert process(*given, script=ANSWERING.format(answer=answer)).code == code
    assert (released.read_bytes() == before) == (code == 2)


def test_a_part_of_a_release_is_a_file_as_well(table: Path, shoal) -> None:
    part = table.with_name("out.sensitive.csv")
    part.write_text("old")
    model = ("--model", "distinct-l-diversity:l=2", "--algorithm", "anatomy")
    given = ("anonymize", table, "-o", table.with_name("out.csv"), *ROLES, *model)
    refused = shoal(*given)
    assert refused.code == 2 and "out.sensitive.csv exists already" in refused.err, refused
    assert sorted(path.name for path in table.parent.iterdir()) == ["out.sensitive.csv", "people.csv"]
    assert shoal(*given, "--overwrite").code == 0 and part.read_text() != "old"


@pytest.mark.parametrize(
    "given",
    [
        ("diagnose", "{table}", *ROLES[:2], "--k", 99), ("diagnose", "{table}", *ROLES[:2], "--json"),
        ("anonymize", "{table}", *ROLES, "--k", 2, "-o", "-"), ("anonymize", "--help"), ("schema", "anonymize"),
    ],
)  # fmt: skip
def test_an_output_that_nobody_reads_ends_the_command_quietly(given, table: Path, process) -> None:
    """`shoal … | head -1`: not with 1, which says that the answer is no."""
    ran = process(*(str(each).format(table=table) for each in given), script=UNREAD)
    assert ran.code == 141 and "rror" not in ran.err, ran


def test_a_pipe_that_breaks_elsewhere_is_an_error(table: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_arguments: object, **_named: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("shoal.api.reading.read", lost)
    ran = shoal("diagnose", table, *ROLES[:2])
    assert ran.code == 70 and "withheld" in ran.err
