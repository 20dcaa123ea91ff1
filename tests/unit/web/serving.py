"""The page in a thread of the test, and a plain client that sends what a browser would, or what an attacker might."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from shoal.web.application import application
from shoal.web.safety import Gate
from shoal.web.server import open_socket
from shoal.web.session import PageSession


class Served:
    """A page of its own session."""

    def __init__(
        self,
        folder: Path,
        file: Path | None = None,
        *,
        password: str | None = None,
        around: Callable[[Any], Any] = lambda app: app,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.session = PageSession(folder)
        self.listening = open_socket("127.0.0.1", 0)
        self.port = self.listening.getsockname()[1]
        self.printed: list[str] = []
        self.gate = Gate(
            frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"}), self.printed.append, password=password
        )
        self.token = self.gate.token
        if file is not None:
            self.session.open(file)
        app = around(application(self.session, self.gate))
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.cookie = ""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"{self.base}/?token={self.token}"

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        signed: bool = True,
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer; with the cookie of the page unless told otherwise."""
        status, told, content = self._ask(path, method, body, headers or {}, signed)
        return status, told, content.decode("utf-8", errors="replace")

    def raw(self, path: str) -> bytes:
        """The bytes of an answer."""
        return self._ask(path, "GET", None, {}, True)[2]

    def _ask(
        self, path: str, method: str, body: bytes | None, headers: dict[str, str], signed: bool
    ) -> tuple[int, dict[str, str], bytes]:
        if signed and not self.cookie:
            self.sign_in()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if method == "POST":
            sent |= {"Origin": self.base, "Content-Type": "application/x-www-form-urlencoded"}
        if signed:
            sent["Cookie"] = self.cookie
        connection.request(method, path, body, {**sent, **headers})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def sign_in(self) -> None:
        _, headers, _ = self.ask(f"/?token={self.gate.token}", signed=False)
        self.cookie = headers["set-cookie"].partition(";")[0]

    def facts(self, path: str, *, panel: str | None = None, seconds: float = 240) -> dict[str, Any]:
        """The JSON version of a screen, once the panel that is named is ready."""
        until = time.monotonic() + seconds
        while True:
            told: dict[str, Any] = json.loads(self.ask(path)[2])
            if panel is None or told[panel]["state"] not in ("waiting", "running") or time.monotonic() > until:
                return told
            time.sleep(0.05)

    def post(self, path: str, **fields: object) -> tuple[int, dict[str, str], str]:
        from urllib.parse import urlencode

        return self.ask(path, method="POST", body=urlencode(fields).encode())

    def stop(self) -> None:
        self.server.should_exit = True
        self.session.work.stop()
        self.thread.join(5)
        self.listening.close()
