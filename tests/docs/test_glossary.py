"""The glossary explains every role, model and form, each in a line of its own, and nothing that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal import registry
from shoal.core.schema import Role

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")}
NAMED = {"Roles": [role.value for role in Role], "Models": registry.names("models"), "Forms": registry.names("forms")}


@pytest.mark.parametrize("section", NAMED)
def test_every_name_is_explained_once(section: str) -> None:
    lines = dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", SECTIONS[section], re.MULTILINE))
    shipped = {name for name in NAMED[section] if section == "Roles" or _is_ours(section.lower(), name)}
    assert set(lines) == shipped, "add a line to docs/glossary.md"
    assert all(len(line.split()) >= 4 for line in lines.values())


def _is_ours(family: str, name: str) -> bool:
    """Whether a plug-in is part of Shoal: those of other packages are explained there."""
    return registry.find(family, name).__module__.startswith("shoal.")
