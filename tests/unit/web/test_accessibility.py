"""Every screen in a real browser, on a phone and on a desk, dark and light, in both languages, and in every state:
axe-core finds nothing, and nothing is wider than the screen."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import browser as browsers
import pytest
from counts import LONG

import shoal
from shoal.core.run import Run
from shoal.web import candidates
from shoal.web.screens import NAMES

DESK, PHONE = 1280, 390
WAYS = ((PHONE, "dark", "de"), (DESK, "light", "en"))
"""Pairs instead of products."""
TOO_WIDE = """width => [...document.querySelectorAll('main *, header *, nav')]
  .filter(each => !each.closest('.scroll, .picture, pre, .steps, .skip, .hidden') && each.clientWidth)
  .filter(each => each.getBoundingClientRect().right > width + 1).map(each => each.outerHTML.slice(0, 120))"""
"""What stands out of the screen, unless it scrolls inside its card."""


ASKED = {"exposed": "?preview=yes", "give-up": "?column=0", "candidates": "?lattice=open", "before-after": "?column=0"}
ADDRESSES = tuple(f"{name}{ASKED.get(name, '')}" for name in NAMES)
"""Every screen with all that it can show."""
ON_A_DESK = ("exposed?preview=yes", "candidates?lattice=open")
"""Those with the widest tables, which are looked at on a desk every day; the long suite looks at all of them."""


class Checked:
    """A page that is looked at in each way."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base = page, base

    def look(self, address: str, *, wait: str = "main", busy: bool = False, opened: bool = False) -> None:
        """Goes there, and checks it once it is ready, or while something is under way."""
        for width, scheme, language in WAYS if LONG or address in ON_A_DESK else WAYS[:1]:
            self.page.set_viewport_size({"width": width, "height": 800})
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self.page.context.request.post(
                f"{self.base}/language", form={"language": language}, headers={"Origin": self.base}
            )
            self.page.goto(f"{self.base}/{address}")
            self.page.wait_for_selector(wait)
            if not busy:
                self.page.wait_for_function(
                    "() => !document.querySelector('main [aria-busy=true]')", polling=browsers.PACE
                )
            if opened:
                self.page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
            way = f"{address} ({width}, {scheme}, {language})"
            assert self.page.locator("html").get_attribute("lang") == language
            assert browsers.faults(self.page) == [], way
            assert self.page.evaluate("() => document.documentElement.scrollWidth") <= width, way
            assert self.page.evaluate(TOO_WIDE, width) == [], way
            assert self.page.evaluate("() => { const bar = document.querySelector('nav.steps');"
                                      " return bar.offsetHeight - bar.clientHeight }") == 0, way  # fmt: skip


@pytest.fixture
def looked_at(browser: Any, serving: Any) -> Any:
    with browsers.looking(browser) as seen:

        def open_page(file: Path | None = None) -> tuple[Any, Checked]:
            served = serving(file)
            seen.page.goto(served.address)
            return served, Checked(seen.page, served.base)

        yield open_page
        assert seen.quiet


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    shoal.samples.adult().select("age", "sex", "race", "occupation", "native-country")[:400].write_csv(path)
    return path


def roles(served: Any, *chosen: str) -> None:
    served.facts("/exposed.json", panel="exposure")
    for place, role in enumerate(chosen):
        served.post("/exposed/role", column=place, role=role)


def test_every_screen(looked_at: Any, people: Path) -> None:
    served, checked = looked_at(people)
    roles(served, "quasi", "quasi", "quasi", "sensitive", "drop")
    served.post("/exposed/person", person="rows")
    served.post("/balance/begin", **{"from": 2, "to": 4, "target": ""})
    served.post("/before-after/declare", analysis="count where age >= 40")
    served.post("/hand-over/make", name="release.csv", sign="")
    served.facts("/hand-over.json", panel="package")
    served.post("/hand-over/report", recipient="The registry")
    for address in ADDRESSES:
        checked.look(address, opened=True)


def test_nothing_yet_a_wrong_file_and_no_columns(looked_at: Any, people: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "photo.csv"
    wrong.write_bytes(bytes(range(256)) * 8)
    served, checked = looked_at()
    checked.look("exposed")
    served.session.open(wrong)
    checked.look("exposed", wait="[role=alert]")
    served.session.open(people)
    roles(served, *["drop"] * 5)
    for address in ("exposed", "why", "candidates"):
        checked.look(address)


def test_while_something_runs_and_after_it_was_stopped(
    looked_at: Any, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def slow(*given: Any, run: Run, **named: Any) -> None:
        while not ended.wait(0.02):
            run.report(0.5, "thinking")

    monkeypatch.setattr(candidates.api, "anonymize", slow)
    served, checked = looked_at(people)
    roles(served, "quasi", "quasi", "quasi", "sensitive", "drop")
    checked.look("candidates", wait=".card progress", busy=True)
    checked.look("attack", wait="#attacks progress", busy=True)
    checked.look("why", wait="#work progress")
    for task in served.session.work.active:
        served.post("/work/stop", number=task.number)
    checked.look("attack", wait="#attacks [role=alert]")
    ended.set()


def test_charts_of_one_or_two_points_are_tables(looked_at: Any, tmp_path: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("sex,town\n" + "f,a\nm,b\n" * 30, encoding="utf-8")
    served, checked = looked_at(table)
    roles(served, "quasi", "quasi")
    served.post("/exposed/person", person="rows")
    page = checked.page
    for address, part in (("why", "#curve"), ("before-after?column=0", "#distribution"), ("candidates", "#candidates")):
        page.goto(f"{checked.base}/{address}")
        page.wait_for_function("() => !document.querySelector('main [aria-busy=true]')", polling=browsers.PACE)
        assert page.locator(f"{part} img").count() == 0, address
        assert page.locator(f"{part} table, {part} .figures").first.is_visible(), address
    page.goto(f"{checked.base}/give-up")
    labels = page.locator("svg.line text").all_text_contents()
    assert any("limit 9" in label and "k = 11" in label for label in labels) and any(
        "yours 20" in label for label in labels
    )
    page.goto(f"{checked.base}/why")
    assert page.locator(".ticks span").all_inner_texts() == ["1", "2"]
