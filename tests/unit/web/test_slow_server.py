"""The page in a browser whose server is slow, and answers what was asked last before what was asked first."""

from __future__ import annotations

import asyncio
from itertools import cycle
from pathlib import Path
from typing import Any

import polars as pl

import shoal

DELAYS = (0.6, 0.0, 0.8, 0.1)
"""Seconds that answers to parts of the page wait, one after the other: some come after what was asked later."""
WATCH = """() => {
  window.twice = [];
  const look = () => {
    const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
    window.twice.push(...ids.filter((id, at) => ids.indexOf(id) < at));
    if (document.querySelectorAll('header, main, nav').length > 3) window.twice.push('the page');
  };
  document.addEventListener('DOMContentLoaded', () => {
    look();
    new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
  });
}"""
"""Notes whatever the page holds twice, at any moment."""


class Slow:
    """A server whose answers to parts of the page were right when they were made, and come late."""

    def __init__(self, app: Any) -> None:
        self.app, self.delays = app, cycle(DELAYS)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or b"hx-request" not in dict(scope["headers"]):
            return await self.app(scope, receive, send)
        messages = []

        async def keep(message: Any) -> None:
            messages.append(message)

        await self.app(scope, receive, keep)
        await asyncio.sleep(next(self.delays))
        for message in messages:
            await send(message)


def test_the_page_never_stands_inside_itself(serving: Any, looking: Any, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    frame = shoal.samples.adult().select("age", "sex", "race", "occupation")[:400]
    frame.with_columns(pl.Series("note", [f"note {place % 7}" for place in range(400)])).write_csv(table)
    served, page = serving(around=Slow), looking.page
    page.add_init_script(f"({WATCH})()")
    page.goto(served.address)
    page.set_input_files("#table", str(table))
    for address in (None, "why", "give-up?column=0", "candidates", "before-after", "attack"):
        if address is not None:
            page.goto(f"{served.base}/{address}")
        page.wait_for_function("() => !document.querySelector('[aria-busy], #busy, main progress')")
        assert page.evaluate("window.twice") == [], address
        assert page.locator("main .panel").count() > 0, address
    assert looking.quiet
