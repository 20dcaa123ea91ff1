"""Every promise of SECURITY.md names the tests that keep it, and they are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    row.strip("|").split("|")
    for row in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    if row.startswith("| ") and "`tests/" in row
]


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("promise", "kept_by"), [(row[0].strip(), row[-1]) for row in ROWS])
def test_a_promise_is_kept_by_tests_that_exist(promise: str, kept_by: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", kept_by)
    assert promise and named
    for path, function in named:
        assert (ROOT / path).is_file(), path
        assert not function or function in functions(ROOT / path), f"{path}::{function}"


def test_every_table_of_promises_names_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| promise \|.*\n\|[-| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert len(tables) >= 4 and sum(table.count("\n") for table in tables) == len(ROWS)
