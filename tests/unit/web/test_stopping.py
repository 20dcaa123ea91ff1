"""Stopping work in a real browser: parts that ask again by themselves keep the button that somebody is pressing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.core.run import Run
from shoal.web import candidates
from shoal.web.work import TaskState


@pytest.fixture
def served(serving, tmp_path: Path) -> Any:
    path = tmp_path / "people.csv"
    shoal.samples.adult().select("age", "sex", "race")[:300].write_csv(path)
    page = serving(path)
    page.facts("/exposed.json", panel="exposure")
    for place in range(3):
        page.post("/exposed/role", column=place, role="quasi")
    page.post("/exposed/person", person="rows")
    return page


class Slow:
    """Work that says how far it is whenever it is told to, and ends only when it is stopped."""

    def __init__(self) -> None:
        self.step, self.gate = 0, threading.Event()

    def __call__(self, run: Run) -> None:
        while not self.gate.wait(0.02):
            run.report(0.5, f"step {self.step}")


def pressed(page: Any, slow: Slow, part: str) -> None:
    """Presses Stop, and lets go after the part was brought up to date twice."""
    page.wait_for_selector(f"{part}:has-text('step 0')")
    page.locator(f"{part} button:has-text('Stop')").hover()
    page.mouse.down()
    for slow.step in (1, 2):
        page.wait_for_selector(f"{part}:has-text('step {slow.step}')")
    page.mouse.up()


def test_work_of_another_screen_is_stopped_by_a_slow_click(served: Any, looking: Any) -> None:
    slow = Slow()
    task = served.session.work.task("slow", "work.balance", slow, long=True)
    page = looking.page
    page.goto(f"{served.base}/?token={served.gate.token}")
    pressed(page, slow, "#work")
    page.wait_for_selector("#work .task", state="detached")
    assert task.state is TaskState.STOPPED and looking.quiet


def test_a_panel_and_a_card_are_stopped_by_a_slow_click(
    served: Any, looking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(candidates.api, "anonymize", lambda *given, run, **named: slow(run))
    looking.page.goto(f"{served.base}/?token={served.gate.token}")
    for address, part in (("attack", "#attacks"), ("candidates", "#candidate-optimal")):
        slow.step = 0
        looking.page.goto(f"{served.base}/{address}")
        pressed(looking.page, slow, part)
        looking.page.wait_for_selector(f"{part} button:has-text('Try again')")
    assert looking.quiet
