"""The page calls things by what they do: roles, algorithms, and what is the best of what."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.core.schema import Role


@pytest.fixture
def served(serving: Any, tmp_path: Path) -> Any:
    table = tmp_path / "people.csv"
    frame = shoal.samples.adult().select("age", "sex", "race")[:300]
    contacts = [f"person{place}@mail.example" for place in range(300)]
    frame.insert_column(0, pl.Series("contact", contacts)).write_csv(table)
    page = serving(table)
    page.facts("/exposed.json", panel="exposure")
    for place, role in enumerate(("plain", "quasi", "quasi", "quasi")):
        page.post("/exposed/role", column=place, role=role)
    return page


def candidates(page: Any) -> dict[str, Any]:
    page.facts("/candidates.json", panel="candidates")
    while (told := page.facts("/candidates.json")["candidates"])["busy"]:
        time.sleep(0.02)
    return told


def test_a_column_is_left_out_without_naming_anybody(served: Any) -> None:
    (column,) = candidates(served)["plain"]
    assert column["name"] == "contact"
    served.post("/candidates/settle", column=column["place"], how="drop")
    assert served.session.job.columns["contact"].role is Role.DROP
    assert {row["state"] for row in candidates(served)["rows"]} == {"done"}
    assert '<option value="drop" selected>Left out</option>' in served.ask("/exposed")[2]
    command = served.facts("/hand-over.json")["command"]
    assert "--drop contact" in command and "--identifiers" not in command


def test_algorithms_are_called_by_what_they_do_and_the_best_of_what_is_said(served: Any) -> None:
    served.post("/exposed/role", column=0, role="drop")
    candidates(served)
    page = served.ask("/candidates")[2]
    assert "“Groups of similar people (mondrian)” loses least of those tried." in page
    assert "best of one level per column" in page and "optimum" not in page.replace("about optimum", "")
    served.post("/candidates/choose", spec="optimal")
    assert "Chose the candidate “One level per column (optimal)”" in served.ask("/hand-over")[2]
    served.post("/language", language="de")
    assert "„Gruppen ähnlicher Personen (mondrian)“ verliert" in served.ask("/candidates")[2]
    assert "Vorschlag „Eine Stufe je Spalte (optimal)“." in served.ask("/before-after")[2]
