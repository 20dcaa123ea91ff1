"""Verification of releases that somebody changed, and of manifests that are none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canary_table import BODY, CANARY, HEADER, ROLES

from shoal.cli import main


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and its manifest, made once for all tests."""
    folder, source = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("table") / "people.csv"
    source.write_text(HEADER + BODY, encoding="utf-8")
    given = ("anonymize", source, "-o", folder / "out.csv", *ROLES, "--k", 4, "--algorithm", "mondrian")
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in given])
    assert not ended.value.code
    return folder


@pytest.fixture
def release(made: Path, table: Path, tmp_path: Path) -> Path:
    """A copy of the release, beside the table."""
    for path in made.iterdir():
        shutil.copy(path, tmp_path / path.name)
    return tmp_path / "out.csv"


def manifest_of(release: Path) -> Path:
    return release.with_name(release.name + ".manifest.json")


def changed(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    manifest = json.loads(manifest_of(release).read_text())
    change(manifest)
    manifest_of(release).write_text(json.dumps(manifest))


def findings(ran) -> dict[str, Any]:
    return json.loads(ran.out)["findings"]


def test_another_machine_needs_no_original(release: Path, table: Path, tmp_path: Path, shoal) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in (release, manifest_of(release)):
        shutil.move(path, elsewhere / path.name)
    table.unlink()
    ran = shoal("verify", elsewhere / "out.csv", "--json")
    assert ran.code == 0
    assert findings(ran)["k"]["holds"] and findings(ran)["unchanged"]["holds"]


def test_the_manifest_holds_no_value(release: Path) -> None:
    text = manifest_of(release).read_text()
    for value in (CANARY, "cough", "flu", "0400"):
        assert value not in text


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("value", ["", "elsewhere", "1"])
@pytest.mark.smoke
def test_one_cell_changed(column: int, value: str, release: Path, shoal) -> None:
    lines = release.read_text().splitlines(keepends=True)
    cells = lines[5].rstrip("\n").split(",")
    cells[column] = value
    lines[5] = ",".join(cells) + "\n"
    release.write_text("".join(lines))
    ran = shoal("verify", release, "--json")
    assert ran.code == 1, ran
    assert findings(ran)["unchanged"] == {"value": "no", "bound": None, "holds": False}


def test_records_gone_or_added(release: Path, shoal) -> None:
    lines = release.read_text().splitlines(keepends=True)
    release.write_text("".join(lines[:-1]))
    ran = shoal("verify", release, "--json")
    assert ran.code == 1 and findings(ran)["published"]["value"] == 59 and not findings(ran)["published"]["holds"]
    release.write_text("".join([*lines, lines[-1]]))
    ran = shoal("verify", release, "--json")
    assert ran.code == 1 and findings(ran)["published"]["value"] == 61


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"age\n", b'age,"sex\n', b"age,sex\n1,2\n1,2\n"])
def test_a_release_that_is_no_table_any_more(content: bytes, release: Path, shoal) -> None:
    release.write_bytes(content)
    ran = shoal("verify", release, "--json")
    assert ran.code == 1 and not findings(ran)["unchanged"]["holds"]


def test_a_release_that_is_gone(release: Path, shoal) -> None:
    release.unlink()
    assert shoal("verify", release).code == 2
    assert shoal("verify", release.with_name("never.csv")).code == 2
    assert shoal("verify").code == 2


def test_a_manifest_that_is_gone(release: Path, shoal) -> None:
    manifest_of(release).unlink()
    ran = shoal("verify", release)
    assert ran.code == 2 and "no manifest" in ran.err


@pytest.mark.parametrize(("k", "code"), [(4, 0), (2, 0), (61, 1)])
def test_another_k(k: int, code: int, release: Path, shoal) -> None:
    changed(release, lambda manifest: manifest["policy"]["models"][0].update(k=k))
    ran = shoal("verify", release, "--json")
    assert ran.code == code
    assert findings(ran)["k"]["bound"] == k and findings(ran)["k"]["holds"] is (code == 0)


