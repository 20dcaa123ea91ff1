"""`shoal hierarchy --extend`: next month's values get a row; what was there stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from shoal.cli import main


@pytest.fixture
def extend(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def run(values: list, file: Path, *more: str) -> tuple[int, str, str]:
        pl.DataFrame({"x": values, "other": ["a"] * len(values)}).write_csv(tmp_path / "table.csv")
        with pytest.raises(SystemExit) as stop:
            main(["hierarchy", str(tmp_path / "table.csv"), "--column", "x", "--extend", str(file), *more])
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


def test_new_values_go_under_the_top(extend, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    old = b"x,group,all\r\nFlu, viral ,any\r\nMumps,viral,any"
    file.write_bytes(old)
    code, out, err = extend(["Flu", "Zoster", "Zoster", "Gout, old", None], file)
    assert code == 0 and err == "" and "Zoster" not in out and "Gout" not in out and "new-values" in out
    assert file.read_bytes() == old + b'\n"Gout, old",any,any\nZoster,any,any\n'
    before = file.read_bytes()
    assert extend(["Flu", "Zoster"], file, "--json")[0] == 0
    assert file.read_bytes() == before
    from shoal import read

    tree = read(tmp_path / "table.csv", quasi=["x"], hierarchies={"x": file}).hierarchies[0]
    assert tree.label(tree.leaf("Flu"), tree.leaf("Flu")) == "Flu"
    ends = sorted((tree.leaf("Flu"), tree.leaf("Zoster")))
    assert tree.ancestor_levels(*([end] for end in ends)).tolist() == [2]


@pytest.mark.parametrize(
    ("kind", "builder", "old", "new", "rows"),
    [
        ("numeric", "intervals:width=5", [20, 24, 30], [23, 33], "23;[20-24];*\n33;[30-34];*\n"),
        ("categorical", "masking:step=2", ["47677", "47905"], ["47601"], "47601;476**;4****;*\n"),
        ("date", "dates:units=month|year", ["1984-05-17"], ["1984-06-01"], "1984-06-01;1984-06;1984;*\n"),
    ],
)  # fmt: skip
def test_a_rule_places_new_values(
    kind: str, builder: str, old: list, new: list, rows: str, extend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, table = tmp_path / "x.csv", tmp_path / "old.csv"
    pl.DataFrame({"x": old}).write_csv(table)
    rule = ("--builder", builder, "--kind", f"x={kind}")
    with pytest.raises(SystemExit):
        main(["hierarchy", str(table), "--column", "x", *rule, "-o", str(file)])
    before = file.read_text()
    capsys.readouterr()
    code, out, _ = extend(new, file, *rule, "--json")
    assert code == 0 and json.loads(out)["findings"]["new-values"]["value"] == rows.count("\n")
    assert file.read_text() == before + rows


def test_a_file_that_was_edited_does_not_keep_the_rule(extend, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("20;young;*\n21;[20-24];*\n")
    before = file.read_bytes()
    code, _, err = extend([20, 33], file, "--builder", "intervals:width=5,levels=1")
    assert code == 2 and "1 of 2 rows are not what this builder makes" in err and "33" not in err
    assert file.read_bytes() == before


def test_what_cannot_be_extended(extend, tmp_path: Path) -> None:
    tree, latin = tmp_path / "x.toml", tmp_path / "x.csv"
    tree.write_text('a = ["b"]\n')
    assert "only a file of rows can be extended" in extend(["b"], tree)[2]
    assert "cannot be read" in extend(["b"], latin)[2] and not latin.exists()
    latin.write_bytes("Köln;*\n".encode("latin-1"))
    assert extend(["Köln", "Łódź"], latin)[0] == 2 and latin.read_bytes() == "Köln;*\n".encode("latin-1")
    assert extend(["Köln", "Bärn"], latin)[0] == 0 and latin.read_text("latin-1") == "Köln;*\nBärn;*\n"
    assert extend(["a"], latin, "-o", str(tmp_path / "o.csv"))[0] == 2
