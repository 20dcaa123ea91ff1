"""The site: every page has its place, loads nothing from elsewhere, and shows its code without scrolling."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
WIDEST = 125
"""Characters that fit into the text of a page on a screen of 1,100 pixels."""


def places(nav):
    """The pages that a part of the navigation names."""
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav.values() if isinstance(nav, dict) else nav) for page in places(part)]


NAV = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
LISTS = ("experiments/", "papers/", "decisions/")
"""Folders whose pages are a list to look things up in, however long."""


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(places(NAV)) == PAGES


def test_sections_are_short_and_lists_stand_in_the_last_one() -> None:
    for section in NAV:
        assert len([page for page in places(section) if not page.startswith(LISTS)]) <= 9
    assert not [page for page in places(NAV[:-1]) if page.startswith(LISTS)]


def test_the_first_page_leads_to_every_page_but_lists() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = {"index.md", "internals.md", *re.findall(r"\]\(([\w/-]+\.md)\)", text)}
    assert [page for page in PAGES if page not in linked and not page.startswith(LISTS)] == []


@pytest.mark.parametrize("page", PAGES)
def test_code_does_not_scroll(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```.*?\n(.*?)```", text, flags=re.DOTALL) for line in block.splitlines()]
    assert [line for line in lines if len(line) > WIDEST] == []


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    built = list(tmp_path.rglob("*.html"))
    assert len(built) > len(PAGES)
    loaded = re.compile(r'(?:\bsrc|rel="(?:stylesheet|preconnect)" href)="https?:')
    assert [page.name for page in built if loaded.search(page.read_text(encoding="utf-8"))] == []
