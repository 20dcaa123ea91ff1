"""Hierarchies that are none: the error says what to fix, and names no value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from canary_table import CANARY, NUMERIC_CANARY

import shoal as library
from shoal.notices import tell

VALUES = [CANARY, "Ann", "Bob", "Cleo"]

BAD = {
    "lacks.csv": (f"{CANARY};x;*\nAnn;x;*\nBob;y;*\n", "lacks 1 of the column's 4 distinct values (5 records)"),
    "parents.csv": (
        f"{CANARY};{NUMERIC_CANARY};a;*\nAnn;{NUMERIC_CANARY};b;*\nBob;y;b;*\nCleo;y;b;*\n",
        "two or more parents",
    ),
    "uneven.csv": (f"{CANARY};x;*\nAnn;*\nBob;y;*\nCleo;y;*\n", "another number of levels"),
    "tops.csv": (f"{CANARY};x;{CANARY}\nAnn;x;{CANARY}\nBob;y;*\nCleo;y;*\n", "one single value"),
    "twice.csv": (f"{CANARY};x;*\n{CANARY};y;*\nAnn;x;*\nBob;y;*\nCleo;y;*\n", "more than once, with different"),
    "halves.json": ('{"\\ud800": ["' + CANARY + '", "Ann"], "b": ["Bob", "Cleo"]}', "2 labels are not text"),
    "empty.csv": ("", "is empty"),
    "blank.csv": ("\n  \n\n", "is empty"),
    "separator.csv": (f"{CANARY}:x:*\nAnn:x:*\nBob:y:*\nCleo:y:*\n", "no separator"),
    "single.csv": (f"{CANARY}\nAnn\nBob\nCleo\n", "no separator"),
    "holes.csv": (f"{CANARY};;*\nAnn;x;*\nBob;y;*\nCleo;y;*\n", "without a path to the top"),
    "zeros.csv": (f"{CANARY};\0;*\nAnn;x;*\nBob;y;*\nCleo;y;*\n", "not a text file"),
    "long.csv": (f"{CANARY};{'x' * 140_000};*\nAnn;x;*\nBob;y;*\nCleo;y;*\n", "cannot be read"),
    "nothing.toml": ("", "named groups"),
    "broken.toml": (f"{CANARY} = [", "not well-formed"),
    "broken.json": (f'{{"{CANARY}": [', "not well-formed"),
    "list.json": (json.dumps(VALUES), "named groups"),
    "hollow.json": (json.dumps({"a": [], "b": {}}), "no raw value"),
    "deep.json": ('{"a":' * 50_000 + "[]" + "}" * 50_000, "not well-formed"),
    "mixed.json": (json.dumps({"a": [CANARY, ["Ann"]], "b": ["Bob", "Cleo"]}), "either named groups or a list"),
    "text.json": (json.dumps({"a": CANARY, "b": ["Ann", "Bob", "Cleo"]}), "either named groups or a list"),
    "doubled.json": (json.dumps({"a": [CANARY, "Ann"], "b": ["Ann", "Bob", "Cleo"]}), "more than once"),
    "lacks.toml": (f'a = ["{CANARY}", "Ann"]', "lacks 2 of"),
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("who,age\n" + "".join(f"{value},{age}\n" for value in VALUES for age in range(30, 35)))
    return path


@pytest.mark.parametrize("name", BAD)
def test_a_hierarchy_that_is_none(name: str, table: Path, tmp_path: Path, shoal) -> None:
    text, reason = BAD[name]
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    ran = shoal("diagnose", table, "--quasi", "who", "--hierarchy", f"who={file}")
    assert ran.code == 2 and reason in ran.err and "'who'" in ran.err, ran
    assert shoal("hierarchy", table, "--column", "who", "--builder", file, "-o", tmp_path / "new.csv").code == 2
    assert not (tmp_path / "new.csv").exists()
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    file.rename(folder / f"who{file.suffix}")
    assert shoal("diagnose", table, "--quasi", "who", "--hierarchies", folder).code == 2


def test_binary_hierarchies(table: Path, tmp_path: Path, shoal) -> None:
    file = tmp_path / "who.csv"
    file.write_bytes(bytes(range(256)))
    assert shoal("diagnose", table, "--quasi", "who", "--hierarchy", f"who={file}").code == 2
    assert shoal("diagnose", table, "--quasi", "who", "--hierarchy", f"who={tmp_path}").code == 2


@pytest.mark.parametrize(
    ("builder", "reason"),
    [
        ("intervals:width=5", "is categorical; intervals need a numeric one"),
        ("dates", "calendar levels need dates"),
        ("ordering:order=Ann|Bob", "lacks 2 of"),
        ("ordering:order=Ann|Ann", "names values twice"),
        ("ordering:fanout=1", "fanout"),
        ("masking:side=middle", "side"),
        ("masking:step=0", "step"),
        ("masking:symbol=", "symbol"),
        ("masking:symbol=xx", "symbol"),
        ("table", "needs path"),
        ("tree", "needs path"),
        ("automatic:finest=1", "finest"),
        ("wizardry:level=3", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_builders_that_do_not_fit(builder: str, reason: str, table: Path, shoal) -> None:
    ran = shoal("hierarchy", table, "--column", "who", "--builder", builder)
    assert ran.code == 2 and reason in ran.err, ran


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ("width=-1", "greater than 0"), ("width=nan", "width"), ("width=inf", "finite"), ("width=x", "width"),
        ("width=5,factor=1", "factor"), ("width=5,levels=0", "levels"), ("width=5,levels=-2", "levels"),
        ("width=5,origin=nan", "finite"), ("width=5,bottom=40,top=30", "bottom must be below top"),
        ("width=5,top=inf", "finite"),
    ],
)  # fmt: skip
def test_intervals_that_are_none(parameters: str, reason: str, table: Path, shoal) -> None:
    ran = shoal("hierarchy", table, "--column", "age", "--builder", f"intervals:{parameters}")
    assert ran.code == 2 and reason in ran.err, ran


def test_a_column_that_is_not_there(table: Path, shoal) -> None:
    assert shoal("hierarchy", table, "--column", "nobody").code == 2
    assert shoal("hierarchy", table).code == 2


@pytest.mark.parametrize("name", ["twice.csv", "twice.json"])
def test_a_value_that_is_listed_twice_alike_is_read(
    name: str, table: Path, tmp_path: Path, shoal, caplog: pytest.LogCaptureFixture
) -> None:
    tell.cache_clear()
    file = tmp_path / name
    twice = {"a": [CANARY, "Ann", "Ann"], "b": ["Bob", "Cleo", "Bob"]}
    rows = [f"{value};{group};*\n" for group, values in twice.items() for value in values]
    file.write_text(json.dumps(twice) if name.endswith("json") else "".join(rows) + rows[0])
    tree = library.read(table, quasi=["who"], hierarchies={"who": file}).hierarchies[0]
    assert sorted(tree.labels[0]) == sorted(VALUES) and tree.labels[1].tolist() == ["a", "b"]
    again = 2 if name.endswith("json") else 3
    assert f"the hierarchy of column 'who' lists {again} rows again; each value counts once" in caplog.text
    assert CANARY not in caplog.text
    assert shoal("diagnose", table, "--quasi", "who", "--hierarchy", f"who={file}").code == 0
