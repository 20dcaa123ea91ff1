"""The application: addresses, and what answers them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import PurePath
from typing import IO, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from shoal.errors import ShoalError
from shoal.web import pictures, uploads
from shoal.web.messages import Words, languages, preferred
from shoal.web.rendering import message, page
from shoal.web.safety import Gate, Guarded, as_json, wants_json
from shoal.web.screens import Screen, screens_by_name
from shoal.web.session import NotReady, PageSession

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".LICENSE": "text/plain"}


def application(session: PageSession, gate: Gate) -> ASGIApp:
    """The page of a session, behind its gate."""
    screens = screens_by_name()
    routes = [
        Route("/", lambda request: RedirectResponse("/exposed", 303)),
        Route("/assets/{name}", _asset),
        Route("/open", _upload_route(session, uploads.open_table, "/exposed"), methods=["POST"]),
        Route("/open/sample", _action_route(session, uploads.open_sample), methods=["POST"]),
        Route("/open/again", _action_route(session, _open_again), methods=["POST"]),
        Route("/attack/register", _upload_route(session, uploads.open_register, "/attack"), methods=["POST"]),
        Route("/language", _action_route(session, _language), methods=["POST"]),
        Route("/history", _action_route(session, _history), methods=["POST"]),
        Route("/work/stop", _action_route(session, _stop), methods=["POST"]),
        Route("/work/again", _action_route(session, _again), methods=["POST"]),
        Route("/work.json", _work_route(session)),
        Route("/sign-in", _sign_in_route(gate), methods=["GET", "POST"]),
    ]
    for screen in screens.values():
        show = _screen_route(session, screen)
        routes += [Route(screen.address, show), Route(f"{screen.address}.json", show)]
        routes += [
            Route(f"{screen.address}/{name}", _action_route(session, action, screen), methods=["POST"])
            for name, action in screen.actions.items()
        ]
        routes += [
            Route(f"{screen.address}/{name}.svg", _picture_route(session, chart))
            for name, chart in screen.pictures.items()
        ]
        routes += [Route(f"{screen.address}/{name}", _file_route(session, make)) for name, make in screen.files.items()]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _missing, Exception: _unexpected})
    return Guarded(inner, gate, _refusal)


def _screen_route(session: PageSession, screen: Screen) -> Callable[[Request], Response]:
    def show(request: Request) -> Response:
        number = next(session.numbers)
        there = session.readable or screen.name == "exposed"
        if not there and not wants_json(request.scope):
            return RedirectResponse("/exposed", 303)
        facts = screen.facts(session, request.query_params) if there and not session.changed else {}
        return page(request, session, screen.name, facts, number)

    return show


def _action_route(session: PageSession, action: Callable[..., str | None], screen: Screen | None = None) -> Any:
    """What carries out something that a form asks for, and then shows the page again that it stands on."""

    async def act(request: Request) -> Response:
        async with request.form(max_files=0, max_fields=10_000) as form:
            fields = {key: value for key, value in form.multi_items() if isinstance(value, str)}

        def carry_out() -> str | None:
            tab, known = (fields.pop(name, "") for name in ("shoal-tab", "shoal-decisions"))
            if session.decided_elsewhere(tab, known) and (screen is not None or action is _history):
                session.notice = ("error.elsewhere", {})
                return None
            before = session.place, session.steps
            try:
                return action(session, fields)
            except NotReady as pending:
                session.notice = ("error.not_ready", {"doing": pending.task.run.doing})
            except ShoalError as error:
                session.notice = ("error.plain", {"error": str(error)})
            except OSError as error:
                session.notice = ("error.disk", {"reason": error.strerror or type(error).__name__})
            finally:
                if (session.place, session.steps) != before:
                    session.decisions.append(tab)
            return None

        address = await run_in_threadpool(carry_out)
        fallback = screen.address if screen is not None else _back(request)
        return RedirectResponse(address or fallback, 303)

    return act


def _back(request: Request) -> str:
    """The screen that a form says it stands on."""
    name = request.query_params.get("from", "exposed")
    return f"/{name}" if name in screens_by_name() else "/exposed"


def _language(session: PageSession, form: dict[str, str]) -> None:
    if form.get("language") in languages():
        session.language = form["language"]


def _history(session: PageSession, form: dict[str, str]) -> None:
    moves = {"undo": session.place - 1, "redo": session.place + 1}
    step = form.get("step", "")
    session.go(moves[step] if step in moves else int(step) if step.isdigit() else session.place)


def _open_again(session: PageSession, form: dict[str, str]) -> None:
    session.read_again()


def _stop(session: PageSession, form: dict[str, str]) -> None:
    session.work.cancel(int(form["number"]) if form.get("number", "").isdigit() else -1)


def _again(session: PageSession, form: dict[str, str]) -> None:
    session.work.again(int(form["number"]) if form.get("number", "").isdigit() else -1)


def _work_route(session: PageSession) -> Callable[[Request], Response]:
    def work(request: Request) -> Response:
        return as_json({"work": [task.as_dict() for task in session.work.active]}, 200)

    return work


def _picture_route(session: PageSession, chart: Callable[..., Any]) -> Callable[[Request], Response]:
    def draw(request: Request) -> Response:
        try:
            picture = chart(session, request.query_params)
        except (NotReady, ShoalError):
            return Response(status_code=404)
        text = pictures.svg(picture, dark="dark" in request.query_params)
        return Response(text, media_type="image/svg+xml")

    return draw


def _file_route(session: PageSession, make: Callable[..., tuple[str, bytes]]) -> Callable[[Request], Response]:
    """A file that the person saves through the browser."""

    def send(request: Request) -> Response:
        try:
            name, content = make(session, request.query_params)
        except (NotReady, ShoalError) as error:
            text = error.task.what if isinstance(error, NotReady) else str(error)
            return Response(text, 409, media_type="text/plain; charset=utf-8")
        disposition = f"attachment; filename*=utf-8''{quote(name, safe='')}"
        return Response(content, media_type="application/octet-stream", headers={"Content-Disposition": disposition})

    return send


def _upload_route(
    session: PageSession, take: Callable[[PageSession, str, IO[bytes]], None], back: str
) -> Callable[[Request], Any]:
    """What takes a file that the person brings, and then shows a screen again."""

    async def upload(request: Request) -> Response:
        try:
            uploads.check_length(request.headers.get("content-length"))
            async with request.form(max_files=1, max_fields=10) as form:
                file = form.get("table")
                if isinstance(file, UploadFile) and file.filename:
                    await run_in_threadpool(take, session, file.filename, file.file)
                else:
                    session.notice = ("error.no_file", {})
        except ShoalError as error:
            session.notice = ("error.plain", {"error": str(error)})
        except OSError as error:
            session.notice = ("error.disk", {"reason": error.strerror or type(error).__name__})
        return RedirectResponse(back, 303)

    return upload


def _sign_in_route(gate: Gate) -> Callable[[Request], Any]:
    async def sign_in(request: Request) -> Response:
        words = Words(preferred(request.headers.get("accept-language", "")))
        if gate.password is None:
            return RedirectResponse("/", 303)
        if request.method != "POST":
            return message(words, "password", 200)
        async with request.form(max_files=0, max_fields=5) as form:
            password = str(form.get("password", ""))
        cookie = await run_in_threadpool(gate.cookie_for_password, password)
        if cookie is None:
            return message(words, "password_wrong", 403)
        return gate.with_cookie(RedirectResponse("/", 303), cookie)

    return sign_in


def _asset(request: Request) -> Response:
    name = PurePath(request.path_params["name"])
    place = files("shoal.web").joinpath("assets", name.name)
    if name.suffix not in TYPES or not place.is_file():
        return Response(status_code=404)
    return Response(place.read_bytes(), media_type=TYPES[name.suffix], headers={"Cache-Control": "max-age=3600"})


def _refusal(scope: Scope, why: str, status: int) -> Response:
    """The answer to a request that is refused, in words; nothing of the request is in it."""
    kind, _, name = why.partition(":")
    if wants_json(scope):
        return as_json({"error": kind}, status)
    return message(Words(preferred(Request(scope).headers.get("accept-language", ""))), kind, status, name=name)


def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _refusal(request.scope, "missing", status)


def _unexpected(request: Request, error: Exception) -> Response:
    """The answer to what nobody expected: its kind, not its text, which may hold values."""
    return _refusal(request.scope, f"internal:{type(error).__name__}", 500)
