"""The site: every page has its place, loads nothing from elsewhere, and shows its code without scrolling."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

import shoal

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site beside that of an older version."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "0.0.9").mkdir()
    (folder / "0.0.9" / "index.html").touch()
    build: Any = runpy.run_path(str(DOCS / "site.py"))["build"]
    assert build(folder) == folder / shoal.__version__
    return folder


def test_every_version_has_its_folder(site: Path) -> None:
    entries = json.loads((site / "versions.json").read_text(encoding="utf-8"))
    assert [(entry["version"], entry["aliases"]) for entry in entries] == [
        (shoal.__version__, ["latest"]), ("0.0.9", []),
    ]  # fmt: skip
    assert f"url={shoal.__version__}/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_the_search_works_from_the_disk(site: Path, looking: Any) -> None:
    page = looking.open(site / shoal.__version__ / "index.html")
    page.fill("[data-md-component=search-query]", "unique-exact-matches")
    page.wait_for_selector(".md-search-result__item a")
    found = page.locator(".md-search-result__item a").evaluate_all("links => links.map(link => link.href)")
    assert any("/reference/metrics.html" in link for link in found), found
    assert not looking.elsewhere and not looking.errors


def test_the_site_is_built_and_loads_nothing_from_elsewhere(site: Path) -> None:
    built = list((site / shoal.__version__).rglob("*.html"))
    assert len(built) > len(PAGES)
    loaded = re.compile(r'(?:\bsrc|rel="(?:stylesheet|preconnect)" href)="https?:')
    assert [page.name for page in built if loaded.search(page.read_text(encoding="utf-8"))] == []


def test_the_contents_for_language_models_name_every_page(site: Path) -> None:
    folder = site / shoal.__version__
    contents = (folder / "llms.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^- \[(.+?)\]\(([^)]*)\): (.+)$", contents, re.MULTILINE)
    assert len(lines) == len(PAGES)
    assert [address for _, address, _ in lines if not (folder / address).is_file()] == []
