"""Every decision has a status, and a line in the index that says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
DECISIONS = sorted(path.name for path in FOLDER.glob("[0-9]*.md"))
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((.+)\) \| (.+) \| (.+) \|$", re.MULTILINE)
TEXT = (FOLDER / "index.md").read_text(encoding="utf-8")
INDEX = {name: (number, title, line, status) for number, title, name, line, status in ROW.findall(TEXT)}
STATUS = re.compile(
    r"^\*\*Status\.\*\* (?:Accepted(?:; (superseded in part) by \[decision (\d+)\]\((.+?)\))?"
    r"|(Superseded) by \[decision (\d+)\]\((.+?)\))\.",
    re.MULTILINE,
)


def test_the_index_has_every_decision_in_order() -> None:
    assert list(INDEX) == DECISIONS
    assert [int(number) for number, *_ in INDEX.values()] == [int(name[:4]) for name in DECISIONS]


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_has_the_title_and_the_status_that_the_index_says(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    number, title, line, said = INDEX[name]
    assert text.startswith(f"# {number}. {title}\n") and line
    (status,) = STATUS.finditer(text)
    how, by, where = status.group(1, 2, 3) if status.group(4) is None else status.group(4, 5, 6)
    assert said == (f"{how.lower()} by {by}" if how else "accepted")
    if how:
        assert where.startswith(f"{int(by):04}-") and (FOLDER / where).is_file()
