"""`shoal scan`, by itself, as a hook of pre-commit and as the step of a workflow."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from jsonschema import validate

import shoal
from shoal import api
from shoal.cli import main, schemas
from shoal.engines.common.formats import ENDINGS
from shoal.errors import ParameterError

ROOT = Path(__file__).parents[3]
CANARY = "Quetzalcoatl"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with names, one about no people, and one in which everybody looks like five others."""
    monkeypatch.chdir(tmp_path)
    names = [f"{first} {CANARY}" for first in ("Anna", "Bea", "Carl", "Dora", "Emil", "Fritz")]
    emails = [f"p{place}@example.org" for place in range(6)]
    pl.DataFrame({"name": names, "email": emails, "age": [31, 31, 40, 41, 52, 60]}).write_csv("patients.csv")
    pl.DataFrame({"station": list("abcdef"), "temperature": [20.5, 21, 22, 19, 18, 25.5]}).write_csv("weather.csv")
    pl.DataFrame({"age": [20, 30] * 6, "sex": ["f", "m"] * 6}).write_csv("alike.csv")
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["scan", *arguments])
    return int(stop.value.code or 0)


def test_which_files_expose_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("patients.csv", "weather.csv", "alike.csv", "--json") == 1
    printed = capsys.readouterr().out
    told = json.loads(printed)
    validate(told, schemas.schema("scan"))
    assert [each["verdict"] for each in told["files"]] == ["exposed", "not people", "safe"]
    assert told["files"][0]["identifiers"] == ["name", "email"] and told["files"][2]["below"] == 0
    assert CANARY not in printed and "example.org" not in printed
    assert run("weather.csv", "alike.csv") == 0
    assert run("alike.csv", "--k", "7") == 1
    assert "12 of 12 people share age, sex with fewer than 6 others" in capsys.readouterr().out


def test_people_are_counted_where_they_have_several_rows(folder: Path) -> None:
    patients = [place % 20 for place in range(100)]
    ages = [40 if patient < 4 else 50 for patient in patients]
    pl.DataFrame({"patient_id": patients, "age": ages, "sex": ["f"] * 100}).write_csv("visits.csv")
    (found,) = api.scan(["visits.csv"], allow=("patient_id",))
    assert (found.verdict, found.people, found.below) == ("exposed", 20, 4)


def test_a_release_is_fine_as_long_as_its_manifest_holds(folder: Path) -> None:
    data = shoal.read(shoal.samples.adult().select("age", "sex")[:400], quasi=["age", "sex"])
    shoal.anonymize(data, "k-anonymity:k=5", algorithm="mondrian").write("release.csv")
    assert [each.verdict for each in api.scan(["release.csv"])] == ["release"]
    assert [each.verdict for each in api.scan(["release.csv"], k=6)] != ["release"]
    with Path("release.csv").open("a") as file:
        file.write(Path("release.csv").read_text().splitlines()[-1] + "\n")
    assert [each.verdict for each in api.scan(["release.csv"])] != ["release"]


def test_what_is_wrong_is_said(folder: Path) -> None:
    assert run("missing.csv") == 2
    with pytest.raises(ParameterError, match="at least 2"):
        api.scan(["alike.csv"], k=1)


def test_markdown_has_no_markup_of_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "age <b>|`x` @team"
    pl.DataFrame({odd: list(range(6)), "sex": ["f", "m"] * 3}).write_csv("od|d.csv")
    run("od|d.csv", "--markdown")
    row = capsys.readouterr().out.splitlines()[4]
    assert row.count("|") == 4 and "\\<b\\>" in row and "\\@team" in row


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    who = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    return subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, env=environment())


