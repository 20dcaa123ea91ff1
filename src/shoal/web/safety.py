"""Who may talk to the page: its own browser only.

Other pages in the same browser, other names that lead to this machine (DNS rebinding) and other people on it are kept
out by the `Host` header, the `Origin` of what changes something, and a cookie that a token opens once. Nothing of a
request is logged, and an error that nobody expected is told without its text, which may hold values.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
OPEN = ("/assets/", "/sign-in")
"""Addresses that need no cookie: what the refusal itself looks like, and where a password is given."""
SAFE = ("GET", "HEAD")
PAUSE = 1.0
"""Seconds after a wrong password."""


@dataclass(eq=False)
class Gate:
    """What opens the page. Each token opens it once; `announce` is called with the next one. Where the page is reached
    from other machines, a password opens it."""

    hosts: frozenset[str]
    announce: Callable[[str], None]
    password: str | None = None
    secure: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookies: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def cookie_for_token(self, token: str) -> str | None:
        """A cookie for whoever has the token, which is worth nothing from then on."""
        if self.password is not None:
            return None
        with self._lock:
            if not secrets.compare_digest(token.encode(), self.token.encode()):
                return None
            self.token = secrets.token_urlsafe(32)
        self.announce(self.token)
        return self._cookie()

    def cookie_for_password(self, password: str) -> str | None:
        """A cookie for whoever knows the password; guessing it is slow."""
        if self.password is None:
            return None
        with self._lock:
            right = secrets.compare_digest(password.encode(), self.password.encode())
            if not right:
                time.sleep(PAUSE)
        return self._cookie() if right else None

    def _cookie(self) -> str:
        cookie = secrets.token_urlsafe(32)
        self.cookies.add(cookie)
        return cookie

    @property
    def name(self) -> str:
        """Of the cookie; browsers do not tell ports apart, so the port is in it."""
        return f"shoal-{min(self.hosts).rpartition(':')[2]}"

    def knows(self, headers: Headers) -> bool:
        """Whether a request has a cookie of this page."""
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.name)
        except CookieError:
            return False
        return cookie is not None and any(secrets.compare_digest(cookie.value, each) for each in self.cookies)

    def with_cookie(self, response: Response, cookie: str) -> Response:
        response.set_cookie(self.name, cookie, httponly=True, samesite="strict", secure=self.secure, path="/")
        return response


class Guarded:
    """The page behind its gate."""

    def __init__(self, app: ASGIApp, gate: Gate, refusal: Callable[[Scope, str, int], Response]) -> None:
        self.app, self.gate, self.refusal = app, gate, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began = False

        async def with_headers(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            answer = self._refused(scope)
            await (answer or self.app)(scope, receive, with_headers)
        except Exception as error:  # nothing of it may reach a log: its text may hold values
            if not began:
                response = self.refusal(scope, f"internal:{type(error).__name__}", 500)
                await response(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """The answer to a request that must not get in; None for one that may."""
        headers, gate = Headers(scope=scope), self.gate
        host = headers.get("host", "").lower()
        if host not in gate.hosts:
            return self.refusal(scope, "host", 421)
        if scope["method"] not in (*SAFE, "POST"):
            return self.refusal(scope, "method", 405)
        site = headers.get("sec-fetch-site", "same-origin")
        if scope["method"] not in SAFE:
            origin = headers.get("origin", "")
            if origin.partition("://")[2].lower() != host or site != "same-origin":
                return self.refusal(scope, "origin", 403)
        elif site == "cross-site" and headers.get("sec-fetch-mode", "navigate") != "navigate":
            return self.refusal(scope, "origin", 403)
        if any(scope["path"].startswith(start) for start in OPEN):
            return None
        token = QueryParams(scope["query_string"]).get("token")
        if scope["path"] == "/" and token is not None:
            cookie = gate.cookie_for_token(token)
            if cookie is not None:
                return gate.with_cookie(RedirectResponse("/", 303), cookie)
        if gate.knows(headers):
            return RedirectResponse("/", 303) if scope["path"] == "/" and token is not None else None
        if gate.password is not None and scope["method"] in SAFE:
            return RedirectResponse("/sign-in", 303)
        return self.refusal(scope, "token", 403)


def wants_json(scope: Scope) -> bool:
    """Whether a request is for the JSON version of a screen."""
    return bool(scope["path"].endswith(".json"))


def as_json(body: dict[str, Any], status: int) -> Response:
    return JSONResponse(body, status)
