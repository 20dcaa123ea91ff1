"""A real browser that looks at pages: it notes what goes wrong in them, and lets nothing leave the machine."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

AXE = Path(__file__).parent / "axe" / "axe.min.js"
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The one that cannot show windows takes a fraction of the processor time."""
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PATIENCE = 240
"""Seconds for whatever a page is waited for: a machine that does other things as well takes its time."""
PACE = 100
"""Milliseconds between two looks at a page that works: every frame, as Playwright would, takes a processor from it."""
AT_HOME = ("127.0.0.1", "localhost", "")
"""Hosts that a page may ask: a server of the test itself, or none at all."""

MORPHED = "duplicate ids found during morph"
"""Two answers of the server that came at once, which the library notes and bears."""


@dataclass
class Seen:
    """What a page did: what it asked for besides itself, what it wrote to the console, and what it raised."""

    page: Any
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def open(self, address: str | Path) -> Any:
        """The page at an address, or of a file, once everything in it is there."""
        self.page.goto(address.resolve().as_uri() if isinstance(address, Path) else address, wait_until="networkidle")
        return self.page

    @property
    def elsewhere(self) -> list[str]:
        """What it asked of other machines."""
        return [address for address in self.requests if urlparse(address).hostname not in (*AT_HOME, None)]

    @property
    def quiet(self) -> bool:
        """Whether it wrote no error, raised nothing and asked nothing of the person."""
        said = [text for text in self.console if MORPHED not in text]
        return not (said or self.errors or self.dialogs)


@contextmanager
def started() -> Iterator[Started]:
    """A browser; it ends with the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        made = Started(browser, asyncio.get_running_loop())
        asyncio._set_running_loop(None)
        try:
            yield made
        finally:
            asyncio._set_running_loop(made.loop)
            browser.close()


@dataclass(frozen=True)
class Started:
    """A browser that waits for whoever needs it.

    Between two calls Playwright leaves its event loop marked as running, and then no other loop can run in the thread:
    the mark is there only while the browser is used.
    """

    browser: Any
    loop: asyncio.AbstractEventLoop

    @contextmanager
    def used(self) -> Iterator[Any]:
        asyncio._set_running_loop(self.loop)
        try:
            yield self.browser
        finally:
            asyncio._set_running_loop(None)


@contextmanager
def looking(browser: Any, **settings: Any) -> Iterator[Seen]:
    """A fresh page of a browser that notes everything; requests to other machines are noted and cut off."""
    context = browser.new_context(**settings)
    context.set_default_timeout(1000 * PATIENCE)
    seen = Seen(context.new_page())
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.on("console", lambda said: seen.console.append(said.text) if said.type in ("error", "warning") else None)
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))

    def dismissed(dialog: Any) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    seen.page.on("dialog", dismissed)
    context.route(lambda address: urlparse(address).hostname not in (*AT_HOME, None), lambda route: route.abort())
    try:
        yield seen
    finally:
        context.close()


def faults(page: Any) -> list[str]:
    """Accessibility faults, as axe finds them."""
    if page.evaluate("() => typeof axe") == "undefined":
        page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in violations]
