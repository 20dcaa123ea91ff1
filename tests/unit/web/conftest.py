"""A page that is really served, for the tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import shoal

sys.path.insert(0, str(Path(__file__).parent))

QUASI = ("age", "sex", "race")


@pytest.fixture
def serving(tmp_path: Path):
    """Starts pages: `serving(file)`; they are stopped at the end."""
    from serving import Served

    started: list[Served] = []

    def start(file: Path | None = None, **options: object) -> Served:
        started.append(Served(tmp_path / "private", file, **options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    shoal.samples.adult().select(*QUASI, "occupation", "salary-class")[:1000].write_csv(path)
    return path


@pytest.fixture
def served(serving, table: Path) -> Any:
    page = serving(table)
    page.facts("/exposed.json", panel="exposure")
    told = page.facts("/exposed.json", panel="columns")
    for row in told["columns"]["rows"]:
        role = "quasi" if row["name"] in QUASI else "sensitive" if row["name"] == "occupation" else "identifier"
        page.post("/exposed/role", column=row["place"], role=role)
    page.post("/exposed/person", person="rows")
    return page
