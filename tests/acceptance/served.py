"""`shoal serve` as a process of its own, for tests that use its page."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import browser as browsers
from command import Commands


class Server:
    """`shoal serve` as a process of its own, with its own place for temporary files."""

    def __init__(self, commands: Commands, folder: Path, file: Path | None = None) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        table = [file] if file else []
        self.process = commands.start("serve", *table, "--no-browser", folder=folder, TMPDIR=str(self.temporary))
        self.address = self.process.until(lambda: re.search(r"http\S+(?=\s)", self.process.out))[0]
        self.base = self.address.partition("?")[0].rstrip("/")

    def stop(self, how: signal.Signals = signal.SIGINT) -> str:
        """Ends it as Ctrl+C does, or otherwise, and gives what it printed."""
        if self.process.alive:
            self.process.send(how)
        ended = self.process.ended(browsers.PATIENCE)
        return ended.out + ended.err


def ready(page: Any, selector: str = "main") -> None:
    """Waits until nothing on the page is being worked on."""
    page.wait_for_selector(selector)
    page.wait_for_function("() => !document.querySelector('[aria-busy=true]')", polling=browsers.PACE)
