"""Pages from facts: templates that escape everything, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from shoal.core.formatting import printable
from shoal.web.candidates import title
from shoal.web.messages import Words, languages, preferred
from shoal.web.safety import as_json, wants_json
from shoal.web.screens import NAMES
from shoal.web.session import PageSession

MAIN = "main"
"""The part of a page that a form changes."""
BESIDE = ("work", "steps")
"""Parts beside it that come along, since whatever a form changes can be undone and often begins work."""


@cache
def environment() -> Environment:
    templates = Environment(
        loader=PackageLoader("shoal.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    templates.filters["shown"] = printable
    templates.filters["shown_lines"] = lambda text: printable(text, keep="\n")
    templates.filters["titled"] = _titled
    templates.filters["method"] = _method
    templates.filters["english"] = _english
    templates.filters["figures"] = _figures
    templates.filters["part"] = _part
    templates.globals["screens"] = [(name, name.replace("-", "_")) for name in NAMES]
    templates.globals["languages"] = languages()
    return templates


def words_for(request: Request, session: PageSession) -> Words:
    """The words that the person chose, or that the browser asks for."""
    return Words(session.language or preferred(request.headers.get("accept-language", "")))


def page(request: Request, session: PageSession, name: str, facts: dict[str, Any], number: int) -> Response:
    """A screen as a page, or its facts as JSON; for a part of a page that asks, that part and nothing else.

    Parts are numbered in the order in which they were looked up, so that the page shows none that is older than what
    it shows already.
    """
    if wants_json(request.scope):
        return as_json({"screen": name, **facts}, 200)
    part = request.headers.get("hx-target", "") if "hx-request" in request.headers else None
    stale = session.changed or not session.readable
    if stale and part not in (None, *BESIDE):  # nothing of such a table is shown
        return Response(headers={"HX-Refresh": "true"})
    words, parts = words_for(request, session), dict[str, Markup]()
    notice = None
    if part in (None, MAIN):  # where it is shown
        notice, session.notice = session.notice, None
    text = environment().get_template(f"{name.replace('-', '_')}.html").render(
        say=words, screen=name, facts=facts, opened=session.readable, notice=notice,
        file=session.job.input.name if (session.readable or session.changed) and session.job.input is not None else "",
        changed=session.changed, decisions=len(session.decisions), work=_elsewhere(session, facts),
        can_undo=session.place > 0, can_redo=session.place < len(session.steps) - 1, part=part, parts=parts,
    )  # fmt: skip
    if part is None:
        return HTMLResponse(text)
    if part not in parts:  # what asked is no longer on this screen
        return Response(status_code=204)
    text = Markup().join(parts[each] for each in ((MAIN, *BESIDE) if part == MAIN else (part,)) if each in parts)
    return HTMLResponse(text, headers={"Shoal-Part": part, "Shoal-Number": str(number)})


@pass_context
def _part(context: Context, text: Markup, name: str) -> Markup:
    """Keeps a part of the page, which may be asked for on its own."""
    context["parts"][name] = text
    return text


@pass_context
def _method(context: Context, spec: str) -> str:
    """What an algorithm does, in the reader's words; empty of one that the table has no words for."""
    key = f"method.{spec.partition(':')[0]}"
    return context["say"](key) if title(spec) == spec and context["say"].has(key) else ""


@pass_context
def _titled(context: Context, spec: str) -> str:
    """A candidate in a sentence: what its algorithm does, and what it is called."""
    method = _method(context, spec)
    return f"{method} ({spec})" if method else title(spec)


def _english(text: str) -> Markup:
    """What the library says, marked as English, so that it is read out as such on a page of another language."""
    return Markup('<span lang="en">{}</span>').format(printable(text))


def _figures(value: Any, words: Words) -> str:
    """A figure of an analysis, or several of them by name."""
    if isinstance(value, Mapping):
        return "; ".join(f"{printable(str(name))}: {_figures(each, words)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return " – ".join(_figures(each, words) for each in value)
    return words.number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _elsewhere(session: PageSession, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The tasks under way that the screen itself does not show."""
    on_screen = {part["task"]["number"] for part in facts.values() if isinstance(part, dict) and "task" in part}
    return [task.as_dict() for task in session.work.active if task.number not in on_screen]


def message(words: Words, key: str, status: int, **values: Any) -> Response:
    """A page that only says something, such as why somebody may not get in."""
    text = environment().get_template("message.html").render(say=words, key=key, values=values)
    return HTMLResponse(text, status)
