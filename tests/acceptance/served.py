"""`shoal serve` as a process of its own, for tests that use its page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import browser as browsers


class Server:
    """`shoal serve` as a process of its own, with its own place for temporary files."""

    def __init__(self, folder: Path, file: Path | None = None) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        command = [sys.executable, "-m", "shoal", "serve", *([str(file)] if file else []), "--no-browser"]
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=folder
        )
        assert self.process.stdout is not None
        self.address = re.search(r"http\S+", self.process.stdout.readline())[0]
        self.base = self.address.partition("?")[0].rstrip("/")

    def stop(self) -> str:
        """Ends it as Ctrl+C does, and gives what it printed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        printed, _ = self.process.communicate(timeout=browsers.PATIENCE)
        return printed


def ready(page: Any, selector: str = "main") -> None:
    """Waits until nothing on the page is being worked on."""
    page.wait_for_selector(selector)
    page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
