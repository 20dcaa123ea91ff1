"""Identifiers: dropped unless somebody asks for pseudonyms, and the key appears nowhere."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from canary_table import CANARY, HEADER, ROLES, rows

KEY = f"{CANARY}-and-more-bytes"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret.key"
    path.write_text(KEY + "\n")
    return path


def names_by_secret(release: Path) -> dict[str, list[str]]:
    """The pseudonyms of the people with each disease, in an order that does not depend on the shuffle."""
    found: dict[str, list[str]] = {}
    with release.open(newline="") as file:
        for record in csv.DictReader(file):
            found.setdefault(record["disease"], []).append(record["name"])
    return {disease: sorted(names) for disease, names in found.items()}


def assert_nowhere(folder: Path, secret: str) -> None:
    for path in folder.rglob("*"):
        assert secret not in path.name
        if path.is_file() and path.suffix != ".key" and path.name != "people.csv":
            assert secret.encode() not in path.read_bytes(), path.name


def test_identifiers_are_dropped(table: Path, tmp_path: Path, shoal) -> None:
    target = tmp_path / "out.csv"
    assert shoal("anonymize", table, "-o", target, *ROLES, "--k", 3).code == 0
    assert target.read_text().splitlines()[0] == "age,sex,zip,disease"
    assert f"{CANARY} 1" not in target.read_text()


def test_keyed_pseudonyms_are_the_same_in_two_releases(
    table: Path, tmp_path: Path, key_file: Path, shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = ("anonymize", table, *ROLES, "--k", 3, "--pseudonyms", "keyed")
    assert shoal(*common, "-o", tmp_path / "1.csv", "--key-file", key_file, "--save-job", tmp_path / "1.toml").code == 0
    monkeypatch.setenv("SHOAL_KEY", KEY)
    assert shoal(*common, "-o", tmp_path / "2.csv", "--seed", 8, "--save-job", tmp_path / "2.toml").code == 0
    monkeypatch.setenv("SHOAL_KEY", KEY + "!")
    assert shoal(*common, "-o", tmp_path / "3.csv").code == 0
    one, two, three = (names_by_secret(tmp_path / f"{number}.csv") for number in (1, 2, 3))
    assert one == two
    everyone = {name for names in one.values() for name in names}
    assert len(everyone) == 60 and all(re.fullmatch("[0-9a-f]{32}", name) for name in everyone)
    assert everyone.isdisjoint({name for names in three.values() for name in names})
    assert_nowhere(tmp_path, KEY)
    assert_nowhere(tmp_path, f"{CANARY} 1")


def test_blanks_around_a_name_do_not_make_another_person(tmp_path: Path, key_file: Path, shoal) -> None:
    found = []
    for place, change in enumerate((lambda row: row, lambda row: f"  {row}", lambda row: row.replace(",", " ,", 1))):
        source = tmp_path / "people.csv"
        source.write_text(HEADER + "".join(f"{change(row)}\n" for row in rows()))
        target = tmp_path / f"{place}.csv"
        options = ("--k", 3, "--pseudonyms", "keyed", "--key-file", key_file)
        assert shoal("anonymize", source, *ROLES, *options, "-o", target).code == 0
        found.append(names_by_secret(target))
    assert found[0] == found[1] == found[2]


def test_random_pseudonyms(table: Path, tmp_path: Path, shoal) -> None:
    common = ("anonymize", table, *ROLES, "--k", 3, "--pseudonyms", "random")
    for name in ("1", "2"):
        assert shoal(*common, "-o", tmp_path / f"{name}.csv", "--seed", 7).code == 0
    one, two = ({name for names in names_by_secret(tmp_path / f"{n}.csv").values() for name in names} for n in (1, 2))
    assert len(one) == len(two) == 60
    assert one.isdisjoint(two), "a seed must not give them away"


def test_a_person_with_two_records_keeps_one_pseudonym(tmp_path: Path, key_file: Path, shoal) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("name,age\n" + f"{CANARY},30\n,30\n" * 5)
    for options in (("random",), ("keyed", "--key-file", key_file)):
        chosen = ("--identifiers", "name", "--quasi", "age", "--k", 2, "--rows-are-people", "--pseudonyms", *options)
        assert shoal("anonymize", source, "-o", target, "--overwrite", *chosen).code == 0
        with target.open(newline="") as file:
            found = [record["name"] for record in csv.DictReader(file)]
        assert sorted(found)[:5] == [""] * 5 and len(set(found)) == 2


@pytest.mark.parametrize("key", ["", "short", "fifteen bytes..", "   \n"])
def test_keys_that_are_too_short(key: str, table: Path, tmp_path: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "weak.key"
    file.write_text(key)
    common = ("anonymize", table, *ROLES, "--k", 3, "--pseudonyms", "keyed", "-o", tmp_path / "out.csv")
    assert "at least 16" in shoal(*common, "--key-file", file).err
    monkeypatch.setenv("SHOAL_KEY", key)
    ran = shoal(*common)
    assert ran.code == 2 and "at least 16" in ran.err
    assert not key.strip() or key.strip() not in ran.err
    assert not (tmp_path / "out.csv").exists()


def test_keys_that_are_not_there(table: Path, tmp_path: Path, shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_KEY", raising=False)
    common = ("anonymize", table, *ROLES, "--k", 3, "--pseudonyms", "keyed", "-o", tmp_path / "out.csv")
    assert "need a key" in shoal(*common).err
    assert "cannot be read" in shoal(*common, "--key-file", tmp_path / "none.key").err
    assert "cannot be read" in shoal(*common, "--key-file", tmp_path).err
    assert shoal(*common[:-4], "--pseudonyms", "hashed", "-o", tmp_path / "out.csv").code == 2


def test_the_key_is_not_overwritten(table: Path, tmp_path: Path, shoal) -> None:
    key = tmp_path / "key.csv"
    key.write_text(KEY)
    options = ("--k", 3, "--pseudonyms", "keyed", "--key-file", key, "-o", key)
    assert shoal("anonymize", table, *ROLES, *options).code == 2
    assert key.read_text() == KEY
