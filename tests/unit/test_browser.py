"""The browser that other tests look through sees what goes wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any


def test_while_it_waits_for_the_next_file_others_may_run_event_loops(started_browser: Any) -> None:
    for _ in range(2):
        with started_browser.used() as browser:
            assert browser.is_connected() and browser.contexts == []
        assert asyncio.run(asyncio.sleep(0, "done")) == "done"


def test_a_browser_notes_requests_errors_and_dialogs(looking: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<p id=p>shown</p><img src='https://example.org/a.png'>"
        "<script>console.error('wrong'); alert('asked'); missing()</script>"
    )
    assert looking.open(page).inner_text("#p") == "shown"
    assert looking.elsewhere == ["https://example.org/a.png"]
    assert "wrong" in looking.console and looking.dialogs == ["asked"] and "missing" in looking.errors[0]
    assert not looking.quiet


def test_a_plain_page_is_quiet(looking: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><title>t</title><link rel=icon href='data:,'><p>shown</p>")
    looking.open(tmp_path / "page.html")
    assert looking.quiet and looking.elsewhere == []
