"""Packaging: the lowest versions that are tried are the lowest that are allowed."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_lowest_versions_are_those_of_the_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    bounds = dict(each.split(">=") for each in listed if ">=" in each)
    pinned = dict(line.split("==") for line in (ROOT / "constraints-lowest.txt").read_text().split())
    assert len(bounds) > 20
    for name, bound in bounds.items():
        assert f"{pinned[name]}.".startswith(f"{bound}."), f"{name}: {bound} is allowed and {pinned[name]} is tried"