@pytest.mark.parametrize("records", [59, 61, 10**6])
def test_another_number_of_records(records: int, release: Path, shoal) -> None:
    changed(release, lambda manifest: manifest.update(records=records))
    assert shoal("verify", release).code in (1, 2)


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "records as text": lambda m: m.update(records="many"),
    "records below zero": lambda m: m.update(records=-1),
    "published as a list": lambda m: m.update(published=[1]),
    "an unknown model": lambda m: m["policy"]["models"][0].update(name="magic"),
    "a model without a name": lambda m: m["policy"]["models"][0].pop("name"),
    "a model without its k": lambda m: m["policy"]["models"][0].pop("k"),
    "a model with k as text": lambda m: m["policy"]["models"][0].update(k="five"),
    "a model that is a number": lambda m: m["policy"].update(models=[7]),
    "models that are none": lambda m: m["policy"].update(models=None),
    "no model": lambda m: m["policy"].update(models=[]),
    "policy as a list": lambda m: m.update(policy=[]),
    "no suppression": lambda m: m["policy"].pop("suppression"),
    "suppression as text": lambda m: m["policy"].update(suppression="all"),
    "columns as a number": lambda m: m.update(columns=5),
    "columns as texts": lambda m: m.update(columns=["age"]),
    "a column without a role": lambda m: m["columns"][1].pop("role"),
    "a column with an unknown role": lambda m: m["columns"][1].update(role="king"),
    "a column with an unknown kind": lambda m: m["columns"][1].update(kind="colour"),
    "a column twice": lambda m: m["columns"].append(m["columns"][1]),
    "sensitive as a list": lambda m: m.update(sensitive=[]),
    "sensitive without the column": lambda m: m["sensitive"].clear(),
    "sensitive without leaves": lambda m: m["sensitive"]["disease"].pop("leaves"),
    "a leaf that is none": lambda m: m["sensitive"]["disease"].update(leaves=[0, 1, 2, 99]),
    "a negative leaf": lambda m: m["sensitive"]["disease"].update(leaves=[0, 1, 2, -1]),
    "a leaf twice": lambda m: m["sensitive"]["disease"].update(leaves=[0, 1, 2, 2]),
    "a population as text": lambda m: m["sensitive"]["disease"].update(population="x"),
    "an empty population": lambda m: m["sensitive"]["disease"].update(population=[]),
    "a negative population": lambda m: m["sensitive"]["disease"].update(population=[75, -5, -5, -5]),
    "another population": lambda m: m["sensitive"]["disease"].update(population=[1, 1, 1, 1]),
    "levels of another size": lambda m: m["sensitive"]["disease"].update(levels=[[0, 0]]),
    "levels that are no tree": lambda m: m["sensitive"]["disease"].update(levels=[[0, 1, 0, 1]]),
    "strictness as text": lambda m: m.update(strict="yes"),
    "the hash as a number": lambda m: m["tables"][0].update(sha256=5),
    "no hash": lambda m: m["tables"][0].pop("sha256"),
    "no table": lambda m: m.update(tables=[]),
    "a table twice": lambda m: m.update(tables=m["tables"] * 2),
    "a table elsewhere": lambda m: m["tables"].append({**m["tables"][0], "part": "../other"}),
    "other rows": lambda m: m["tables"][0].update(rows=7),
    "an unknown form": lambda m: m.update(form="magic"),
    "no form": lambda m: m.pop("form"),
    "another format": lambda m: m.update(format=1),
    "the format as a list": lambda m: m.update(format=[1]),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_manifest_that_is_wrong(case: str, release: Path, table: Path, shoal) -> None:
    changed(release, WRONG[case])
    for command in (("verify", release), ("verify", release, "--json")):
        ran = shoal(*command)
        assert ran.code == 2, ran
        assert "manifest" in ran.err


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"7", b'"x"', b"\xff\xfe\x00", b"[" * 100_000])
def test_a_manifest_that_is_no_manifest(content: bytes, release: Path, shoal) -> None:
    manifest_of(release).write_bytes(content)
    ran = shoal("verify", release)
    assert ran.code == 2 and "manifest" in ran.err


@pytest.mark.smoke
def test_evaluation_with_roles_from_the_manifest(release: Path, table: Path, shoal) -> None:
    ran = shoal("evaluate", table, release, "--json")
    assert ran.code == 0 and findings(ran)["k"]["holds"]
    changed(release, lambda manifest: manifest.update(columns=[{"name": 5}]))
    assert shoal("evaluate", table, release).code == 2


def test_evaluation_of_what_is_no_release_of_the_table(release: Path, table: Path, tmp_path: Path, shoal) -> None:
    lines = release.read_text().splitlines(keepends=True)
    manifest_of(release).unlink()
    roles = ROLES[:4]
    cases = {
        "more records": "".join(lines + lines[1:]),
        "unknown values": "".join(lines).replace("[", "(").replace("*", "**"),
        "unknown secrets": "".join(lines).replace("flu", "unheard"),
        "a column less": "".join(",".join(line.split(",")[1:]) for line in lines),
        "nothing": "",
    }
    for case, text in cases.items():
        release.write_text(text)
        assert shoal("evaluate", table, release, *roles).code == 2, case
    assert shoal("evaluate", table, tmp_path / "none.csv", *roles).code == 2
    assert shoal("evaluate", table).code == 2
