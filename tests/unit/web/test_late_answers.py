"""The page in a browser whose polls are answered late, or after what was asked later: it never shows itself twice, nor
what is out of date."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import browser as browsers
import pytest
from counts import count

import shoal
from shoal.core.schema import Role
from shoal.web.work import PageTask

TWICE = (
    "() => [...document.querySelectorAll('[id]')].map(each => each.id).filter((id, at, all) => all.indexOf(id) < at)"
)
"""Identifiers that the page holds more than once, as it does when it stands inside itself."""
LONG = 5000
"""Milliseconds of the page's own clock in which everything asks again, were it allowed to."""
STEP = 500
"""Milliseconds of that clock in which a panel that is worked on asks once."""
PANELS = {"exposed": ("exposure", "columns"), "why": ("borders", "knows", "curve"), "candidates": ("candidates",)}


def time_goes_by(page: Any, until: Callable[[], bool], step: int) -> None:
    """Moves the page's clock on until something holds: neither its own pace nor an animation frame is waited for."""
    end = time.monotonic() + browsers.PATIENCE
    while not until():
        assert time.monotonic() < end, page.locator(".panel").all_inner_texts()
        page.clock.run_for(step)
        page.wait_for_timeout(20)  # for the server


class Held:
    """Requests of parts of the page, which wait until they are let go."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base = page, base
        self.waiting: list[Any] = []
        self.open = True
        page.route(lambda address: address.startswith(base), self._came)

    def _came(self, route: Any) -> None:
        part = route.request.headers.get("hx-target")
        if self.open or part is None:
            route.continue_()
        else:
            self.waiting.append(route)

    def asked(self, parts: tuple[str, ...], times: int = 1) -> None:
        """Lets the page's time go by until each of these parts has asked that often."""
        wanted = Counter(parts * times)
        time_goes_by(
            self.page,
            lambda: wanted <= Counter(route.request.headers["hx-target"] for route in self.waiting),
            LONG,
        )

    def let_go(self) -> None:
        """Answers everything, with what the server says now."""
        self.open = True
        for route in self.waiting:
            route.continue_()
        self.waiting.clear()


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Tasks begin once it is set."""
    allowed, carry_out = Event(), PageTask.carry_out

    def later(task: PageTask) -> None:
        allowed.wait()
        carry_out(task)

    monkeypatch.setattr(PageTask, "carry_out", later)
    yield allowed
    allowed.set()


@pytest.fixture
def served(serving: Any, work: Event, tmp_path: Path) -> Any:
    table = tmp_path / "people.csv"
    shoal.samples.adult().select("age", "sex", "race")[:300].write_csv(table)
    return serving(table)


def settled(page: Any, parts: tuple[str, ...]) -> None:
    """Waits until none of the parts is worked on, and a little longer."""
    busy = page.locator(", ".join(f"#{part}[aria-busy], #{part} #busy, #{part} progress" for part in parts))
    time_goes_by(page, lambda: busy.count() == 0, STEP)
    page.clock.run_for(LONG)


@pytest.mark.parametrize("screen", [*PANELS][: count(2, 3)])
def test_a_panel_whose_polls_are_slow_is_shown_once(served: Any, work: Event, looking: Any, screen: str) -> None:
    parts, page = PANELS[screen], looking.page
    page.clock.install()
    held = Held(page, served.base)
    page.goto(served.address)
    if screen != "exposed":
        work.set()
        settled(page, PANELS["exposed"])
        work.clear()
        page.goto(f"{served.base}/{screen}")
    held.open = False
    held.asked(parts)
    page.clock.run_for(LONG)  # it is not answered, and yet time to ask again
    work.set()
    held.let_go()
    settled(page, parts)
    assert page.evaluate(TWICE) == []
    assert page.locator("main").count() == 1 and page.locator(".brand").count() == 1
    assert all(page.locator(f"#{part}.panel").count() == 1 for part in parts)
    assert looking.quiet


@pytest.fixture
def held(served: Any, work: Event, looking: Any) -> Held:
    """A page whose work is done."""
    page = looking.page
    page.clock.install()
    made = Held(page, served.base)
    work.set()
    page.goto(served.address)
    settled(page, PANELS["exposed"])
    return made


def test_what_was_looked_up_before_a_change_does_not_undo_it(held: Held, served: Any, looking: Any) -> None:
    page = looking.page
    ask = "source => void htmx.ajax('GET', '/exposed', {source, target: '#columns', swap: 'morph:outerHTML'})"
    held.open = False
    page.evaluate(ask, "#role-0")
    held.asked(("columns",))
    late = held.waiting.pop()
    answer = late.fetch()
    served.session.change_column("age", "history.role", role=Role.IDENTIFIER)
    held.open = True
    page.evaluate(ask, "#role-1")
    page.wait_for_selector("#columns tr:nth-child(1).role-identifier")
    late.fulfill(response=answer)
    page.clock.run_for(LONG)
    assert "role-identifier" not in answer.text() and page.locator("#role-0").input_value() == "identifier"
    assert page.evaluate(TWICE) == [] and looking.quiet


def test_two_changes_at_once_are_both_shown(held: Held, looking: Any) -> None:
    """The second answer comes when the part that it was for has been replaced by the first one."""
    page = looking.page
    held.open = False
    page.evaluate(
        """() => {
          for (const place of [0, 1]) {
            const select = document.getElementById(`role-${place}`);
            select.value = "identifier";
            select.dispatchEvent(new Event("change", {bubbles: true}));
          }
        }"""
    )
    held.asked(("main",), 2)
    changes = [route for route in held.waiting if route.request.headers["hx-target"] == "main"]
    for place, route in enumerate(changes):
        route.continue_()
        page.wait_for_selector(f"#columns tr:nth-child({place + 1}).role-identifier")
    assert page.evaluate(TWICE) == []


def test_a_page_that_is_no_part_is_dropped(served: Any, work: Event, looking: Any) -> None:
    """As is one that asks for a password, where a part was asked for."""
    page = looking.page
    page.clock.install()
    page.goto(served.address)
    whole = page.content()
    page.route("**/exposed", lambda route: route.fulfill(body=whole, content_type="text/html"))
    with page.expect_response("**/exposed"):
        page.clock.run_for(LONG)
    page.clock.run_for(LONG)
    assert page.evaluate(TWICE) == [] and page.locator("main").count() == 1