def environment() -> dict[str, str]:
    """With `shoal` on the path, as it is where it is installed."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONPATH": str(Path(shoal.__file__).parents[1])}


@pytest.mark.skipif(shutil.which("git") is None, reason="they need git")
def test_a_commit_with_such_a_table_is_stopped(folder: Path) -> None:
    pytest.importorskip("pre_commit")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["language"] == "python"  # which would install Shoal from the network
    local: dict[str, Any] = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(local))
    git(folder, "init", "--quiet")
    command = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment())
    git(folder, "add", "weather.csv", "alike.csv")
    assert git(folder, "commit", "-m", "fine").returncode == 0
    git(folder, "add", "patients.csv")
    stopped = git(folder, "commit", "-m", "not fine")
    assert stopped.returncode == 1 and "2 columns name people (name, email)" in stopped.stdout + stopped.stderr
    assert git(folder, "log", "--oneline").stdout.count("\n") == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="they need git")
def test_the_step_of_a_workflow_scans_what_changed(folder: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = (each for each in action["runs"]["steps"] if each.get("id") == "scan")
    git(folder, "init", "--quiet")
    git(folder, "add", "alike.csv")
    git(folder, "commit", "-m", "before")
    base = git(folder, "rev-parse", "HEAD").stdout.strip()

    def scanned() -> tuple[int, str, str]:
        files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "REPORT")}
        for path in files.values():
            path.write_text("")
        more = {**{name: str(path) for name, path in files.items()}, "BASE": base, "K": "5", "ALLOW": ""}
        done = subprocess.run(["bash", "-c", step["run"]], cwd=folder, env={**environment(), **more})
        return done.returncode, files["GITHUB_OUTPUT"].read_text(), files["REPORT"].read_text()

    assert scanned() == (0, "code=0\ntables=0\n", "**Shoal:** no table was added or changed.\n")
    git(folder, "add", "patients.csv", "weather.csv")
    git(folder, "commit", "-m", "after")
    code, said, report = scanned()
    assert code == 0 and said == "code=1\ntables=2\n"
    assert "`patients.csv`" in report and "alike.csv" not in report and CANARY not in report


GITHUB = """#!{python}
import json, os, sys
from pathlib import Path
kept = Path(os.environ["COMMENTS"])
comments = json.loads(kept.read_text()) if kept.exists() else []
arguments = sys.argv[1:]
address = next(each for each in arguments if each.startswith("repos/"))
assert address.startswith("repos/me/mine/issues/"), address
if "--method" not in arguments:
    mark = "<!-- shoal-scan -->"
    assert arguments[-1] == f'.[] | select(.body | startswith("{mark}")) | .id'
    assert address.endswith("/7/comments")
    print("\\n".join(str(at) for at, body in enumerate(comments) if body.startswith(mark)))
    sys.exit()
body = arguments[arguments.index("--raw-field") + 1].removeprefix("body=")
if arguments[arguments.index("--method") + 1] == "POST":
    comments.append(body)
else:
    comments[int(address.rpartition("/")[2])] = body
kept.write_text(json.dumps(comments))
"""
"""What the comment step asks of GitHub's command, which talks to GitHub and cannot run here."""


def test_one_comment_says_what_the_last_scan_found(folder: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = (each for each in action["runs"]["steps"] if each.get("id") == "comment")
    programs = folder / "programs"
    programs.mkdir()
    (programs / "gh").write_text(GITHUB.replace("{python}", sys.executable))
    (programs / "gh").chmod(0o755)
    kept = folder / "comments.json"
    kept.write_text(json.dumps(["looks good to me"]))

    def commented(report: str, tables: int) -> list[str]:
        (folder / "report.md").write_text(report)
        more = {
            "COMMENTS": str(kept), "REPORT": str(folder / "report.md"), "NUMBER": "7", "TABLES": str(tables),
            "GITHUB_REPOSITORY": "me/mine", "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
        }  # fmt: skip
        subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], check=True, env={**os.environ, **more})
        comments: list[str] = json.loads(kept.read_text())
        return comments

    assert commented("no table\n", 0) == ["looks good to me"]
    first = commented("**Shoal:** 1 file\n\n| `a` | $(ls) |\n", 1)
    assert first == ["looks good to me", "<!-- shoal-scan -->\n**Shoal:** 1 file\n\n| `a` | $(ls) |"]
    assert commented("no table\n", 0) == ["looks good to me", "<!-- shoal-scan -->\nno table"]


def test_the_hook_and_the_action_look_at_every_format_that_is_read() -> None:
    """But for .txt, which is mostly no table."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    for ending in {ending for endings in ENDINGS.values() for ending in endings} - {".txt"}:
        assert re.search(hook["files"], f"data/people{ending}") and re.search(hook["files"], f"PEOPLE{ending.upper()}")
        assert f"':(icase)*{ending}'" in action, ending
    assert re.search(hook["files"], "people.csv.gz") and not re.search(hook["files"], "notes.txt")
