"""The page takes a column as the household, and shows what households add to the risk."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.core.schema import Role


def test_a_column_is_the_household_and_only_one(serving, tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "age": [20 + row % 7 for row in range(60)], "sex": ["f", "m"] * 30,
            "home": [f"h{row // 3}" for row in range(60)], "flat": [f"f{row // 2}" for row in range(60)],
        }
    )  # fmt: skip
    table.write_csv(tmp_path / "people.csv")
    page = serving(tmp_path / "people.csv")
    page.facts("/exposed.json", panel="columns")
    for column, role in enumerate(["quasi", "quasi", "household", "household"]):
        page.post("/exposed/role", column=column, role=role)
    columns = page.session.job.columns
    assert (columns["home"].role, columns["flat"].role) == (Role.IDENTIFIER, Role.HOUSEHOLD)
    facts = page.facts("/exposed.json", panel="exposure")["exposure"]
    assert facts["households"]["count"] == 30 and facts["households"]["together"] > facts["households"]["alone"]
    shown = page.ask("/exposed")[2]
    assert shown.count('<option value="household" selected>Names the household (dropped)</option>') == 1
    assert "of 30 households are unlike any other" in shown
    german = page.ask("/exposed", headers={"Accept-Language": "de"})[2]
    assert "von 30 Haushalten gleichen keinem anderen" in german


def test_household_variables_are_declared_on_the_page(serving, tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "age": [20 + row % 7 for row in range(60)], "region": [f"r{row // 3 % 4}" for row in range(60)],
            "home": [f"h{row // 3}" for row in range(60)],
        }
    )  # fmt: skip
    table.write_csv(tmp_path / "people.csv")
    page = serving(tmp_path / "people.csv")
    page.facts("/exposed.json", panel="columns")
    for column, role in enumerate(["quasi", "quasi", "identifier"]):
        page.post("/exposed/role", column=column, role=role)
    assert "shared-1" not in page.ask("/exposed")[2]
    page.post("/exposed/role", column=2, role="household")
    assert "The same for the whole household" in page.ask("/exposed")[2]
    page.post("/exposed/shared", column=1, shared="yes")
    assert page.session.job.household_variables == ("region",)
    page.facts("/exposed.json", panel="exposure")
    assert page.session.data().household_variables == ("region",)
    assert '<option value="yes" selected>' in page.ask("/exposed")[2]
    page.post("/exposed/shared", column=0, shared="yes")
    shown = page.ask("/exposed")[2]
    assert page.session.job.household_variables == ("region",), "age differs inside households"
    assert "r1" not in shown.split("<table", 1)[0]
    page.post("/exposed/role", column=1, role="plain")
    assert page.session.job.household_variables == ()
    page.post("/exposed/role", column=1, role="quasi")
    page.post("/exposed/shared", column=1, shared="yes")
    page.post("/exposed/role", column=2, role="drop")
    assert page.session.job.household_variables == ()
